package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// The values of --likelihood.
const (
	gaussian  = "gaussian"
	bernoulli = "bernoulli"
)

// maxClasses bounds the labels of a target: more are rather a number to predict.
const maxClasses = 100

// classified is what was fitted to labels.
type classified struct {
	posterior surrogate.ClassPosterior
	inputs    *mat.Dense // scaled rows to predict at
	names     []string   // of the classes
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
	names, err := t.table.classes(t.target)
	if err != nil {
		return nil, err
	}
	if m.Likelihood == bernoulli && len(names) != 2 {
		return nil, fmt.Errorf("%s: column %q has %d labels, --likelihood bernoulli takes 2", t.table.name, t.target, len(names))
	}
	points, err := read(t, names)
	if err != nil {
		return nil, err
	}
	labels := surrogate.Labels{Classes: len(names)}
	if labels.Y, err = t.table.labels(t.target, names); err != nil {
		return nil, err
	}
	c := &classified{names: names, trained: len(labels.Y)}
	labels.X, c.inputs, labels.Lo, labels.Hi = m.scale(t, points)
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

// probabilities returns those of the classes at the inputs, a row each.
func (c *classified) probabilities() *mat.Dense {
	n, d := c.inputs.Dims()
	prob := mat.NewDense(n, len(c.names), nil)
	for i := 0; i < n; i += predictAtOnce {
		j := min(n, i+predictAtOnce)
		c.posterior.Predict(prob.Slice(i, j, 0, len(c.names)).(*mat.Dense), c.inputs.Slice(i, j, 0, d).(*mat.Dense))
	}
	return prob
}

// likeliest returns the place of the largest probability, the first of equal ones.
func likeliest(prob []float64) int {
	best := 0
	for k, p := range prob {
		if p > prob[best] {
			best = k
		}
	}
	return best
}

func (c predictCmd) classes(e *env) error {
	if c.Samples > 0 || c.Cov != "" {
		return usagef("--samples and --cov are for numbers, not for --likelihood %s", c.Likelihood)
	}
	f, err := c.fitClasses(e, c.At, func(t *training, _ []string) (*mat.Dense, error) {
		at, err := openTable(c.At, e.stdin)
		if err != nil {
			return nil, err
		}
		return at.numbers(t.features)
	})
	if err != nil {
		return err
	}
	w := csv.NewWriter(e.stdout)
	record := make([]string, len(f.names)+1)
	for k, name := range f.names {
		record[k] = "p_" + name
	}
	record[len(f.names)] = "label"
	_ = w.Write(record) // errors stay with w
	prob := f.probabilities()
	n, _ := prob.Dims()
	for i := range n {
		row := prob.RawRowView(i)
		for k, p := range row {
			record[k] = number(p)
		}
		record[len(f.names)] = f.names[likeliest(row)]
		_ = w.Write(record)
	}
	w.Flush()
	return w.Error()
}

// A classScore judges probabilities of labels.
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
	f, err := c.fitClasses(e, c.Test, func(t *training, names []string) (*mat.Dense, error) {
		test, err := openTable(c.Test, e.stdin)
		if err != nil {
			return nil, err
		}
		if y, err = test.labels(t.target, names); err != nil {
			return nil, err
		}
		return test.numbers(t.features)
	})
	if err != nil {
		return err
	}
	started := time.Now()
	s := judgeClasses(y, f.probabilities())
	s.Surrogate, s.Train, s.Seconds = c.Surrogate, f.trained, f.seconds+time.Since(started).Seconds()
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

// confidenceBins is the number of bins of the expected calibration error (Guo et
// al. 2017, eq. 3).
const confidenceBins = 15

// judgeClasses compares labels with probabilities, a row for each.
func judgeClasses(y []int, prob *mat.Dense) classScore {
	_, classes := prob.Dims()
	s := classScore{Test: len(y), Classes: classes}
	n := float64(len(y))
	right := 0
	var gap [confidenceBins]float64 // Σ of correctness - confidence
	for i, label := range y {
		row := prob.RawRowView(i)
		s.LogProbability += math.Log(max(row[label], math.SmallestNonzeroFloat64)) / n
		for k, p := range row {
			e := p
			if k == label {
				e = 1 - p
			}
			s.Brier += e * e / n
		}
		best := likeliest(row)
		bin := min(int(confidenceBins*row[best]), confidenceBins-1)
		gap[bin] -= row[best]
		if best == label {
			right++
			gap[bin]++
		}
	}
	s.Accuracy = float64(right) / n
	for _, g := range gap {
		s.ECE += math.Abs(g) / n
	}
	return s
}

// classes returns the labels in a column: numbers by size, else by the alphabet.
func (t *table) classes(name string) ([]string, error) {
	j, err := t.column(name)
	if err != nil {
		return nil, err
	}
	var names []string
	numeric := true
	seen := map[string]bool{}
	for i, row := range t.rows {
		cell := row[j]
		if cell == "" {
			return nil, fmt.Errorf("%s: row %d (line %d), column %q: the cell is empty", t.name, i+1, t.lines[i], name)
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
		return nil, fmt.Errorf("%s: column %q has the one label %s, want two or more", t.name, name, brief(names[0]))
	case len(names) > maxClasses:
		return nil, fmt.Errorf("%s: column %q has %d labels, want at most %d: numbers are predicted with --likelihood gaussian", t.name, name, len(names), maxClasses)
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

// labels reads a column as places in names.
func (t *table) labels(name string, names []string) ([]int, error) {
	j, err := t.column(name)
	if err != nil {
		return nil, err
	}
	y := make([]int, len(t.rows))
	for i, row := range t.rows {
		if y[i] = slices.Index(names, row[j]); y[i] < 0 {
			return nil, fmt.Errorf("%s: row %d (line %d), column %q: %s is not among the labels of the training table", t.name, i+1, t.lines[i], name, brief(row[j]))
		}
	}
	return y, nil
}
