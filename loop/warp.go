package loop

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/parallel"
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
	// 20-fold. A number of Options.Require may be replaced by a logarithm about its bound, if that
	// gains half a nat per observation too (ADR 40). It takes no logarithm if the surrogate
	// model's prior is stated, because a stated prior describes the untransformed values.
	WarpAuto Warp = "auto"
	// WarpNone takes no logarithm. Values far above the others are lowered to a bound in
	// both cases (ADR 9).
	WarpNone Warp = "none"
)

const (
	// warpMargin is the gain of log marginal likelihood, in nats, above which the log
	// transform is chosen: a factor of 20.
	warpMargin = 3
	// limitMargin is the gain per observation, in nats, for the number of an outcome constraint.
	// Numbers over decades gain some nats each. Numbers that gather at the bound gain a tenth.
	limitMargin = 0.5
	// warpRows bounds the number of observations in the comparison.
	warpRows = 200
)

// form is the form of a warp.
type form int

const (
	plain  form = iota // h(v) = v
	above              // h(v) = log(1 + (v - origin)/width), for values from the origin on
	around             // h(v) = sign(v - origin) log(1 + |v - origin|/width)
	ratio              // h(v) = sign(width) log(v/width + floor), for values with the sign of width or 0
)

// warp is the increasing map from values to be minimised, in the user's units, to the targets of the surrogate
// model: the standardised h(v) of one of the forms. The form around is the bilog transform of Eriksson and
// Poloczek (2021, SCBO). A Gaussian process on h(v) is a warped Gaussian process (Snelson, Rasmussen and Ghahramani
// 2004). Multiplying all values, and the bound, by a positive number leaves the targets unchanged. Adding a number
// does so in all forms but ratio.
type warp struct {
	form          form
	origin, width float64
	scale         surrogate.Standardization // standardisation of h
}

// logAbove returns the log transform of the values v of an objective. Its origin is the least
// value, and its width is the distance between that and the median.
func logAbove(v []float64) warp {
	least := slices.Min(v)
	return warp{form: above, origin: least, width: middle(v) - least}
}

// logAround returns the transform of the values v around a bound. Its width is the median distance to the bound.
func logAround(bound float64, v []float64) warp {
	distances := make([]float64, len(v))
	for i, v := range v {
		distances[i] = math.Abs(v - bound)
	}
	return warp{form: around, origin: bound, width: middle(distances)}
}

// floor is the ratio to the bound below which the form ratio hardly distinguishes values. Without it, values that are
// cut off at a tiny positive number would be a cliff.
const floor = 0.01

// logRatio returns the logarithm of the ratio of the values v to a bound. It is plain unless all of them have the sign
// of the bound or are 0.
func logRatio(bound float64, v []float64) warp {
	for _, v := range v {
		if r := v / bound; !(r >= 0 && r <= math.MaxFloat64) {
			return warp{}
		}
	}
	return warp{form: ratio, width: bound}
}

// standardized returns w with the standardisation for the values v.
func (w warp) standardized(v []float64) warp {
	w.scale = surrogate.Standardize(w.hs(v))
	return w
}

// h returns h(v). Values beyond the range of a logarithm have an infinite one.
func (w warp) h(v float64) float64 {
	d := (v - w.origin) / w.width
	switch w.form {
	case above:
		return math.Log1p(math.Max(-1, d))
	case around:
		return math.Copysign(math.Log1p(math.Abs(d)), d)
	case ratio:
		return math.Copysign(1, w.width) * math.Log(math.Max(0, d+floor))
	default:
		return v
	}
}

// hs returns h of each value.
func (w warp) hs(v []float64) []float64 {
	h := make([]float64, len(v))
	for i, v := range v {
		h[i] = w.h(v)
	}
	return h
}

// distance returns v - origin for the value v with h(v) = h. The form must not be plain.
func (w warp) distance(h float64) float64 {
	switch w.form {
	case around:
		return math.Copysign(w.width*math.Expm1(math.Abs(h)), h)
	case ratio:
		return w.width * max(0, math.Exp(math.Copysign(1, w.width)*h)-floor)
	default:
		return w.width * math.Expm1(h)
	}
}

// target returns the target for a value.
func (w warp) target(v float64) float64 { return (w.h(v) - w.scale.Mean) / w.scale.SD }

// apply returns the targets for v.
func (w warp) apply(v []float64) []float64 {
	h := w.hs(v)
	return w.scale.Apply(h, h)
}

// logSlope returns Σ log(∂apply(v)/∂v) over v.
func (w warp) logSlope(v []float64) float64 {
	sum := -float64(len(v)) * math.Log(w.scale.SD)
	for _, v := range v {
		switch d := math.Abs(v - w.origin); w.form {
		case above, around:
			sum -= math.Log(w.width + d)
		case ratio:
			sum -= math.Log(d + floor*math.Abs(w.width))
		}
	}
	return sum
}

// user converts a normal prediction in the surrogate model's units to the user's units.
// It returns the median and half the length of the central 68 % interval. If the form is plain,
// these are the mean and the standard deviation. Overflow gives the largest number.
func (w warp) user(mean, sd float64) (m, s float64) {
	m, s = w.scale.Invert(mean), w.scale.SD*sd
	if w.form != plain {
		end := func(h float64) float64 { return max(-math.MaxFloat64, min(w.distance(h), math.MaxFloat64)) }
		m, s = max(-math.MaxFloat64, min(w.origin+w.distance(m), math.MaxFloat64)), end(m+s)/2-end(m-s)/2
	}
	return m, s
}

// half95 is half the length of the central 95 % interval of a standard normal variable.
const half95 = 1.959963984540054

// interval returns the ends of the central 95 % interval of a normal prediction in the surrogate model's units, in the
// user's units times sign. It returns 0 if the form is plain or the prediction is not finite.
func (w warp) interval(mean, sd, sign float64) [2]float64 {
	low, _ := w.user(mean-half95*sd, 0)
	high, _ := w.user(mean+half95*sd, 0)
	if w.form == plain || math.IsNaN(low) || math.IsNaN(high) {
		return [2]float64{}
	}
	return [2]float64{min(sign*low, sign*high), max(sign*low, sign*high)}
}

// chooseWarp returns one of the log transforms, standardised for the values v at the rows of x, or the
// plain map. It chooses the transform with the largest log marginal likelihood of v under an exact
// Gaussian process with the default prior. Its likelihood must be larger than for the plain map by more than
// warpMargin. For the number of an outcome constraint the margin is also at least limitMargin per observation.
// The choice costs a fit per map, from one start each, to at most warpRows observations. Their random numbers
// have the given label.
func (t *task) chooseWarp(ctx context.Context, x *mat.Dense, v []float64, label string, logs ...warp) (warp, error) {
	maps := []warp{warp{}.standardized(v)}
	for _, w := range logs {
		if w.form == ratio || w.width > 1e-10*max(math.Abs(w.origin), math.Abs(w.origin+w.width)) {
			maps = append(maps, w.standardized(v))
		}
	}
	if surrogate.StatesPrior(t.opts.Surrogate) || t.opts.Warp == WarpNone || len(maps) == 1 {
		return maps[0], nil
	}
	xs, vs := subset.AtMost(x, v, warpRows, random.New(t.opts.Seed, label, 0))
	seen := slices.Compact(slices.Sorted(slices.Values(vs))) // a repeated number is often a limit of the measurement
	margin := max(warpMargin, limitMargin*float64(len(vs)))
	if logs[0].form == above {
		seen, margin = withoutTies(vs, logs[0].origin), warpMargin
	}
	likelihood := make([]float64, len(maps))
	parallel.Each(len(maps), func(i int) {
		f, err := prior.Spec{Restarts: 1}.Fit(ctx, xs, maps[i].apply(vs), t.opts.NoiseFree, nil, random.New(t.opts.Seed, "fit to "+label, i))
		if likelihood[i] = f.LogMarginal + maps[i].logSlope(seen); err != nil {
			likelihood[i] = math.Inf(-1)
		}
	})
	likelihood[0] += margin
	return maps[floats.MaxIdx(likelihood)], ctx.Err()
}

// withoutTies returns v with the origin of a transform once. Repetitions of it, as in counts or
// censored values, carry no information about the slope of the transform.
func withoutTies(v []float64, origin float64) []float64 {
	var out []float64
	var seen bool
	for _, v := range v {
		if v != origin || !seen {
			out = append(out, v)
		}
		seen = seen || v == origin
	}
	return out
}

// middle returns the upper median.
func middle(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
