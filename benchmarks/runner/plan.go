package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
)

// ErrPlan reports a selection that has no valid runs.
var ErrPlan = errors.New("bad plan")

// Run is an entry of a plan: a method on a problem with a seed, or on a split of a
// table, which the seed numbers.
type Run struct {
	Suite   string
	Problem Problem // Initial and Batch are not 0
	Table   *Table  // instead of a Problem
	Method  Method
	Seed    uint64

	Experiment string // name, instead of a Problem
	Measure    Measurement
}

// Key identifies a run of a suite.
type Key struct {
	Problem, Method string
	Seed            uint64
}

// Key returns the key of the run.
func (r Run) Key() Key { return Key{r.name(), r.Method.Name, r.Seed} }

func (r Run) name() string {
	switch {
	case r.Table != nil:
		return r.Table.Name
	case r.Measure != nil:
		return r.Experiment
	}
	return r.Problem.Name()
}

// Selection narrows or extends a suite. The zero value selects the suite unchanged.
type Selection struct {
	Problems []string // names; nil takes all
	Methods  []string // aliases of the suite, or in the syntax of ParseMethod; nil takes the suite's
	Seeds    int      // seeds 1 to Seeds, or as many splits as a dataset has; 0 takes the suite's number
	Data     string   // directory of the folders of a suite with data
}

// Plan lists the runs of a selection, seed by seed, so that an interrupted plan still
// compares all methods on all problems. Within a seed, problems have the order of the
// suite, and methods the order of the selection. The errors wrap ErrUnknown, ErrPlan,
// ErrData or the errors of ParseMethod.
func (s Suite) Plan(sel Selection) ([]Run, error) {
	if len(s.Datasets) > 0 {
		return s.tables(sel)
	}
	if len(s.Experiments) > 0 {
		return s.experiments(sel)
	}
	problems, err := s.problems(sel.Problems)
	if err != nil {
		return nil, err
	}
	methods, err := s.methods(sel.Methods)
	if err != nil {
		return nil, err
	}
	onEach := make([][]Method, len(problems))
	for i, p := range problems {
		o := p.objective(0)
		for _, m := range methods {
			if m, err = s.method(m.Name, p.Name()); err == nil {
				err = m.check(o.Space.Dim(), p.Prior...)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrPlan, p.Name(), err)
			}
			onEach[i] = append(onEach[i], m)
		}
	}
	seeds, err := s.repetitions(sel, len(problems), methods)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for seed := range seeds {
		for i, p := range problems {
			for _, m := range onEach[i] {
				runs = append(runs, Run{Suite: s.Name, Problem: p, Method: m, Seed: uint64(seed + 1)})
			}
		}
	}
	return runs, nil
}

// known rejects names of problems that are not among the valid ones.
func (s Suite) known(names, valid []string) error {
	for _, name := range names {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("%w problem %q of the suite %s%s", ErrUnknown, name, s.Name, didyoumean.Hint(name, valid))
		}
	}
	return nil
}

// selected returns the selected methods of a suite of datasets or experiments with these names. It
// rejects other names, and a selection without the data of the suite.
func (s Suite) selected(sel Selection, names []string) ([]Method, error) {
	if err := s.known(sel.Problems, names); err != nil {
		return nil, err
	}
	methods, err := s.methods(sel.Methods)
	if err != nil {
		return nil, err
	}
	if folders := s.Folders(); sel.Data == "" && len(folders) > 0 {
		return nil, fmt.Errorf("%w: the suite %s needs data in the folders %s", ErrPlan, s.Name, strings.Join(folders, ", "))
	}
	return methods, nil
}

// maxRuns is the largest number of runs of a plan, which holds about 300 bytes for each.
const maxRuns = 250_000

// repetitions returns the number of seeds of a selection of problems or experiments. It rejects 0 seeds, 0 methods
// and more than maxRuns runs.
func (s Suite) repetitions(sel Selection, problems int, methods []Method) (int, error) {
	seeds := cmp.Or(sel.Seeds, s.Seeds)
	if seeds < 1 || len(methods) == 0 {
		return 0, fmt.Errorf("%w: %d seeds of %d methods, want at least one of each", ErrPlan, seeds, len(methods))
	}
	if each := problems * len(methods); each > 0 && seeds > maxRuns/each {
		return 0, fmt.Errorf("%w: %d seeds of %s and %s, want at most %d runs", ErrPlan, seeds, document.Count(problems, "problem"), document.Count(len(methods), "method"), maxRuns)
	}
	return seeds, nil
}

// tables lists the runs of a suite of datasets.
func (s Suite) tables(sel Selection) ([]Run, error) {
	var names []string
	for _, d := range s.Datasets {
		names = append(names, d.Name)
	}
	methods, err := s.selected(sel, names)
	if err != nil {
		return nil, err
	}
	var tables []chosen
	most := 0
	for _, d := range s.Datasets {
		if sel.Problems != nil && !slices.Contains(sel.Problems, d.Name) {
			continue
		}
		c, err := d.choose(sel, s.Seeds, methods)
		if err != nil {
			return nil, err
		}
		tables = append(tables, c)
		most = max(most, c.seeds)
	}
	var runs []Run
	for seed := range most {
		for _, c := range tables {
			if seed >= c.seeds {
				continue
			}
			t := c.table(uint64(seed + 1))
			for _, m := range c.methods {
				runs = append(runs, Run{Suite: s.Name, Table: t, Method: m, Seed: uint64(seed + 1)})
			}
		}
	}
	if runs == nil {
		able := catalog.Names(catalog.Classifiers())
		return nil, fmt.Errorf("%w: the datasets have labels: choose a method of %s", ErrPlan, strings.Join(able, ", "))
	}
	return runs, nil
}

// chosen is a dataset of a plan.
type chosen struct {
	table   func(seed uint64) *Table
	seeds   int
	methods []Method
}

// choose reads a dataset and checks the methods; usual is the number of seeds of the suite. Methods that are no classifiers are left out
// for labels.
func (d Dataset) choose(sel Selection, usual int, methods []Method) (chosen, error) {
	c := chosen{d.drawn, repeats, nil}
	dim := d.Dim
	if d.Draw == nil {
		t, err := d.Load(sel.Data)
		if err != nil {
			return c, err
		}
		_, dim = t.X.Dims()
		c.table, c.seeds = func(uint64) *Table { return t }, len(t.Test)
	}
	for _, m := range methods {
		if m.design() {
			return c, fmt.Errorf("%w: %s makes no predictions, which the dataset %s needs", ErrPlan, m.Name, d.Name)
		}
		if err := m.check(dim, d.Prior...); err != nil {
			return c, fmt.Errorf("%w: %s: %w", ErrPlan, d.Name, err)
		}
		if !d.Labels || m.classifies() {
			c.methods = append(c.methods, m)
		}
	}
	c.seeds = min(cmp.Or(sel.Seeds, d.Seeds, usual, c.seeds), c.seeds)
	return c, nil
}

// methods returns the named methods, or the methods of the suite. It rejects
// duplicates.
func (s Suite) methods(names []string) ([]Method, error) {
	if names == nil {
		names = s.Methods
	}
	var methods []Method
	for _, name := range names {
		m, err := s.method(name, "")
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(methods, func(n Method) bool { return n.Name == m.Name }) {
			return nil, fmt.Errorf("%w: method %s is selected twice", ErrPlan, m.Name)
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// problems returns the named problems in the order of the suite, with defaults
// applied.
func (s Suite) problems(names []string) ([]Problem, error) {
	var all, chosen []Problem
	var valid []string
	for _, p := range s.Problems {
		o := p.objective(0)
		options := loop.Options{Initial: p.Initial, Batch: p.Batch}
		if o.Outcomes != nil {
			options.Objectives, _ = goals(o.Outcomes, false)
		}
		study, err := loop.New(o.Space, options)
		if err != nil {
			return nil, err
		}
		p.Initial, p.Batch = min(study.Options().Initial, p.Budget), max(1, p.Batch)
		all, valid = append(all, p), append(valid, o.Name)
	}
	if names == nil {
		return all, nil
	}
	if err := s.known(names, valid); err != nil {
		return nil, err
	}
	for i, p := range all {
		if slices.Contains(names, valid[i]) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}
