package loop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// scalarizes reports whether several objectives are combined into one by random weights, because
// the acquisition function takes one.
func (t *task) scalarizes() bool {
	_, several := t.opts.Acquisition.(acquisition.Several)
	return t.opts.Several() && !several
}

// fitSeveral fits the surrogate model to the standardised values of each objective at the complete
// trials. Values are neither winsorised nor transformed, because the bad values of one objective may
// belong to the best values of another.
func (t *task) fitSeveral(ctx context.Context, rng *rand.Rand) (*fitted, error) {
	goals := t.opts.Objectives
	f := &fitted{facts: Fit{Observations: t.observations()}}
	warm := splitWarm(t.warm, len(goals)+len(t.opts.Require))
	complete := t.points(func(s State) bool { return s == Complete })
	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Total: 1})
	for i, g := range goals {
		values := t.numbers(g.Name, g.sign())
		scale := surrogate.StandardizeNoisy(values, t.errorsOf(g.StandardError))
		d := surrogate.Dataset{X: complete, Y: scale.Apply(nil, values), Noise: t.noisesOf(g.StandardError, scale), NoiseFree: g.NoiseFree}
		d.Lo, d.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
		model, err := t.known(g.NoiseSD, d.Noise, scale)
		if err != nil {
			return nil, fmt.Errorf("objective %s: %w", g.Name, err)
		}
		p, state, err := fitModel(ctx, model, d, warm[i], random.Split(rng, "objective", i))
		if err != nil {
			return nil, fmt.Errorf("objective %s: %w", g.Name, err)
		}
		warm[i] = state
		f.objectives, f.scales = append(f.objectives, p), append(f.scales, scale)
		f.facts.add(g.Name, p)
	}
	f.facts.Selection = t.selections(f.objectives)
	f.Posterior = f.objectives[0]
	f.warp = warp{scale: f.scales[0]}
	if err := t.fitFeasibility(ctx, f, warm[len(goals):]); err != nil {
		return nil, err
	}
	f.warm = joinWarm(warm)
	surrogate.Report(ctx, surrogate.Progress{Phase: phaseSurrogate, Done: 1, Total: 1})
	return f, nil
}

// selections returns the selections of the posteriors of all objectives as one, for display: each
// with the name of its objective. It is nil if the surrogate model does not select.
func (t *task) selections(posteriors []surrogate.Posterior) *surrogate.Selection {
	var models, reasons []string
	for i, p := range posteriors {
		if s, ok := p.(surrogate.Selected); ok && s.Selection() != nil {
			name := t.opts.Objectives[i].Name
			models = append(models, s.Selection().Surrogate+" for "+name)
			reasons = append(reasons, name+": "+s.Selection().Reason)
		}
	}
	if models == nil {
		return nil
	}
	return &surrogate.Selection{Surrogate: strings.Join(models, ", "), Reason: strings.Join(reasons, "; ")}
}

// reference returns the reference point in standardised units.
func (t *task) reference(f *fitted) []float64 {
	point := t.opts.reference(t.trials)
	for i := range point {
		point[i] = (point[i] - f.scales[i].Mean) / f.scales[i].SD
	}
	return point
}

// incumbentOfSeveral returns +Inf if no complete trial is feasible, as incumbent does, else 0: a finite
// acquisition.Problem.Best is not used with several objectives.
func (t *task) incumbentOfSeveral(f *fitted) float64 {
	k := 0
	for i := range t.trials {
		if t.trials[i].State != Complete {
			continue
		}
		if f.likely == nil || t.opts.NoiseFree && t.opts.Feasible(&t.trials[i]) || !t.opts.NoiseFree && f.likely[k] >= 0.5 {
			return 0
		}
		k++
	}
	return math.Inf(1)
}

// augmentation is the weight of the sum in the augmented Chebyshev function.
const augmentation = 0.05

// scalarized returns t with one objective in place of several: the augmented Chebyshev function
//
//	max_j w_j y_j + 0.05 Σ_j w_j y_j
//
// of the values y_j, scaled to [0,1] over the complete trials, with weights drawn uniformly from
// the simplex (ParEGO, Knowles 2006).
func (t *task) scalarized(rng *rand.Rand) *task {
	out := *t
	out.opts.Objectives, out.opts.Maximize, out.opts.NoiseSD = nil, false, 0 // the noise of a sum is not known
	out.warm = nil                                                           // the states belong to models of other targets
	out.opts.Local = LocalNone
	out.trials = slices.Clone(t.trials)
	var total float64
	weights := make([]float64, len(t.opts.Objectives))
	for j := range weights {
		weights[j] = rng.ExpFloat64()
		total += weights[j]
	}
	top := make([]float64, len(t.trials))
	sums := make([]float64, len(t.trials))
	for j, g := range t.opts.Objectives {
		values := t.numbers(g.Name, g.sign())
		low, high := slices.Min(values), slices.Max(values)
		width := max(high/2-low/2, math.SmallestNonzeroFloat64)
		k := 0
		for i := range out.trials {
			if out.trials[i].State == Complete {
				v := weights[j] / total * ((values[k]/2 - low/2) / width)
				top[i], sums[i] = max(top[i], v), sums[i]+v
				k++
			}
		}
	}
	for i := range out.trials {
		out.trials[i].Value = top[i] + augmentation*sums[i]
	}
	return &out
}

// suggestScalarized is suggest by an acquisition function of one objective: each point has weights of its own, and the
// earlier points are pending.
func (t *task) suggestScalarized(ctx context.Context, chosen []Proposal, n int, seen map[string]bool) (*fitted, []Proposal, error) {
	var f *fitted
	var out []Proposal
	for range n {
		now := t.with(slices.Concat(chosen, out))
		one := now.scalarized(random.New(t.opts.Seed, "weights", now.next()))
		fit, found, err := one.suggest(ctx, nil, nil, 1, seen)
		if err != nil {
			return f, nil, err
		}
		for i := range found {
			if p := found[i].Prediction; p != nil {
				p.Mean, p.SD, p.Interval = math.NaN(), math.NaN(), [2]float64{} // scalarised values have no unit of the user
			}
		}
		f, out = fit, append(out, found...)
	}
	f.warm = nil
	return f, out, nil
}
