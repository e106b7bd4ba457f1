package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/surrogate"
)

// phaseSurrogate is the phase of the progress reports at the start and the end of a
// fit, which includes the choice of the output transform.
const phaseSurrogate = "surrogate"

// fitted is a surrogate model fitted to the finished trials of a task.
type fitted struct {
	surrogate.Posterior
	facts Fit
	warp  warp // transform of sign·Value, winsorised
	// Complete trials in ascending order of ID: index among the trials, transformed
	// value, and posterior mean and variance.
	trials         []int
	z              []float64
	mean, variance []float64
	warm           surrogate.State
}

// finished reports whether s is Complete, Failed or Stopped.
func finished(s State) bool { return s != Pending }

// fitting reports whether trials in state s are fitted.
func fitting(s State) bool { return s == Complete || s == Failed }

// errMean reports a fit that failed without an error of its own.
var errMean = errors.New("posterior mean is not finite")

// fit fits the surrogate model to the finished trials, of which at least one is
// complete: to the winsorised and transformed values. A failed trial has the worst
// of these values. Stopped trials are left out.
func (t *task) fit(ctx context.Context, rng *rand.Rand) (*fitted, error) {
	f := &fitted{}
	sign := t.opts.sign()
	var values []float64
	for i := range t.trials {
		if trial := &t.trials[i]; trial.State == Complete {
			f.trials = append(f.trials, i)
			values = append(values, sign*trial.Value)
		}
	}
	winsorize(values)
	complete := t.points(func(s State) bool { return s == Complete })

	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Total: 1})
	var err error
	if f.warp, err = t.chooseWarp(ctx, complete, values); err != nil {
		return nil, err
	}
	f.z = f.warp.apply(values)
	d := t.dataset(f.z)
	if warm, ok := t.opts.Surrogate.(surrogate.WarmStarter); ok && t.warm != nil {
		f.Posterior, err = warm.FitFrom(ctx, slices.Clone(t.warm), d, rng)
	} else {
		f.Posterior, err = t.opts.Surrogate.Fit(ctx, d, rng)
	}
	if err != nil {
		return nil, err
	}
	if p, ok := f.Posterior.(surrogate.Stater); ok {
		f.warm = keepFinite(p.State())
	}
	f.mean, f.variance = make([]float64, len(f.z)), make([]float64, len(f.z))
	f.Predict(f.mean, f.variance, complete)
	for i, m := range f.mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return nil, fmt.Errorf("%w: %v at trial %d", errMean, m, t.trials[f.trials[i]].ID)
		}
	}
	f.facts = Fit{Observations: len(d.Y), Warped: f.warp.width > 0, Warnings: f.Warnings()}
	if p, ok := f.Posterior.(surrogate.Describer); ok {
		f.facts.Hypers = p.Hypers()
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Done: 1, Total: 1})
	return f, nil
}

// dataset returns the finished trials, given the transformed values z of the
// complete trials. Stopped trials are left out (ADR 22).
func (t *task) dataset(z []float64) surrogate.Dataset {
	d := surrogate.Dataset{X: t.points(fitting), NoiseFree: t.opts.NoiseFree}
	d.Lo, d.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
	worst, next := slices.Max(z), 0
	for i := range t.trials {
		switch t.trials[i].State {
		case Complete:
			d.Y = append(d.Y, z[next])
			next++
		case Failed:
			d.Y = append(d.Y, worst)
		}
	}
	return d
}

// incumbent returns the transformed value to improve on: the best observed value if
// the objective is noise-free, else the best posterior mean at a complete trial.
func (f *fitted) incumbent(noiseFree bool) float64 {
	if noiseFree {
		return slices.Min(f.z)
	}
	return slices.Min(f.mean)
}

// keepFinite returns a copy of the state, or nil if JSON cannot hold it.
func keepFinite(state surrogate.State) surrogate.State {
	for _, v := range state {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return slices.Clone(state)
}

// sqrt returns the square root of v, 0 for negative v.
func sqrt(v float64) float64 { return math.Sqrt(max(0, v)) }
