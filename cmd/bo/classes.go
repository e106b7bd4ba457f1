package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/score"
	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// The values of --likelihood.
const (
	gaussian  = "gaussian"
	bernoulli = "bernoulli"
)

// maxClasses bounds the number of labels of a target: a target with more is probably a
// number.
const maxClasses = 100

// classified is a posterior fitted to labels.
type classified struct {
	posterior surrogate.ClassPosterior
	inputs    *mat.Dense // scaled rows to predict at
	names     []string   // names of the classes
	trained   int        // rows
	seconds   float64
}

// fitClasses fits the training table, whose target holds labels. Read reads the
// other table, given the names of the classes.
func (m modelFlags) fitClasses(e *env, other string, read func(t *training, names []string) (*mat.Dense, error)) (*classified, error) {
	if m.NoiseFree || m.Outputs != "zscore" {
		return nil, usagef("--likelihood %s is for labels, --noise-free and --outputs are for numbers", m.Likelihood)
	}
	t, err := m.open(e, other)
	if err != nil {
		return nil, err
	}
	classifier, err := t.method.Classifier()
	if err != nil {
		return nil, usageError{err}
	}
	names, err := columnClasses(t.table, t.target)
	if err != nil {
		return nil, err
	}
	if m.Likelihood == bernoulli && len(names) != 2 {
		return nil, fmt.Errorf("%s: column %q has %d labels, --likelihood bernoulli takes 2", t.table.Name, t.target, len(names))
	}
	points, err := read(t, names)
	if err != nil {
		return nil, err
	}
	labels := surrogate.Labels{Classes: len(names)}
	if labels.Y, err = columnLabels(t.table, t.target, names); err != nil {
		return nil, err
	}
	c := &classified{names: names, trained: len(labels.Y)}
	if labels.X, c.inputs, labels.Lo, labels.Hi, err = m.scale(t, points); err != nil {
		return nil, err
	}
	c.seconds, err = timed(e, c.trained, func(ctx context.Context) error {
		c.posterior, err = classifier.FitLabels(ctx, labels, random.New(m.Seed, "fit", 0))
		return err
	})
	if errors.Is(err, prior.ErrSpec) {
		err = usageError{err}
	}
	if err != nil {
		return nil, err
	}
	warn(e, c.posterior.Warnings())
	return c, nil
}

// probabilities returns the class probabilities at scaled inputs, one row for each input.
func probabilities(p surrogate.ClassPosterior, inputs *mat.Dense) *mat.Dense {
	n, d := inputs.Dims()
	prob := mat.NewDense(n, p.Classes(), nil)
	for i := 0; i < n; i += predictAtOnce {
		j := min(n, i+predictAtOnce)
		p.Predict(prob.Slice(i, j, 0, p.Classes()).(*mat.Dense), inputs.Slice(i, j, 0, d).(*mat.Dense))
	}
	return prob
}

func (c predictCmd) classes(e *env) error {
	if c.Samples > 0 || c.Cov != "" {
		return usagef("--samples and --cov are for numbers, not for --likelihood %s", c.Likelihood)
	}
	var y []int // labels at the points, for a picture
	var target string
	var dialect table.Dialect
	f, err := c.fitClasses(e, c.At, func(t *training, names []string) (*mat.Dense, error) {
		at, err := openTable(c.At, e.stdin)
		if err != nil {
			return nil, err
		}
		if target = t.target; c.Plot != "" {
			if !slices.Contains(at.Header, target) {
				return nil, usagef("--plot compares predicted labels with known ones: %s has no column %q", at.Name, target)
			}
			if y, err = columnLabels(at, target, names); err != nil {
				return nil, err
			}
		}
		dialect = at.Dialect
		return at.Numbers(t.features...)
	})
	if err != nil {
		return err
	}
	prob := probabilities(f.posterior, f.inputs)
	if c.Plot != "" {
		if err := c.labelled(e, c.At, target, y, f.names, prob); err != nil {
			return err
		}
	}
	return table.Write(e.stdout, dialect, func(w *csv.Writer) error {
		record := make([]string, len(f.names)+1)
		for k, name := range f.names {
			record[k] = "p_" + name
		}
		record[len(f.names)] = "label"
		if err := w.Write(record); err != nil {
			return err
		}
		n, _ := prob.Dims()
		for i := range n {
			row := prob.RawRowView(i)
			for k, p := range row {
				record[k] = dialect.Number(p)
			}
			record[len(f.names)] = f.names[score.MostProbable(row)]
			if err := w.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
}

// classScore holds the scores of probabilities of labels.
type classScore struct {
	Surrogate      string  `json:"surrogate"`
	Train          int     `json:"train"`
	Test           int     `json:"test"`
	Classes        int     `json:"classes"`
	Accuracy       float64 `json:"accuracy"`
	LogProbability float64 `json:"log_probability"`
	Brier          float64 `json:"brier"`
	ECE            float64 `json:"ece"`
	Seconds        float64 `json:"seconds"`
}

func (c scoreCmd) classes(e *env) error {
	var y []int
	var target string
	f, err := c.fitClasses(e, c.Test, func(t *training, names []string) (*mat.Dense, error) {
		test, err := openTable(c.Test, e.stdin)
		if err != nil {
			return nil, err
		}
		target = t.target
		if y, err = columnLabels(test, target, names); err != nil {
			return nil, err
		}
		return test.Numbers(t.features...)
	})
	if err != nil {
		return err
	}
	started := time.Now()
	prob := probabilities(f.posterior, f.inputs)
	if c.Plot != "" {
		if err := c.labelled(e, c.Test, target, y, f.names, prob); err != nil {
			return err
		}
	}
	l := score.Classes(y, prob)
	s := classScore{
		Surrogate: c.Surrogate, Train: f.trained, Test: len(y), Classes: len(f.names),
		Accuracy: l.Accuracy, LogProbability: l.LogProbability, Brier: l.Brier, ECE: l.ECE,
		Seconds: f.seconds + time.Since(started).Seconds(),
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(s)
	}
	_, err = fmt.Fprintf(e.stdout, `rows       %d to train, %d to test, %d classes
accuracy   %.1f %%
logp       %.6g
brier      %.6g
ece        %.6g
seconds    %.3g
`, s.Train, s.Test, s.Classes, 100*s.Accuracy, s.LogProbability, s.Brier, s.ECE, s.Seconds)
	return err
}

// columnClasses returns the distinct labels of a column, sorted: numbers by value,
// text alphabetically.
func columnClasses(t *table.Table, name string) ([]string, error) {
	j, err := t.Column(name)
	if err != nil {
		return nil, err
	}
	var names []string
	numeric := true
	seen := map[string]bool{}
	for i := range t.Rows {
		cell := t.Decimal(i, j)
		if cell == "" {
			return nil, fmt.Errorf("%s: the cell is empty", t.Cell(i, j))
		}
		if !seen[cell] {
			seen[cell] = true
			names = append(names, cell)
			_, err := strconv.ParseFloat(cell, 64)
			numeric = numeric && err == nil
		}
	}
	switch {
	case len(names) < 2:
		return nil, fmt.Errorf("%s: column %q has the one label %s, want two or more", t.Name, name, table.Quote(names[0]))
	case len(names) > maxClasses:
		return nil, fmt.Errorf("%s: column %q has %d labels, want at most %d: numbers are predicted with --likelihood gaussian", t.Name, name, len(names), maxClasses)
	}
	slices.Sort(names)
	if numeric {
		slices.SortStableFunc(names, func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return names, nil
}

// columnLabels returns the labels of a column as indices in names.
func columnLabels(t *table.Table, name string, names []string) ([]int, error) {
	j, err := t.Column(name)
	if err != nil {
		return nil, err
	}
	y := make([]int, len(t.Rows))
	for i := range t.Rows {
		if y[i] = slices.Index(names, t.Decimal(i, j)); y[i] < 0 {
			return nil, fmt.Errorf("%s: %s is not a label of the training table", t.Cell(i, j), table.Quote(t.Rows[i][j]))
		}
	}
	return y, nil
}
