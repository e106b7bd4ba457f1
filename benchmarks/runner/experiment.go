package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
)

// Experiment measures surrogate models by quantities of its own, which its suite names.
type Experiment struct {
	Name    string
	Folders []string // folders of the data that Load reads; nil if it needs none

	// Load reads the data in a directory, and returns a function that measures a method with
	// a seed. The function sets Measures, and may set Dim and Warnings.
	Load func(dir string) (Measurement, error)
}

// Measurement measures a method with a seed, and writes the results to a record. Several
// goroutines may call it.
type Measurement func(ctx context.Context, m Method, seed uint64, rec *Record) error

// Quantity is a number that an Experiment measures.
type Quantity struct {
	Name   string // key of Record.Measures
	Title  string
	Digits int  // decimals in tables
	Lower  bool // lower is better
}

// experiment performs a run of an Experiment. A panic becomes an error.
func (r Run) experiment(ctx context.Context, rec *Record) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	rec.Measures = map[string]float64{}
	err = r.Measure(ctx, r.Method, r.Seed, rec)
	for name, v := range rec.Measures {
		rec.Measures[name] = sixDigits(v)
	}
	return err
}

// experiments lists the runs of a suite of experiments.
func (s Suite) experiments(sel Selection) ([]Run, error) {
	var names []string
	for _, x := range s.Experiments {
		names = append(names, x.Name)
	}
	methods, err := s.selected(sel, names)
	if err != nil {
		return nil, err
	}
	selected := slices.DeleteFunc(slices.Clone(s.Experiments), func(x Experiment) bool {
		return sel.Problems != nil && !slices.Contains(sel.Problems, x.Name)
	})
	seeds, err := s.repetitions(sel, len(selected), methods)
	if err != nil {
		return nil, err
	}
	var chosen []Run
	for _, x := range selected {
		measure, err := x.Load(sel.Data)
		if err != nil {
			return nil, err
		}
		for _, m := range methods {
			if m.design() {
				return nil, fmt.Errorf("%w: %s makes no predictions, which %s needs", ErrPlan, m.Name, x.Name)
			}
			chosen = append(chosen, Run{Suite: s.Name, Experiment: x.Name, Measure: measure, Method: m})
		}
	}
	var runs []Run
	for seed := range seeds {
		for _, r := range chosen {
			r.Seed = uint64(seed + 1)
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// fold is a fold of a table. Inputs and targets have mean 0 and standard deviation 1 over
// the training rows.
type fold struct {
	train  surrogate.Dataset
	test   *mat.Dense
	inputs surrogate.InputMap
}

// fold returns the fold of a seed, 1 to 5. The test rows are a fifth of the rows, drawn at
// random. Further seeds draw further partitions.
func (t *Table) fold(seed uint64) (fold, error) {
	train, test := foldRows(t.Name, len(t.Y), seed)
	x, y := t.rows(train)
	inputs, err := surrogate.NewInputMap(surrogate.ZScore, x, nil, nil)
	if err != nil {
		return fold{}, err
	}
	return fold{
		train:  surrogate.Dataset{X: inputs.Apply(x), Y: surrogate.Standardize(y).Apply(nil, y)},
		test:   inputs.Apply(subset.Take(t.X, test)),
		inputs: inputs,
	}, nil
}

// tableOf reads data.csv of a folder, without splits.
func tableOf(dir, folder string) (*Table, error) {
	x, err := readRows(filepath.Join(dir, folder, "data.csv"))
	if err != nil {
		return nil, err
	}
	n, width := x.Dims()
	return &Table{Name: folder, X: mat.DenseCopyOf(x.Slice(0, n, 0, width-1)), Y: mat.Col(nil, width-1, x)}, nil
}
