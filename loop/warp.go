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

// The values of Options.Warp.
const (
	WarpAuto = "auto"
	WarpNone = "none"
)

const (
	// warpMargin is by how many nats the logarithm must be the likelier: 20 to 1.
	warpMargin = 3
	// warpRows is how many observations the choice looks at.
	warpRows = 200
)

// warp is the increasing map between values to be minimised, in the user's units,
// and what the surrogate sees, the standardised
//
//	h(v) = v  or  h(v) = log(1 + (v - least)/width)
//
// the former where width is 0. A process on h(v) is a warped Gaussian process
// (Snelson, Rasmussen and Ghahramani 2004). Adding a number to all values, or
// multiplying them by a positive one, changes nothing.
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

// user returns the median in the user's units of what is normal to the surrogate, with
// the given mean and standard deviation, and half the length of its central interval
// of 68 %: its own mean and standard deviation unless there is a logarithm. What would
// overflow is the largest number.
func (w warp) user(mean, sd float64) (m, s float64) {
	m, s = w.scale.Invert(mean), w.scale.SD*sd
	if w.width > 0 {
		end := func(g float64) float64 { return min(w.width*math.Exp(g), math.MaxFloat64) }
		m, s = min(w.least+w.width*math.Expm1(m), math.MaxFloat64), end(m+s)/2-end(m-s)/2
	}
	return m, s
}

// chooseWarp returns the map under which the values v at the rows of x are the
// likelier, given an exact process with the default prior: values as they are, unless
// a logarithm whose width is the distance between the least value and the median is
// ahead by warpMargin. A prior that the user states is a prior on the values as they
// are. It costs two fits to at most warpRows observations, from one start each.
func (s *Study) chooseWarp(ctx context.Context, x *mat.Dense, v []float64) (warp, error) {
	plain := newWarp(v, 0)
	least, median := plain.least, middle(v)
	m, ok := s.opts.Surrogate.(interface{ Stated() bool })
	if ok && m.Stated() || s.opts.Warp == WarpNone || !(median-least > 1e-10*max(math.Abs(least), math.Abs(median))) {
		return plain, nil
	}
	xs, vs := subset.AtMost(x, v, warpRows, random.New(s.opts.Seed, "warp", 0))
	seen := withoutTies(vs, least)
	both := []warp{plain, newWarp(v, median-least)}
	likelihood := make([]float64, len(both))
	var group sync.WaitGroup
	for i, w := range both {
		group.Go(func() {
			f, err := prior.Spec{Restarts: 1}.Fit(ctx, xs, w.apply(vs), s.opts.NoiseFree, nil, random.New(s.opts.Seed, "fit to warp", i))
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

// withoutTies returns v with the least value once. That it was seen again, as of a
// count or of what is cut off at a bound, says nothing of the slope there.
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

// middle is the upper median.
func middle(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
