package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// imputes reports whether failed trials enter the fit of the objective with its worst value: if
// the acquisition function is not acquisition.Feasible.
func (t *task) imputes() bool {
	_, weighs := t.opts.Acquisition.(acquisition.Feasible)
	return !weighs
}

// modelled reports whether trials in a state enter the fit of the objective.
func (t *task) modelled(s State) bool {
	return s == Complete || s == Failed && t.imputes() || s == Stopped && !t.opts.Several()
}

// fitModel fits a surrogate model, from the state start if that is not nil, and returns the
// state for a later fit.
func fitModel(ctx context.Context, m surrogate.Model, d surrogate.Dataset, start surrogate.State, rng *rand.Rand) (surrogate.Posterior, surrogate.State, error) {
	var p surrogate.Posterior
	var err error
	if warm, ok := m.(surrogate.WarmStarter); ok && start != nil {
		p, err = warm.FitFrom(ctx, slices.Clone(start), d, rng)
	} else {
		p, err = m.Fit(ctx, d, rng)
	}
	if err == nil && p == nil {
		err = fmt.Errorf("loop: the surrogate model %T returned neither a posterior nor an error", m)
	}
	if err != nil {
		return nil, nil, err
	}
	if s, ok := p.(surrogate.Stater); ok {
		return p, keepFinite(s.State()), nil
	}
	return p, nil, nil
}

// add adds the hyperparameters and warnings of the model of an output; the name of the objective
// of a single one is "".
func (f *Fit) add(name string, p surrogate.Posterior) {
	if name != "" {
		name += "."
	}
	if d, ok := p.(surrogate.Describer); ok {
		for _, h := range d.Hypers() {
			f.Hypers = append(f.Hypers, surrogate.Hyper{Name: name + h.Name, Value: h.Value})
		}
	}
	for _, w := range p.Warnings() {
		f.Warnings = append(f.Warnings, name+w)
	}
}

// fitFeasibility fits a surrogate model to the transformed numbers of each requirement, starting
// from the states warm, which it replaces, and a model of failures.
func (t *task) fitFeasibility(ctx context.Context, f *fitted, warm []surrogate.State) error {
	complete := t.points(func(s State) bool { return s == Complete })
	for i, r := range t.opts.Require {
		values := t.numbers(r.Name, r.sign())
		bound := r.sign() * r.Bound
		w, err := t.chooseWarp(ctx, complete, values, fmt.Sprintf("warp of requirement %d", i), logAround(bound, values), logRatio(bound, values))
		if err != nil {
			return err
		}
		d := surrogate.Dataset{X: complete, Y: w.apply(values), NoiseFree: t.opts.NoiseFree}
		d.Lo, d.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
		p, state, err := fitModel(ctx, t.opts.Surrogate, d, warm[i], random.New(t.opts.Seed, fmt.Sprintf("fit requirement %d", i), t.next()))
		if err != nil {
			return fmt.Errorf("requirement %s: %w", r, err)
		}
		warm[i] = state
		f.constraints = append(f.constraints, acquisition.Constraint{Posterior: p, Bound: w.target(bound)})
		f.limits = append(f.limits, w)
		f.facts.add(r.Name, p)
	}
	if len(t.opts.Require) > 0 {
		f.likely = make([]float64, t.count(Complete))
		(acquisition.Problem{Constraints: f.constraints}).Feasibility(f.likely, complete)
	}
	t.excludeOutside(f)
	if t.count(Failed) > 0 && !t.imputes() {
		return t.fitFailures(ctx, f)
	}
	return nil
}

// excludeOutside gives complete trials outside the constraints a probability of feasibility below all others. If all are
// outside, they stay comparable.
func (t *task) excludeOutside(f *fitted) {
	if t.inside() == 0 {
		return
	}
	k := 0
	for i := range t.trials {
		trial := &t.trials[i]
		if trial.State != Complete {
			continue
		}
		if trial.Outside {
			if f.likely == nil {
				f.likely = slices.Repeat([]float64{1}, t.count(Complete))
			}
			f.likely[k] = -1
		}
		k++
	}
}

// maxLabels bounds the number of trials from which the probability of a failure is learned.
const maxLabels = 1000

// fitFailures adds the constraint that an evaluation returns a value. A Gaussian process is fitted
// to labels, 1 for failed and -1 for complete trials; the constraint is that the process is at most -caution. The process
// has default settings, because the settings of the surrogate model describe the objective. Its learned
// noise models random failures. Regression on labels predicts failures next to a failed trial with more
// certainty than a logistic likelihood. Its worst regret of ten seeds was lower on three problems
// (docs/adr/0024-failures-and-outcome-constraints.md).
func (t *task) fitFailures(ctx context.Context, f *fitted) error {
	var values []float64
	for i := range t.trials {
		switch t.trials[i].State {
		case Complete:
			values = append(values, -1)
		case Failed:
			values = append(values, 1)
		}
	}
	x, values := subset.AtMost(t.points(fitting), values, maxLabels, random.New(t.opts.Seed, "labels", 0))
	scale := surrogate.Standardize(values)
	d := surrogate.Dataset{X: x, Y: scale.Apply(nil, values), NoiseFree: true}
	d.Lo, d.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
	p, err := gp.Model{}.Fit(ctx, d, random.New(t.opts.Seed, "fit failures", t.next()))
	if err != nil {
		return fmt.Errorf("probability of a failure: %w", err)
	}
	f.constraints = append(f.constraints, acquisition.Constraint{Posterior: p, Bound: (-t.caution() - scale.Mean) / scale.SD})
	f.success = &acquisition.Constraint{Posterior: p, Bound: -scale.Mean / scale.SD}
	return nil
}

// cautious is the number of trials that determine the caution.
const cautious = 10

// caution returns the share of failed trials among the last ten finished ones. It is the distance
// that the label of a suggestion keeps from the border between success and failure: if suggestions
// often fail, the border is where the model does not place it.
func (t *task) caution() float64 {
	n, failed := 0, 0
	for _, trial := range slices.Backward(t.trials) {
		if !fitting(trial.State) || n == cautious {
			continue
		}
		n++
		if trial.State == Failed {
			failed++
		}
	}
	return float64(failed) / float64(max(1, n))
}

// numbers returns a number of the complete trials times sign.
func (t *task) numbers(name string, sign float64) []float64 {
	var values []float64
	for i := range t.trials {
		if trial := &t.trials[i]; trial.State == Complete {
			values = append(values, sign*trial.Numbers[name])
		}
	}
	return values
}

// problem returns the problem of the next suggestion, given the fit to t. The pending points are
// the pending trials of the second task.
func (t *task) problem(f *fitted, pending *task) acquisition.Problem {
	p := acquisition.Problem{
		Posterior: f.Posterior, Observed: t.observed(),
		Pending:     pending.points(func(s State) bool { return s == Pending }),
		Concurrent:  t.count(Pending) > 0 || manyValues(t.space),
		Constraints: f.constraints, Objectives: f.objectives,
		Failed: t.points(func(s State) bool { return finished(s) && !t.modelled(s) && !(t.retries && s == Lost) }),
	}
	if t.optimum != nil {
		p.LogWeight = tempered{t.optimum, optimumStrength / float64(max(1, len(pending.trials)+1-t.opts.Initial))}
	}
	if t.opts.Several() {
		p.Reference, p.Best = t.reference(f), t.incumbentOfSeveral(f)
	} else {
		p.Best = t.incumbent(f)
	}
	if t.sliced() {
		t.restrict(&p, f)
	}
	return p
}

// joinWarm returns the states of several models as one: each with its length before it. One state
// stays as it is. The result is nil if all are nil.
func joinWarm(states []surrogate.State) surrogate.State {
	if len(states) == 1 {
		return states[0]
	}
	var all surrogate.State
	if !slices.ContainsFunc(states, func(s surrogate.State) bool { return s != nil }) {
		return nil
	}
	for _, s := range states {
		all = append(append(all, float64(len(s))), s...)
	}
	return all
}

// splitWarm returns the n states that joinWarm joined; nil states for a state of another number
// of models.
func splitWarm(all surrogate.State, n int) []surrogate.State {
	states := make([]surrogate.State, n)
	if n == 1 {
		states[0] = all
		return states
	}
	for i := range states {
		if len(all) == 0 || !(all[0] >= 0 && all[0] <= float64(len(all)-1)) {
			return make([]surrogate.State, n)
		}
		if k := 1 + int(all[0]); k > 1 {
			states[i] = all[1:k]
		}
		all = all[1+int(all[0]):]
	}
	if len(all) > 0 {
		return make([]surrogate.State, n)
	}
	return states
}
