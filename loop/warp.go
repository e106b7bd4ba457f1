package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/rows"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// The values of Options.Warp.
const (
	WarpAuto = "auto"
	WarpNone = "none"
)

const (
	// warpMargin is by how many nats a logarithm must be the likelier: 20 to 1.
	warpMargin = 3
	// warpRows is how many observations the choice looks at.
	warpRows = 64
)

// warpWidths are those tried, as shares of the distance between the least value and
// the median.
var warpWidths = []float64{1, 0.1}

// warp is the increasing map between values to be minimised, in the user's units,
// and what the surrogate sees, the standardised
//
//	h(v) = v  or  h(v) = log(1 + (v - least)/width)
//
// the former where width is 0. A process on h(v) is a warped Gaussian process
// (Snelson, Rasmussen and Ghahramani 2004). Adding a number to all values, or
// multiplying them by one, changes nothing.
type warp struct {
	least, width float64
	scale        surrogate.Standardization // of h
}

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

// apply returns what the surrogate sees of v.
func (w warp) apply(v []float64) []float64 {
	h := w.h(v)
	return w.scale.Apply(h, h)
}

// logSlope is the sum over v of the logarithms of the derivative of apply.
func (w warp) logSlope(v []float64) float64 {
	sum := -float64(len(v)) * math.Log(w.scale.SD)
	if w.width > 0 {
		for _, v := range v {
			sum -= math.Log(w.width + (v - w.least))
		}
	}
	return sum
}

// moments returns the mean and the standard deviation in the user's units of what
// is normal to the surrogate, with the given ones: those of a shifted log-normal if
// there is a logarithm.
func (w warp) moments(mean, sd float64) (m, s float64) {
	m, s = w.scale.Invert(mean), w.scale.SD*sd
	if w.width > 0 {
		e := w.width * math.Exp(m+s*s/2)
		m, s = w.least+(e-w.width), e*math.Sqrt(math.Expm1(s*s))
	}
	return m, s
}

// chooseWarp returns the map under which the values v at the rows of x are the most
// likely, given an exact process with the prior of the study's surrogate, or the
// default one if that has none: values as they are, unless a logarithm is ahead by
// warpMargin. It costs three fits of that process, from one
// start each, to at most warpRows observations.
func (s *Study) chooseWarp(ctx context.Context, x *mat.Dense, v []float64, rng *rand.Rand) (warp, error) {
	plain := newWarp(v, 0)
	least, median := plain.least, middle(v)
	if s.opts.Warp == WarpNone || !(median-least > 1e-10*max(math.Abs(least), math.Abs(median))) {
		return plain, nil
	}
	var spec prior.Spec
	if m, ok := s.opts.Surrogate.(interface{ Stated() prior.Spec }); ok {
		spec = m.Stated()
	}
	spec.Restarts = 1 // the modes of its hyper-priors
	xs, vs := rows.AtMost(x, v, warpRows, rng)
	likelihood := func(w warp) float64 {
		f, err := spec.Fit(ctx, xs, w.apply(vs), s.opts.NoiseFree, nil, rng)
		if err != nil {
			return math.Inf(-1)
		}
		return f.LogMarginal + w.logSlope(vs)
	}
	best, most := plain, likelihood(plain)+warpMargin
	for _, share := range warpWidths {
		w := newWarp(v, share*(median-least))
		if l := likelihood(w); l > most {
			best, most = w, l
		}
	}
	return best, ctx.Err()
}

// middle is the upper median.
func middle(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
