package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
)

// results holds the records of a suite in order.
type results struct {
	problems, methods []string
	class             map[string]string            // of problems in classes, by name
	runs              map[runner.Key]runner.Record // complete runs
	seeds             []uint64
	reward            bool // the suite's paper maximises
}

func collect(records []runner.Record) (*results, error) {
	a := &results{class: map[string]string{}, runs: map[runner.Key]runner.Record{}}
	first := map[string]runner.Record{}
	for _, r := range records {
		was, ok := first[r.Problem]
		if !ok {
			first[r.Problem] = r
			a.problems = append(a.problems, r.Problem)
		} else if was.Budget != r.Budget || was.Initial != r.Initial || was.Batch != r.Batch || (was.Minimum == nil) != (r.Minimum == nil) {
			return nil, fmt.Errorf("%w: records of %s differ in budget, initial points, batch or minimum", ErrReport, r.Problem)
		}
		if !slices.Contains(a.methods, r.Method) {
			a.methods = append(a.methods, r.Method)
		}
		if !slices.Contains(a.seeds, r.Seed) {
			a.seeds = append(a.seeds, r.Seed)
		}
		if fault(r) == "" {
			a.runs[r.Key()] = r
		}
	}
	slices.Sort(a.seeds)
	// The order of the suite, then by name.
	var problems, methods []string
	if s, err := runner.Lookup(records[0].Suite); err == nil {
		for _, p := range s.Problems {
			problems = append(problems, p.Name())
			a.class[p.Name()] = p.Class
		}
		methods = s.Methods
		a.reward = s.Maximised
	}
	arrange(a.problems, problems)
	arrange(a.methods, methods)
	return a, nil
}

func arrange(names, order []string) {
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

// of returns the finished runs of a method on a problem by seed.
func (a *results) of(problem, method string) []runner.Record {
	var runs []runner.Record
	for _, seed := range a.seeds {
		if r, ok := a.runs[runner.Key{Problem: problem, Method: method, Seed: seed}]; ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// contests returns the problems on which methods are compared. If the design takes
// more than three quarters of the budget, only times are reported.
func (a *results) contests() []string {
	return slices.DeleteFunc(slices.Clone(a.problems), func(problem string) bool {
		for _, method := range a.methods {
			if runs := a.of(problem, method); len(runs) > 0 {
				return timesOnly(runs[0].Initial, runs[0].Budget)
			}
		}
		return true
	})
}

func timesOnly(initial, budget int) bool { return 4*initial > 3*budget }

// measure returns regret or lowest value after each evaluation.
func measure(r runner.Record) []float64 {
	if r.Minimum == nil {
		return r.Best()
	}
	return r.Regret
}

// score returns the measure after evaluation i on the scale of comparisons.
func score(r runner.Record, i int) float64 {
	if r.Minimum == nil {
		return r.Best()[i]
	}
	return log10(r.Regret[i])
}

// hasValue reports whether a measure comes from a value. Without one it is +Inf in the memory of a run, and NaN from
// a file.
func hasValue(measure float64) bool { return !math.IsNaN(measure) && !math.IsInf(measure, 0) }

func log10(regret float64) float64 {
	if !hasValue(regret) {
		return math.Inf(1)
	}
	return math.Log10(max(regret, Floor))
}

// fault returns the reason why a record cannot be compared, empty if it can.
func fault(r runner.Record) string {
	switch {
	case r.Error != "":
		return r.Error
	case len(r.Values) < r.Budget || r.Budget < 1:
		return fmt.Sprintf("%d of %d evaluations", len(r.Values), r.Budget)
	case r.Minimum != nil && len(r.Regret) != len(r.Values):
		return fmt.Sprintf("%d values of regret for %d evaluations", len(r.Regret), len(r.Values))
	}
	first := checkpoints(r.Budget)[0]
	if v := measure(r)[first-1]; !hasValue(v) {
		return fmt.Sprintf("no value in the first %d evaluations", first)
	}
	return ""
}

func failures(records []runner.Record) []Failure {
	var list []Failure
	for _, r := range records {
		if why := fault(r); why != "" {
			list = append(list, Failure{r.Problem, r.Method, r.Seed, why})
		}
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Seed, b.Seed))
	})
	return list
}
