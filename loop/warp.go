package loop

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Warp selects the transform of the values before a fit.
type Warp string

// The output transforms.
const (
	// WarpAuto, the default, may replace each value by log(1 + d/m), with d the distance
	// to the best value and m the median distance. It does so if the transform raises
	// the marginal likelihood of the values under a default Gaussian process at least
	// 20-fold. It takes no logarithm if the surrogate model's prior is stated,
	// because a stated prior describes the untransformed values.
	WarpAuto Warp = "auto"
	// WarpNone takes no logarithm. Values far above the others are lowered to a bound in
	// both cases (ADR 9).
	WarpNone Warp = "none"
)

const (
	// warpMargin is the gain of log marginal likelihood, in nats, above which the log
	// transform is chosen: a factor of 20.
	warpMargin = 3
	// warpRows bounds the number of observations in the comparison.
	warpRows = 200
)

// warp is the increasing map from values to be minimised, in the user's units, to
// the targets of the surrogate model: the standardised
//
//	h(v) = v                             if width is 0
//	h(v) = log(1 + (v - least)/width)    otherwise
//
// A Gaussian process on h(v) is a warped Gaussian process (Snelson, Rasmussen and
// Ghahramani 2004). Adding a number to all values, or multiplying them by a positive
// number, leaves the targets unchanged.
type warp struct {
	least, width float64
	scale        surrogate.Standardization // standardisation of h
}

// newWarp returns the map for the values v with the given width.
func newWarp(v []float64, width float64) warp {
	w := warp{least: slices.Min(v), width: width}
	w.scale = surrogate.Standardize(w.h(v))
	return w
}

// h returns h(v).
func (w warp) h(v []float64) []float64 {
	h := slices.Clone(v)
	if w.width > 0 {
		for i := range h {
			h[i] = math.Log1p((h[i] - w.least) / w.width)
		}
	}
	return h
}

// apply returns the targets for v.
func (w warp) apply(v []float64) []float64 {
	h := w.h(v)
	return w.scale.Apply(h, h)
}

// logSlope returns Σ log(∂apply(v)/∂v) over v.
func (w warp) logSlope(v []float64) float64 {
	sum := -float64(len(v)) * math.Log(w.scale.SD)
	if w.width > 0 {
		for _, v := range v {
			sum -= math.Log(w.width + (v - w.least))
		}
	}
	return sum
}

// user converts a normal prediction in the surrogate model's units to the user's units.
// It returns the median and half the length of the central 68 % interval. If width is 0
// these are the mean and the standard deviation. Overflow gives the largest number.
func (w warp) user(mean, sd float64) (m, s float64) {
	m, s = w.scale.Invert(mean), w.scale.SD*sd
	if w.width > 0 {
		end := func(g float64) float64 { return min(w.width*math.Exp(g), math.MaxFloat64) }
		m, s = min(w.least+w.width*math.Expm1(m), math.MaxFloat64), end(m+s)/2-end(m-s)/2
	}
	return m, s
}

// half95 is half the length of the central 95 % interval of a standard normal variable.
const half95 = 1.959963984540054

// interval returns the ends of the central 95 % interval of a normal prediction in the surrogate model's units, in the
// user's units times sign. It returns 0 if width is 0 or the prediction is not finite.
func (w warp) interval(mean, sd, sign float64) [2]float64 {
	low, _ := w.user(mean-half95*sd, 0)
	high, _ := w.user(mean+half95*sd, 0)
	if w.width == 0 || math.IsNaN(low) || math.IsNaN(high) {
		return [2]float64{}
	}
	return [2]float64{min(sign*low, sign*high), max(sign*low, sign*high)}
}

// chooseWarp returns the log transform or the plain map of the values v at the rows of x.
// It chooses the log transform if the log marginal likelihood of v under an exact
// Gaussian process with the default prior rises by more than warpMargin. The transform's
// width is the distance between the least value and the median. The choice costs two
// fits, from one start each, to at most warpRows observations.
func (t *task) chooseWarp(ctx context.Context, x *mat.Dense, v []float64) (warp, error) {
	plain := newWarp(v, 0)
	least, median := plain.least, middle(v)
	if surrogate.StatesPrior(t.opts.Surrogate) || t.opts.Warp == WarpNone || !(median-least > 1e-10*max(math.Abs(least), math.Abs(median))) {
		return plain, nil
	}
	xs, vs := subset.AtMost(x, v, warpRows, random.New(t.opts.Seed, "warp", 0))
	seen := withoutTies(vs, least)
	both := []warp{plain, newWarp(v, median-least)}
	likelihood := make([]float64, len(both))
	var group sync.WaitGroup
	for i, w := range both {
		group.Go(func() {
			f, err := prior.Spec{Restarts: 1}.Fit(ctx, xs, w.apply(vs), t.opts.NoiseFree, nil, random.New(t.opts.Seed, "fit to warp", i))
			if likelihood[i] = f.LogMarginal + w.logSlope(seen); err != nil {
				likelihood[i] = math.Inf(-1)
			}
		})
	}
	group.Wait()
	if likelihood[1] > likelihood[0]+warpMargin {
		return both[1], ctx.Err()
	}
	return plain, ctx.Err()
}

// withoutTies returns v with the least value once. Repetitions of it, as in counts or
// censored values, carry no information about the slope of the transform.
func withoutTies(v []float64, least float64) []float64 {
	var out []float64
	var seen bool
	for _, v := range v {
		if v != least || !seen {
			out = append(out, v)
		}
		seen = seen || v == least
	}
	return out
}

// middle returns the upper median.
func middle(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
