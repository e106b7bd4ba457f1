package main

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// treatment is the use of stopped trials in the fits of a loop.
type treatment string

const (
	inLoop   treatment = "loop" // as package loop does
	leftOut  treatment = "left out"
	last     treatment = "last value"    // as the value of a complete trial
	censored treatment = "censored"      // the last value, or the median of the complete values if that is worse
	middle   treatment = "median"        // the median of the complete values, as a complete trial
	fidelity treatment = "step as input" // the prediction at the last step of a Gaussian process on points and steps
)

var treatments = []treatment{inLoop, leftOut, last, censored, middle, fidelity}

// apply returns the trials with stopped trials as the treatment has them. Values are minimised.
func (t treatment) apply(ctx context.Context, trials []loop.Trial, seed uint64) ([]loop.Trial, error) {
	var complete []float64
	stopped := false
	for _, trial := range trials {
		if trial.State == loop.Complete {
			complete = append(complete, trial.Value)
		}
		stopped = stopped || trial.State == loop.Stopped
	}
	if t == inLoop || !stopped || len(complete) == 0 {
		return trials, nil
	}
	if t == leftOut {
		return slices.DeleteFunc(slices.Clone(trials), func(trial loop.Trial) bool { return trial.State == loop.Stopped }), nil
	}
	var full []float64
	if t == fidelity {
		var err error
		if full, err = predictions(ctx, trials, seed); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(trials)
	for i := range out {
		trial := &out[i]
		if trial.State != loop.Stopped {
			continue
		}
		trial.State = loop.Complete
		switch t {
		case censored:
			trial.Value = max(trial.Value, median(complete))
		case middle:
			trial.Value = median(complete)
		case fidelity:
			trial.Value = full[i]
		}
	}
	return out, nil
}

// predictions returns the posterior means at the last step of a full trial, at the points of all
// trials. The model is a Gaussian process of the logarithms of the values at the rungs 1, 3, 9
// and 27 and at the last steps. Its inputs are the point and log(step)/log(fullSteps).
func predictions(ctx context.Context, trials []loop.Trial, seed uint64) ([]float64, error) {
	var rows, y, full []float64
	dim := 0
	for _, trial := range trials {
		u := trial.Point.Space().Encode(trial.Point)
		dim = len(u) + 1
		full = append(append(full, u...), 1)
		for k, s := range trial.Steps {
			if k == len(trial.Steps)-1 || s.Step == 1 || s.Step == 3 || s.Step == 9 {
				rows = append(append(rows, u...), math.Log(s.Step)/math.Log(fullSteps))
				y = append(y, math.Log(s.Value))
			}
		}
	}
	scale := surrogate.Standardize(y)
	p, err := gp.Model{}.Fit(ctx, surrogate.Dataset{X: mat.NewDense(len(y), dim, rows), Y: scale.Apply(nil, y)}, random.New(seed, "fidelity", len(trials)))
	if err != nil {
		return nil, err
	}
	mean, variance := make([]float64, len(trials)), make([]float64, len(trials))
	p.Predict(mean, variance, mat.NewDense(len(trials), dim, full))
	for i := range mean {
		mean[i] = math.Exp(scale.Invert(mean[i]))
	}
	return mean, nil
}
