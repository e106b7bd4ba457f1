package dkl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// train minimises the objective from v.
func (o *objective) train(ctx context.Context, v []float64, rng *rand.Rand) ([]float64, []string, error) {
	if o.Trainer == adam || o.Trainer == "" && len(o.y) > allRows {
		return o.adam(ctx, v, rng)
	}
	steps, done := cmp.Or(o.Steps, 200), 0
	lo, hi := o.bounds()
	loss := func(v, grad []float64) float64 {
		if ctx.Err() != nil {
			return math.Inf(1)
		}
		if done%10 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: min(done, steps), Total: steps})
		}
		done++
		return o.loss(v, grad, o.x, o.y, 1)
	}
	// Only the context's error is possible, which is checked below.
	r, _ := optimize.Minimize(ctx, loss, v, lo, hi, optimize.Settings{MaxIter: steps, MaxEval: 2 * steps, GradTol: 1e-3, FuncTol: 1e-7})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return r.X, nil, nil
}

func (o *objective) adam(ctx context.Context, v []float64, rng *rand.Rand) ([]float64, []string, error) {
	steps, batch := cmp.Or(o.Steps, 1000), min(o.Batch, len(o.y))
	scale := float64(len(o.y)) / float64(batch)
	lo, hi := o.bounds()
	opt, grad, failed := optimize.Adam{}, make([]float64, len(v)), 0
	s := train.Schedule{Phase: "train", Steps: steps, Every: 20, Rate: o.Rate}
	err := s.Run(ctx, func(_ int, rate float64) error {
		x, y := subset.AtMost(o.x, o.y, batch, rng)
		if math.IsInf(o.loss(v, grad, x, y, scale), 1) {
			failed++
			return nil
		}
		opt.Step(rate, v, grad)
		optimize.Clip(v, lo, hi)
		return nil
	})
	if err := cmp.Or(err, train.Diverged("rate", v)); err != nil {
		return nil, nil, err
	}
	var warnings []string
	if failed > 0 {
		warnings = []string{fmt.Sprintf("%d of %d training steps had a singular covariance, the fit may be poor: set noise higher", failed, steps)}
	}
	return v, warnings, nil
}

// pretrain lowers the squared error of a linear output on the features, over the weights w in
// place.
func (o *objective) pretrain(ctx context.Context, w []float64, rng *rand.Rand) error {
	k, q := len(w), o.features.out
	v, grad := make([]float64, k+q+1), make([]float64, k+q+1)
	copy(v, w)
	for i := range q {
		v[k+i] = rng.NormFloat64() / math.Sqrt(float64(q))
	}
	opt := optimize.Adam{}
	s := train.Schedule{Phase: "pretrain", Steps: o.Pretrain, Every: 50, Rate: o.Rate}
	err := s.Run(ctx, func(_ int, rate float64) error {
		x, y := subset.AtMost(o.x, o.y, o.Batch, rng)
		o.squares(v, grad, x, y)
		opt.Step(rate, v, grad)
		return nil
	})
	copy(w, v)
	return err
}
