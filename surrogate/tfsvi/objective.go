package tfsvi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// batch holds the data and random numbers of one evaluation of the objective.
type batch struct {
	x      *mat.Dense // observed inputs, in the network's units
	y      []float64
	weight float64      // N/B
	sets   []*mat.Dense // context sets, in the network's units
	noise  *mat.Dense   // ε, a row for each draw of the weights
}

// objective is the negative of the function-space evidence bound,
//
//	F = (N/B) (1/D) Σ_d Σ_batch [ ½ log 2πσ² + (y - f(x, m + S^½ε_d))²/(2σ²) ] + max_C KL_C
//	KL_C = KL( N(f(C,m), J S Jᵀ + εI) ‖ N(μ_C, Σ_C + εI) ),
//
// with J = J(C) at m and S^½ε = (s∘ε, Uε). The prior is f = f(C,m) + J (w - m) with
// w ~ N(0, scale² I) or, if fixed, f ~ N(0, scale² I).
type objective struct {
	net      *nn.Network
	fixed    bool
	diagonal bool    // marginals instead of joint Gaussians
	scale    float64 // prior standard deviation of the weights, or of the values
	jitter   float64
	stop     bool // no gradient through J
}

// eval returns F and, unless grad is nil, writes its gradient there. It costs
// O(M²p + M³ + Mk²) for each context set and O(DBp + Dk²) for the draws.
func (o *objective) eval(v *variational.Gaussian, b batch, grad *variational.Gaussian) (float64, error) {
	if grad != nil {
		clear(grad.Vector)
	}
	var worst *divergence
	for _, c := range b.sets {
		d, err := o.divergence(v, c)
		if err != nil {
			return 0, err
		}
		if worst == nil || d.value > worst.value {
			worst = d
		}
	}
	if grad != nil {
		worst.addGrad(grad)
	}
	return worst.value + o.likelihood(v, b, grad), nil
}

// likelihood returns the expected negative log likelihood, averaged over draws of the weights.
func (o *objective) likelihood(v *variational.Gaussian, b batch, grad *variational.Gaussian) float64 {
	s, sd2 := v.Scales(), math.Exp(2*v.LogSD[0])
	draws, p := b.noise.Dims()
	h, weight := len(s), b.weight/float64(draws)
	w, g, fbar := make([]float64, p), make([]float64, p), make([]float64, len(b.y))
	var tape nn.Tape
	var sum float64
	for d := range draws {
		eps := b.noise.RawRowView(d)
		copy(w, v.M)
		for i, s := range s {
			w[i] += s * eps[i]
		}
		if v.Ut != nil {
			linalg.MulVec(w[h:], 1, linalg.T, v.Ut, eps[h:], 1)
		}
		tape.Record(o.net, w, b.x)
		for i, f := range tape.Value() {
			e := f - b.y[i]
			sum += e * e
			fbar[i] = weight * e / sd2
		}
		if grad == nil {
			continue
		}
		clear(g)
		tape.VJP(g, fbar)
		linalg.Axpy(1, g, grad.M)
		for i, s := range s {
			grad.LogS[i] += g[i] * eps[i] * s
		}
		for i, e := range eps[h:] {
			linalg.Axpy(e, g[h:], grad.Ut.RawRowView(i))
		}
	}
	n := float64(draws * len(b.y))
	if grad != nil {
		grad.LogSD[0] = weight * (n - sum/sd2)
	}
	return weight * (0.5*n*math.Log(2*math.Pi) + n*v.LogSD[0] + sum/(2*sd2))
}

// divergence is KL_C at one context set. It has the derivatives with respect to Δ = E_q f - E_p f, Q = TTᵀ and
// P = scale² JJᵀ. Here T = J S^½ = (J∘s, JU).
type divergence struct {
	o     *objective
	v     *variational.Gaussian
	tape  *nn.Tape
	j, t  *mat.Dense
	s     []float64
	value float64
	delta []float64
	// timesQ and timesP overwrite the rows of a by the rows of Q̄ a and P̄ a.
	timesQ, timesP func(a *mat.Dense)
}

func (o *objective) divergence(v *variational.Gaussian, c *mat.Dense) (*divergence, error) {
	d := &divergence{o: o, v: v, tape: o.net.Record(v.M, c), s: v.Scales()}
	m, p := d.tape.Len(), d.tape.NumParams()
	d.j, d.t = d.tape.NewJacobian(), mat.NewDense(m, p, nil)
	linalg.ScaleColumns(d.t, d.j, d.s)
	if v.Ut != nil {
		linalg.Mul(d.outputs(d.t), 1, linalg.N, d.outputs(d.j), linalg.T, v.Ut, 0)
	}
	delta := make([]float64, m)
	if o.fixed {
		copy(delta, d.tape.Value())
	} else {
		linalg.MulVec(delta, 1, linalg.N, d.j, v.M, 0)
	}
	if o.diagonal {
		d.marginal(delta)
		return d, nil
	}
	return d, d.joint(delta)
}

// joint computes the divergence of the joint Gaussians.
func (d *divergence) joint(delta []float64) error {
	m := len(delta)
	q, p := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	linalg.Syrk(q, 1, linalg.N, d.t, 0)
	v := d.o.scale * d.o.scale
	if d.o.fixed {
		linalg.AddDiagonal(p, v)
	} else {
		linalg.Syrk(p, v, linalg.N, d.j, 0)
	}
	kl, err := variational.NewDivergence(delta, q, p, d.o.jitter)
	if err != nil {
		return fmt.Errorf("tfsvi: divergence from the prior: %w", err)
	}
	d.value, d.delta = kl.Value, kl.Delta
	times := func(bar func() *mat.Dense) func(a *mat.Dense) {
		return func(a *mat.Dense) { linalg.Mul(a, 1, linalg.N, bar(), linalg.N, mat.DenseCopyOf(a), 0) }
	}
	d.timesQ, d.timesP = times(kl.Q), times(kl.P)
	return nil
}

// marginal computes the sum of the divergences of the marginals,
// ½ [ (q + Δ²)/p - 1 + log p - log q ].
func (d *divergence) marginal(delta []float64) {
	m := len(delta)
	qbar, pbar := make([]float64, m), make([]float64, m)
	d.delta = make([]float64, m)
	for i, e := range delta {
		t, j := d.t.RawRowView(i), d.j.RawRowView(i)
		q, p := linalg.Dot(t, t)+d.o.jitter, d.o.scale*d.o.scale+d.o.jitter
		if !d.o.fixed {
			p = d.o.scale*d.o.scale*linalg.Dot(j, j) + d.o.jitter
		}
		d.value += 0.5 * ((q+e*e)/p - 1 + math.Log(p/q))
		d.delta[i] = e / p
		qbar[i] = 0.5 * (1/p - 1/q)
		pbar[i] = 0.5 * (1 - (q+e*e)/p) / p
	}
	times := func(bar []float64) func(a *mat.Dense) {
		return func(a *mat.Dense) { linalg.ScaleRows(a, bar) }
	}
	d.timesQ, d.timesP = times(qbar), times(pbar)
}

// addGrad adds the gradient of KL_C. With T̄ = 2 Q̄ T,
//
//	S̄^½ = (s̄, Ū) = JᵀT̄,  J̄ = T̄ S^½ᵀ + 2 scale² P̄ J + Δ̄ mᵀ,
//
// and s̄ reduced to its diagonal. A fixed prior omits the last two terms of J̄.
func (d *divergence) addGrad(grad *variational.Gaussian) {
	tbar := mat.DenseCopyOf(d.t)
	d.timesQ(tbar)
	tbar.Scale(2, tbar)
	m, _ := tbar.Dims()
	for i := range m {
		bar, t := tbar.RawRowView(i), d.t.RawRowView(i)
		for k, s := range d.s {
			grad.LogS[k] += bar[k] * t[k]
			bar[k] *= s
		}
	}
	if d.v.Ut != nil {
		out := d.outputs(tbar)
		ubar := mat.DenseCopyOf(out)
		linalg.Mul(grad.Ut, 1, linalg.T, ubar, linalg.N, d.outputs(d.j), 1)
		linalg.Mul(out, 1, linalg.N, ubar, linalg.N, d.v.Ut, 0)
	}
	// f(C,m), and Jm with J constant, have the same derivative.
	d.tape.VJP(grad.M, d.delta)
	if d.o.stop {
		return
	}
	if !d.o.fixed {
		jbar := mat.DenseCopyOf(d.j)
		d.timesP(jbar)
		for i := range m {
			bar := tbar.RawRowView(i)
			linalg.Axpy(2*d.o.scale*d.o.scale, jbar.RawRowView(i), bar)
			linalg.Axpy(d.delta[i], d.v.M, bar)
		}
	}
	d.tape.TangentGrad(grad.M, nil, tbar)
}

// outputs returns the columns of a that belong to U.
func (d *divergence) outputs(a *mat.Dense) *mat.Dense {
	m, p := a.Dims()
	return a.Slice(0, m, len(d.s), p).(*mat.Dense)
}
