package dkl

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/svgp"
)

// Model is deep kernel learning. The zero value is the default: the kernel of the zero prior.Spec on the inputs
// plus the output of a 50-50 tanh network. The scaled weights have a standard normal prior. Lengthscales and
// inputs in a kernel expression refer to features.
type Model struct {
	prior.Spec

	Hidden     []int  `set:"hidden" default:"50,50" range:"[1,10000]" weights:"10000000" help:"widths of the hidden layers (published: 1000,500,50)"`
	Activation string `set:"activation" default:"tanh" oneof:"tanh,relu,gelu,erf,sin" help:"activation of the hidden units (published: relu)"`
	Features   int    `set:"features" auto:"one per input" range:"[1,10000]" help:"number of features; by default the network's output is added to each input (published: 2)"`
	// Decay is λ.
	Decay *float64 `set:"decay" default:"1" range:"[0,inf)" help:"precision of the prior on the scaled weights, which limits overfitting (published: 0)"`

	Trainer  string  `set:"trainer" auto:"by size" oneof:"lbfgs,adam" help:"training method: lbfgs, all data at every step (up to 500 observations); adam, as published"`
	Steps    int     `set:"steps" auto:"200 or 1000" range:"[1,100000000]" help:"largest number of training steps (lbfgs 200, adam 1000)"`
	Batch    int     `set:"batch" default:"250" range:"[1,1000000]" help:"observations in a step of adam"`
	Rate     float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate of adam, lowered to 0 along a cosine"`
	Pretrain int     `set:"pretrain" default:"0" range:"[0,100000000]" help:"steps of adam on squared errors first, through a linear output that is dropped; features must be set"`

	Inducing int `set:"inducing" default:"300" range:"[1,20000]" help:"largest number of inducing points on the features, beyond 1000 observations"`
}

var _ surrogate.WarmStarter = Model{}

const (
	lbfgs, adam = "lbfgs", "adam"

	allRows   = 500  // largest number of observations for L-BFGS, and for the start of the hyperparameters
	exactRows = 1000 // largest number of observations for an exact process on the features
)

// resolve replaces defaults and validates Pretrain.
func (m Model) resolve() (Model, error) {
	m, err := settings.Resolve("dkl", m)
	if err == nil && m.Pretrain > 0 && m.Features == 0 {
		err = settings.Errorf("dkl: pretrain needs features: outputs that are added to the inputs start at 0")
	}
	if m.Features > 0 {
		m.Inputs = nil // the inputs of the kernel are features, which have no names
	}
	return m, err
}

// Check implements surrogate.Checker.
func (m Model) Check(dim int) error {
	m, err := m.resolve()
	if err != nil {
		return err
	}
	return m.Spec.Check(cmp.Or(m.Features, dim))
}

// Fit implements surrogate.Model. A step of L-BFGS costs O(n³ + np) for p weights.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Hyperparameters and weights start at the result of
// an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	o, err := newObjective(m, d)
	if err != nil {
		return nil, err
	}
	post, err := o.fit(ctx, start, d, rng)
	if err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	return post, nil
}

func (o *objective) fit(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	v, err := o.start(ctx, start, d, rng)
	if err != nil {
		return nil, err
	}
	v, warnings, err := o.train(ctx, v, random.Split(rng, "train", 0))
	if err != nil {
		return nil, err
	}

	surrogate.Report(ctx, surrogate.Progress{Phase: "last layer"})
	hypers, w := o.parts(v)
	spec := o.Spec.ByColumn()
	spec.Restarts = 1
	var last surrogate.WarmStarter = gp.Model{Spec: spec}
	if len(d.Y) > exactRows {
		last = svgp.Model{Spec: spec, Inducing: o.Inducing}
	}
	onFeatures := surrogate.Dataset{X: o.features.apply(w, d.X), Y: d.Y, NoiseFree: d.NoiseFree}
	inner, err := last.FitFrom(ctx, hypers, onFeatures, random.Split(rng, "last layer", 0))
	if err != nil {
		return nil, err
	}
	return newPosterior(o.features, w, inner.(process), warnings), nil
}

// start returns the initial vector: the state of an earlier fit, or initial weights with the
// hyperparameters fitted to their features.
func (o *objective) start(ctx context.Context, state surrogate.State, d surrogate.Dataset, rng *rand.Rand) ([]float64, error) {
	if hypers, w := summary.DecodeState(state, o.features.numWeights()); w != nil && len(hypers) == len(o.hyper.Free) {
		return slices.Concat(hypers, w), nil
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	w := o.features.initial(random.Split(rng, "weights", 0))
	if o.Pretrain > 0 {
		if err := o.pretrain(ctx, w, random.Split(rng, "pretraining", 0)); err != nil {
			return nil, err
		}
	}
	x, y := subset.AtMost(o.x, o.y, allRows, random.Split(rng, "prior rows", 0))
	fitted, err := o.Spec.Fit(ctx, o.features.apply(w, x), y, d.NoiseFree, nil, random.Split(rng, "prior", 0))
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(fitted.State), w...), nil
}
