package nuts

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/linalg"
)

// Target returns an unnormalised log density at q and writes its gradient. A value that
// is not finite means density 0.
type Target func(grad, q []float64) float64

// point is an immutable point of phase space.
type point struct {
	q, p, v, grad []float64 // position, momentum, velocity M⁻¹p, ∇log density
	logp, energy  float64
}

// span is a contiguous part of a trajectory.
type span struct {
	first, last *point
	rho         []float64 // sum of momenta
	drawn       *point
	logWeight   float64 // log Σ e^{-H}, relative to the start
}

// maxEnergyError is the increase of H above which a trajectory is divergent.
const maxEnergyError = 1000

// walker computes trajectories.
type walker struct {
	target   Target
	rng      *rand.Rand
	step     float64
	variance []float64 // the diagonal of M⁻¹

	// The fields below describe the current trajectory.
	origin    float64 // H at the start
	accept    float64 // Σ min(1, e^{H₀-H})
	leaps     int
	divergent bool
}

// at returns the point at a position of known density, with a new momentum.
func (w *walker) at(q, grad []float64, logp float64) *point {
	p := &point{q: q, grad: grad, logp: logp, p: make([]float64, len(q)), v: make([]float64, len(q))}
	for i, s := range w.variance {
		p.p[i] = w.rng.NormFloat64() / math.Sqrt(s)
	}
	w.finish(p)
	return p
}

// finish sets velocity and energy from position and momentum.
func (w *walker) finish(p *point) {
	for i, s := range w.variance {
		p.v[i] = s * p.p[i]
	}
	p.energy = 0.5*linalg.Dot(p.p, p.v) - p.logp
	if math.IsNaN(p.energy) {
		p.energy = math.Inf(1)
	}
}

// leap returns the point a step from a; the step may be negative.
func (w *walker) leap(a *point, step float64) *point {
	d := len(a.q)
	buf := make([]float64, 4*d)
	b := &point{q: buf[:d:d], p: buf[d : 2*d : 2*d], v: buf[2*d : 3*d : 3*d], grad: buf[3*d:]}
	for i, g := range a.grad {
		b.p[i] = a.p[i] + 0.5*step*g
		b.q[i] = a.q[i] + step*w.variance[i]*b.p[i]
	}
	b.logp = w.target(b.grad, b.q)
	linalg.Axpy(0.5*step, b.grad, b.p)
	w.finish(b)
	return b
}

// grow returns the 2^depth points that follow a in time or, if step is negative, precede
// it. It returns false if they make a U-turn or diverge.
func (w *walker) grow(ctx context.Context, a *point, step float64, depth int) (span, bool, error) {
	if depth == 0 {
		if err := ctx.Err(); err != nil {
			return span{}, false, err
		}
		b := w.leap(a, step)
		fell := w.origin - b.energy
		w.leaps++
		w.accept += math.Min(1, math.Exp(fell))
		w.divergent = w.divergent || !(fell >= -maxEnergyError)
		return span{b, b, b.p, b, fell}, !w.divergent, nil
	}
	near, ok, err := w.grow(ctx, a, step, depth-1)
	if !ok {
		return span{}, false, err
	}
	end := near.last
	if step < 0 {
		end = near.first
	}
	far, ok, err := w.grow(ctx, end, step, depth-1)
	if !ok {
		return span{}, false, err
	}
	s, onwards := join(near, far, step)
	s.drawn = near.drawn
	if w.rng.Float64() < math.Exp(far.logWeight-s.logWeight) {
		s.drawn = far.drawn
	}
	return s, onwards, nil
}

// join returns the span of a followed by b or, if step is negative, b followed by a. It
// reports whether the span makes no U-turn. The field drawn is not set.
func join(a, b span, step float64) (span, bool) {
	if step < 0 {
		a, b = b, a
	}
	s := span{first: a.first, last: b.last, rho: make([]float64, len(a.rho)), logWeight: logAdd(a.logWeight, b.logWeight)}
	copy(s.rho, a.rho)
	linalg.Axpy(1, b.rho, s.rho)
	onwards := linalg.Dot(s.rho, a.first.v) > 0 && linalg.Dot(s.rho, b.last.v) > 0 &&
		linalg.Dot(a.rho, a.first.v)+linalg.Dot(b.first.p, a.first.v) > 0 &&
		linalg.Dot(a.rho, b.first.v)+linalg.Dot(b.first.p, b.first.v) > 0 &&
		linalg.Dot(b.rho, a.last.v)+linalg.Dot(a.last.p, a.last.v) > 0 &&
		linalg.Dot(b.rho, b.last.v)+linalg.Dot(a.last.p, b.last.v) > 0
	return s, onwards
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// next draws the next point of the chain after a. It reports whether the trajectory
// reached its largest size.
func (w *walker) next(ctx context.Context, a *point, depth int) (b *point, saturated bool, err error) {
	a = w.at(a.q, a.grad, a.logp)
	w.origin, w.accept, w.leaps, w.divergent = a.energy, 0, 0, false
	s := span{first: a, last: a, rho: a.p, drawn: a}
	for k := range depth {
		step, end := w.step, s.last
		if w.rng.Float64() < 0.5 {
			step, end = -step, s.first
		}
		more, ok, err := w.grow(ctx, end, step, k)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			return s.drawn, false, nil
		}
		drawn := s.drawn
		if w.rng.Float64() < math.Exp(more.logWeight-s.logWeight) {
			drawn = more.drawn
		}
		s, ok = join(s, more, step)
		s.drawn = drawn
		if !ok {
			return s.drawn, false, nil
		}
	}
	return s.drawn, true, nil
}
