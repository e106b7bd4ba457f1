package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrUnknown reports an unknown name of a suite, a problem or a method.
var ErrUnknown = catalog.ErrUnknown

// Suite is a set of problems, datasets or experiments with methods and seeds.
type Suite struct {
	Name, Summary string
	Problems      []Problem
	Datasets      []Dataset    // instead of Problems
	Experiments   []Experiment // instead of Problems
	Quantities    []Quantity   // that the experiments measure
	Methods       []string     // in the syntax of ParseMethod, or aliases
	Aliases       []Alias      // further methods that a Selection may name
	Choices       []Choice     // a report has one setting of each, chosen for each dataset
	Seeds         int          // runs of each method on each problem; a Dataset that is read has its own
	Maximised     bool         // the paper of the suite maximises the negative objectives
	Claims        []Claim      // statements that a report of the suite tests
	// Baseline is the method with which a report of datasets compares the others in each class;
	// "" makes no such comparison. Controls are further methods that are compared with it; the
	// best of them is compared with the remaining methods.
	Baseline string
	Controls []string
	// Own holds methods written in Go, by the names under which Methods and a Selection list them. A nil Acquisition
	// is acquisition.Auto. The Prior of a problem has no effect on them. A Record has the name and not the settings: a
	// changed method needs another name.
	Own map[string]catalog.Method
}

// Problem is an objective with a budget.
type Problem struct {
	// Objective is a name for benchmarks.Lookup. Make, if not nil, returns the objective
	// of a seed instead, under the name Objective unless that is empty. Make may be
	// called several times.
	Objective string
	Make      func(seed uint64) benchmarks.Objective
	// Noise is the standard deviation of noise added to each value. The noise depends on
	// seed, point and number of evaluations at the point, not on the method.
	Noise float64
	// HideNoiseFree makes methods treat a noise-free objective as noisy.
	HideNoiseFree bool
	// Prior has settings key=value for methods with a kernel; a method's own settings
	// override them. It is a prior on the raw values, so the log transform is off.
	Prior []string

	Class string // property by which a report groups problems; may be empty

	Budget  int // evaluations in all
	Initial int // size of the initial design; 0 is the default of loop.Options
	Batch   int // points chosen together; 0 is 1
}

const splits20 = "splits20_test_rows.csv"

// suites lists all suites; a new suite is a new entry.
var suites = slices.Concat([]Suite{
	{
		Name:    "smoke",
		Summary: "a few evaluations of each kind, as a quick check",
		Problems: []Problem{
			{Objective: "branin", Budget: 10, Initial: 4},
			{Objective: "ackley3", Noise: 0.1, Budget: 12, Initial: 6, Batch: 3},
			{Make: func(uint64) benchmarks.Objective { return benchmarks.Embedded(benchmarks.SixHumpCamel(), 3, 1) }, Budget: 9, Initial: 5},
		},
		Methods: []string{"gp:maximizer.raw=64;maximizer.starts=2", "random", "sobol"},
		Seeds:   3,
	},
	{
		Name:    "spine",
		Summary: "the defaults on five noise-free functions of 2 to 6 inputs",
		Problems: []Problem{
			{Objective: "branin", Budget: 40},
			{Objective: "hartmann6", Budget: 80},
			{Objective: "ackley4", Budget: 60},
			{Objective: "levy4", Budget: 60},
			{Objective: "rosenbrock4", Budget: 60},
		},
		Methods: []string{"gp", "fsp-laplace", "sobol"},
		Seeds:   10,
	},
	{
		Name:     "uci",
		Summary:  "regression on nine tables of the UCI repository; needs --data",
		Datasets: uciTables(),
		Methods:  []string{"gfsvi", "fsp-laplace", "laplace", "mfvi", "svgp"},
	},
	{
		Name:     "uci-validation",
		Summary:  "the tables of uci without the test rows of the first split, to choose settings; needs --data",
		Datasets: validationTables(),
		Methods:  []string{"gfsvi", "fsp-laplace", "laplace", "mfvi", "svgp"},
	},
	{
		Name:    "surrogates",
		Summary: "every surrogate by its defaults, 40 evaluations after 10",
		Problems: []Problem{
			{Objective: "branin", Budget: 50, Initial: 10},
			{Objective: "hartmann6", Budget: 50, Initial: 10},
		},
		Methods: append(catalog.Names(catalog.Surrogates()), "sobol"),
		Seeds:   10,
	},
	peersCore(), peersTime(),
	outcomesSuite(), conditionalSuite(), fspLaplaceFigure3(), fspLaplaceCrossed(), fbnnOptimization(),
	maunaLoaSuite(), oceanSuite(),
	uciFolds(), distanceSuite(), wheelSuite(), digitsSuite(),
	networksDensity(), networksLarge(), networksRegret(), networksBatches(),
}, detectionSuites(), familySuites())

func uciTables() []Dataset {
	return []Dataset{
		{Name: "yacht", Splits: splits20},
		{Name: "boston", Splits: splits20},
		{Name: "energy", Splits: splits20},
		{Name: "concrete", Splits: splits20},
		{Name: "wine_red", Splits: splits20},
		{Name: "kin8nm", Splits: splits20, Seeds: 5},
		{Name: "power", Splits: splits20, Seeds: 5},
		{Name: "naval", Splits: splits20, Seeds: 5},
		{Name: "protein", Splits: "splits5_test_rows.csv"},
	}
}

// validationTables holds the datasets of uciTables with one split of the training rows by default.
func validationTables() []Dataset {
	list := uciTables()
	for i := range list {
		list[i].Seeds, list[i].Validation = 1, true
	}
	return list
}

// Suites returns all suites.
func Suites() []Suite { return append([]Suite(nil), suites...) }

// Lookup returns a suite by name; the problems are a copy. The error wraps ErrUnknown and suggests a near
// name.
func Lookup(name string) (Suite, error) {
	names := make([]string, len(suites))
	for i, s := range suites {
		if s.Name == name {
			s.Problems = slices.Clone(s.Problems)
			return s, nil
		}
		names[i] = s.Name
	}
	return Suite{}, fmt.Errorf("%w suite %q%s", ErrUnknown, name, didyoumean.Hint(name, names))
}

// Folders returns the folders of the data that are read, each once.
func (s Suite) Folders() []string {
	var names []string
	for _, x := range s.Experiments {
		for _, folder := range x.Folders {
			if !slices.Contains(names, folder) {
				names = append(names, folder)
			}
		}
	}
	for _, d := range s.Datasets {
		if d.Draw == nil && !slices.Contains(names, d.folder()) {
			names = append(names, d.folder())
		}
	}
	return names
}

// Name returns the name of the objective, with the prefix noisy- if noise is added.
func (p Problem) Name() string {
	name := p.Objective
	if name == "" {
		name = p.Make(0).Name
	}
	if p.Noise > 0 {
		name = "noisy-" + name
	}
	return name
}

// objective returns the objective of a seed, with the added noise.
func (p Problem) objective(seed uint64) benchmarks.Objective {
	var o benchmarks.Objective
	if p.Make != nil {
		o = p.Make(seed)
		o.Name = cmp.Or(p.Objective, o.Name)
	} else {
		var err error
		if o, err = benchmarks.Lookup(p.Objective); err != nil {
			panic("runner: " + err.Error())
		}
	}
	if p.Noise > 0 {
		o = benchmarks.Noisy(o, p.Noise, seed)
	}
	return o
}
