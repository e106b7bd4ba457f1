package loop

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// FrontRecommendation is the result of a study with several objectives: the Pareto front of the
// observed values and the Pareto front of the posterior means. Under noise an observed value is partly
// luck, and Model is the better choice. If all objectives are noise-free, the two are equal.
type FrontRecommendation struct {
	Observed Pareto
	// Model are the complete trials whose posterior means no other mean dominates, by
	// ascending ID. Only trials that are feasible with a probability of at least Confident count. If
	// there are none, trials with a probability of at least ½ count; if there are none either, Model is empty.
	// The choice uses the best hyperparameters, and the moments and probabilities are averaged over them.
	Model []FrontEstimate
	// Hypervolume is the volume between Observed.Reference and the means of Model at the best hyperparameters; 0
	// with more than MaxHypervolume objectives.
	Hypervolume float64
	// Fit describes the fit; nil if all objectives are noise-free, which needs none.
	Fit *Fit
}

// FrontEstimate is a complete trial with the posterior mean and standard deviation of each latent objective at
// its point. They are in the user's units and in the order of Options.Objectives. The standard deviation of a
// noise-free objective is 0.
type FrontEstimate struct {
	Trial    Trial
	Mean, SD []float64
	// Feasible is the probability that the latent numbers at the point meet Options.Require.
	Feasible float64
}

// RecommendFront is Recommend for several objectives. The errors are the same.
func RecommendFront(ctx context.Context, s *space.Space, o Options, h History) (FrontRecommendation, error) {
	h.Queue = nil
	t, err := newTask(s, o, h)
	if err != nil {
		return FrontRecommendation{}, err
	}
	if !t.opts.Several() {
		return FrontRecommendation{}, fmt.Errorf("%w: there is one objective: use Recommend", ErrOptions)
	}
	if t.inside() == 0 {
		return FrontRecommendation{}, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	if t.opts.NoiseFree {
		return t.recommendFront(nil), nil
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "recommend", t.next()))
	if err != nil {
		return FrontRecommendation{}, err
	}
	return t.recommendFront(f), nil
}

// recommendFront returns the fronts of the values and of the posterior means of f; nil stands for exact values.
func (t *task) recommendFront(f *fitted) FrontRecommendation {
	rec := FrontRecommendation{Observed: t.opts.ParetoOf(t.trials)}
	var all []FrontEstimate
	if f == nil {
		all = t.exactEstimates()
	} else {
		rec.Fit, all = &f.facts, t.estimates(f)
	}
	enough := 0.5
	if slices.ContainsFunc(all, func(e FrontEstimate) bool { return e.Feasible >= Confident }) {
		enough = Confident
	}
	var y [][]float64
	var candidates []FrontEstimate
	for _, e := range all {
		if e.Feasible >= enough {
			losses := make([]float64, len(e.Mean))
			for j, m := range e.Mean {
				losses[j] = t.opts.Objectives[j].sign() * m
			}
			candidates, y = append(candidates, e), append(y, losses)
		}
	}
	for _, k := range pareto.Front(y) {
		rec.Model = append(rec.Model, candidates[k])
	}
	if f != nil && len(rec.Model) > 0 {
		t.average(f, rec.Model)
	}
	if len(t.opts.Objectives) <= MaxHypervolume {
		rec.Hypervolume = pareto.Hypervolume(y, t.opts.reference(t.trials))
	}
	return rec
}

// RecommendFront is the function RecommendFront for the trials of v, with the fit of v. It is for the views of
// several objectives that InspectObjective and InspectAll return.
func (v *View) RecommendFront() FrontRecommendation {
	if v.task.opts.NoiseFree {
		return v.task.recommendFront(nil)
	}
	return v.task.recommendFront(v.fitted)
}

// estimates returns the complete trials with the posterior moments of noisy objectives and the values of
// noise-free ones.
func (t *task) estimates(f *fitted) []FrontEstimate {
	x := t.points(func(s State) bool { return s == Complete })
	n, _ := x.Dims()
	out := t.exactEstimates()
	mean, variance := make([]float64, n), make([]float64, n)
	for j, g := range t.opts.Objectives {
		if g.NoiseFree { // the values are exact
			continue
		}
		f.objectives[j].Predict(mean, variance, x)
		for i := range out {
			out[i].Mean[j], out[i].SD[j] = g.sign()*f.scales[j].Invert(mean[i]), f.scales[j].SD*sqrt(variance[i])
		}
	}
	for i, p := range f.likely {
		out[i].Feasible = p
	}
	return out
}

// average replaces the moments of noisy objectives and the probabilities of feasibility by their averages over
// hyperparameters.
func (t *task) average(f *fitted, chosen []FrontEstimate) {
	n := len(chosen)
	x, mean, variance := mat.NewDense(n, t.space.Dim(), nil), make([]float64, n), make([]float64, n)
	for i := range chosen {
		x.SetRow(i, t.space.Encode(chosen[i].Trial.Point))
	}
	for j, g := range t.opts.Objectives {
		if g.NoiseFree {
			continue
		}
		surrogate.Averaged(f.objectives[j]).Predict(mean, variance, x)
		for i := range chosen {
			chosen[i].Mean[j], chosen[i].SD[j] = g.sign()*f.scales[j].Invert(mean[i]), f.scales[j].SD*sqrt(variance[i])
		}
	}
	if f.likely != nil {
		for i, p := range f.shownFeasible(x, len(t.opts.Require)) {
			chosen[i].Feasible = p
		}
	}
}

// exactEstimates returns the complete trials with their values as estimates.
func (t *task) exactEstimates() []FrontEstimate {
	var out []FrontEstimate
	for i := range t.trials {
		trial := &t.trials[i]
		if trial.State != Complete {
			continue
		}
		e := FrontEstimate{Trial: trial.clone(), SD: make([]float64, len(t.opts.Objectives))}
		for _, g := range t.opts.Objectives {
			e.Mean = append(e.Mean, trial.Numbers[g.Name])
		}
		if t.opts.Feasible(trial) {
			e.Feasible = 1
		}
		out = append(out, e)
	}
	return out
}

// RecommendFront is the function RecommendFront for the study's trials, with events. It leaves the
// study unchanged.
func (s *Study) RecommendFront(ctx context.Context) (FrontRecommendation, error) {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	var seconds float64
	rec, err := RecommendFront(s.observed(ctx, h, &seconds), s.space, s.opts, h)
	s.emitFit(rec.Fit, seconds)
	return rec, err
}
