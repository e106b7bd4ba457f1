package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
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
	// Complete trials in ascending order of ID: index among the trials, point, transformed
	// value, and posterior mean.
	trials  []int
	x       *mat.Dense
	z, mean []float64
	warm    surrogate.State

	constraints []acquisition.Constraint    // of Options.Require, in the units of limits, and of failures
	limits      []warp                      // transforms of the numbers of Options.Require
	success     *acquisition.Constraint     // a label below 0; nil without a model of failures
	likely      []float64                   // probability that the complete trials are feasible; -1 for a trial outside; nil is certainty
	objectives  []surrogate.Posterior       // of Options.Objectives, standardised values to be minimised
	scales      []surrogate.Standardization // of the objectives
}

// finished reports whether s is not Pending.
func finished(s State) bool { return s != Pending }

// fitting reports whether trials in state s are fitted.
func fitting(s State) bool { return s == Complete || s == Failed }

// errPosterior reports a fit that returned no error and a posterior that is not finite.
var errPosterior = errors.New("posterior")

// varianceChecks is the number of complete trials at which a fit checks the posterior variance.
const varianceChecks = 4

// checkMoments returns an error that wraps errPosterior if a moment is not finite. It checks the posterior
// means at the complete trials, and the posterior variances at the last of them. All variances would cost more
// than the means: O(k³) for a Gaussian process of k trials.
func (t *task) checkMoments(f *fitted) error {
	check := func(what string, values []float64, first int) error {
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w %s is not finite: %v at trial %d", errPosterior, what, v, t.trials[f.trials[first+i]].ID)
			}
		}
		return nil
	}
	if err := check("mean", f.mean, 0); err != nil {
		return err
	}
	n, d := f.x.Dims()
	first := max(0, n-varianceChecks)
	mean, variance := make([]float64, n-first), make([]float64, n-first)
	f.Predict(mean, variance, mat.DenseCopyOf(f.x.Slice(first, n, 0, d)))
	return check("variance", variance, first)
}

// fit fits the surrogate model to the winsorised and transformed values of the finished trials. At
// least one trial must be complete. Each of several objectives has its own model, fitted to its
// standardised values. Failed trials have a separate model or the worst value; see task.imputes.
// Stopped trials have an expected value; see task.expected. Lost trials are left out.
func (t *task) fit(ctx context.Context, rng *rand.Rand) (*fitted, error) {
	if t.opts.Several() {
		return t.fitSeveral(ctx, rng)
	}
	f := &fitted{}
	sign := t.opts.sign()
	warm := splitWarm(t.warm, 1+len(t.opts.Require))
	var values []float64
	for i := range t.trials {
		if trial := &t.trials[i]; trial.State == Complete {
			f.trials = append(f.trials, i)
			values = append(values, sign*trial.Value)
		}
	}
	t.addMean(values, -1)
	winsorize(values, t.ofFeasible(f, values))
	t.addMean(values, 1)
	f.x = t.points(func(s State) bool { return s == Complete })

	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Total: 1})
	var err error
	if f.warp, err = t.chooseWarp(ctx, f.x, values, "warp", logAbove(values)); err != nil {
		return nil, err
	}
	if t.opts.StandardError != "" { // which implies the plain map
		f.warp.scale = surrogate.StandardizeNoisy(values, t.errorsOf(t.opts.StandardError))
	}
	if !t.opts.PriorMean.isZero() {
		f.warp.scale = t.differenceScale(values, f.warp.scale)
	}
	f.z = f.warp.apply(values)
	d := t.dataset(f.z, f.warp.scale)
	model, err := t.centered(f.warp.scale)
	if err != nil {
		return nil, err
	}
	if f.Posterior, warm[0], err = fitModel(ctx, model, d, warm[0], rng); err != nil {
		return nil, err
	}
	f.mean = make([]float64, len(f.z))
	surrogate.Means(f.Posterior, f.mean, f.x)
	if err := t.checkMoments(f); err != nil {
		return nil, err
	}
	f.facts = Fit{Observations: t.observations(), Warped: f.warp.form != plain}
	f.facts.add("", f.Posterior)
	if s, ok := f.Posterior.(surrogate.Selected); ok {
		f.facts.Selection = s.Selection()
	}
	if err := t.fitFeasibility(ctx, f, warm[1:]); err != nil {
		return nil, err
	}
	f.warm = joinWarm(warm)
	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Done: 1, Total: 1})
	return f, nil
}

// ofFeasible returns the values of feasible trials, given the values of the complete ones. It is nil without
// Options.Require.
func (t *task) ofFeasible(f *fitted, values []float64) []float64 {
	var out []float64
	for i, k := range f.trials {
		if len(t.opts.Require) > 0 && t.opts.Feasible(&t.trials[k]) {
			out = append(out, values[i])
		}
	}
	return out
}

// selected returns t with the surrogate model that the model of t selected for the single objective in the fit f.
// It returns t if the model does not select, or selects one for each of several objectives.
func (t *task) selected(f *fitted) *task {
	if f.facts.Selection == nil || t.opts.Several() {
		return t
	}
	out := *t
	out.opts.Surrogate = f.facts.Selection.Model
	if t.opts.NoiseSD > 0 { // known states it again, for other scales
		if m, err := surrogate.FixNoise(f.facts.Selection.Model, nil); err == nil {
			out.opts.Surrogate = m
		}
	}
	return &out
}

// dataset returns the complete trials, given their transformed values z, for a model of targets with the given
// scale. It includes the failed trials if they are imputed. A stopped trial has its expected value. The noise
// of trials that are not complete is not known.
func (t *task) dataset(z []float64, scale surrogate.Standardization) surrogate.Dataset {
	d := surrogate.Dataset{X: t.points(t.modelled), NoiseFree: t.opts.NoiseFree}
	d.Lo, d.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
	worst, next := slices.Max(z), 0
	noises := t.noisesOf(t.opts.StandardError, scale)
	for i := range t.trials {
		if noises != nil && t.modelled(t.trials[i].State) {
			variance := math.NaN()
			if t.trials[i].State == Complete {
				variance = noises[next]
			}
			d.Noise = append(d.Noise, variance)
		}
		switch t.trials[i].State {
		case Complete:
			d.Y = append(d.Y, z[next])
			next++
		case Failed:
			if t.imputes() {
				d.Y = append(d.Y, worst)
			}
		case Stopped:
			d.Y = append(d.Y, t.expected(&t.trials[i], z))
		}
	}
	return d
}

// incumbent returns the transformed value to improve on: the best observed value if
// the objective is noise-free, else the best posterior mean at a complete trial. Only trials
// that are feasible count, for a noisy objective by a probability of at least ½; +Inf if there are
// none. If all complete trials are outside the constraints of the space, they count.
func (t *task) incumbent(f *fitted) float64 {
	best := math.Inf(1)
	if t.opts.NoiseFree && len(t.opts.Require) == 0 && t.inside() == 0 {
		return slices.Min(f.z)
	}
	for i, k := range f.trials {
		switch {
		case t.opts.NoiseFree && t.opts.Feasible(&t.trials[k]):
			best = min(best, f.z[i])
		case !t.opts.NoiseFree && (f.likely == nil || f.likely[i] >= 0.5):
			best = min(best, f.mean[i])
		}
	}
	return best
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
