package gfsvi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// batch holds the points of one evaluation of the objective: a row of x for each measurement
// point and each observation. The first rows are the measurement points, the last len(y) the
// observations. The two ranges may overlap.
type batch struct {
	x       *mat.Dense // in the dataset's units
	measure int
	y       []float64
	weight  float64 // N/B
}

// objective is the negative of the generalised evidence bound at a batch,
//
//	F = (N/B) Σ_batch [ ½ log 2πσ² + ((y - f(x,m))² + J S Jᵀ)/(2σ²) ] + D^γ
//	D^γ = KL( N(f(C,m), J S Jᵀ + γM I) ‖ N(μ, K + γM I) ),  S = diag(s²) + UUᵀ,
//
// with J = J(x; m).
type objective struct {
	net     *nn.Network
	inputs  domain.Affine
	process prior.Process
	gamma   float64

	tape    nn.Tape
	j, t, u *mat.Dense // J, J∘s, and the adjoint of J
}

// prepare records the network at the batch and its Jacobian.
func (o *objective) prepare(v *variational.Gaussian, b batch) {
	o.tape.Record(o.net, v.M, o.inputs.Apply(b.x))
	rows, p := o.tape.Len(), o.tape.NumParams()
	if o.j == nil || o.j.RawMatrix().Rows != rows {
		o.j, o.t, o.u = mat.NewDense(rows, p, nil), mat.NewDense(rows, p, nil), mat.NewDense(rows, p, nil)
	}
	o.tape.Jacobian(o.j)
}

// eval returns F and, unless grad is nil, writes its gradient. It costs
// O(M²p + M³ + (M+B)p(1+r)) for a rank of r.
func (o *objective) eval(v *variational.Gaussian, b batch, grad *variational.Gaussian) (float64, error) {
	e, err := o.forward(v, b)
	if err != nil {
		return 0, err
	}
	sd2 := math.Exp(2 * v.LogSD[0])
	var sum float64
	for i, y := range b.y {
		r := e.mean[i] - y
		sum += r*r + e.variance[i]
	}
	n := float64(len(b.y))
	value := e.divergence.Value + b.weight*(0.5*n*math.Log(2*math.Pi)+n*v.LogSD[0]+sum/(2*sd2))
	if grad == nil {
		return value, nil
	}
	dmean, dvariance := make([]float64, len(b.y)), make([]float64, len(b.y))
	for i, y := range b.y {
		dmean[i] = b.weight / sd2 * (e.mean[i] - y)
		dvariance[i] = b.weight / (2 * sd2)
	}
	o.backward(v, b, e, dmean, dvariance, grad)
	grad.LogSD[0] = b.weight * (n - sum/sd2)
	return value, nil
}

// evaluated holds the input of the likelihood: the divergence, and the moments of f at the
// observations of a batch.
type evaluated struct {
	divergence     *variational.Divergence
	low            *mat.Dense // J U; nil for rank 0
	mean, variance []float64
}

// forward records the network at the batch and computes divergence and moments.
func (o *objective) forward(v *variational.Gaussian, b batch) (*evaluated, error) {
	o.prepare(v, b)
	rows, _ := o.j.Dims()
	linalg.ScaleColumns(o.t, o.j, v.Scales())
	e := &evaluated{}
	if r := v.Rank(); r > 0 {
		e.low = mat.NewDense(rows, r, nil)
		linalg.Mul(e.low, 1, linalg.N, o.j, linalg.T, v.Ut, 0)
	}
	var err error
	if e.divergence, err = o.divergence(b, e.low); err != nil {
		return nil, err
	}
	variance := make([]float64, rows)
	linalg.AddRowSquares(variance, o.t)
	if e.low != nil {
		linalg.AddRowSquares(variance, e.low)
	}
	first := rows - len(b.y)
	e.mean, e.variance = o.tape.Value()[first:], variance[first:]
	return e, nil
}

// backward writes the gradient with respect to m, log s and U of
//
//	D^γ + Σ_i dmean_i mean_i + dvariance_i variance_i
//
// to grad, and 0 for log σ.
func (o *objective) backward(v *variational.Gaussian, b batch, e *evaluated, dmean, dvariance []float64, grad *variational.Gaussian) {
	rows, p := o.j.Dims()
	first := rows - len(b.y)
	s := v.Scales()
	clear(grad.Vector)
	fbar := make([]float64, rows)
	copy(fbar, e.divergence.Delta)
	linalg.Axpy(1, dmean, fbar[first:])
	o.tape.VJP(grad.M, fbar)

	// With Σ = TTᵀ + PPᵀ, T = J∘s and P = JU: T̄ = 2 Σ̄ T, P̄ = 2 Σ̄ P, and
	// J̄ = T̄∘s + P̄Uᵀ.
	g := e.divergence.Q()
	adjoint := func(dst, src *mat.Dense) {
		_, k := src.Dims()
		linalg.Mul(shape.Rows(dst, 0, b.measure), 2, linalg.N, g, linalg.N, shape.Rows(src, 0, b.measure), 0)
		for i := b.measure; i < rows; i++ {
			clear(dst.RawRowView(i)[:k])
		}
		for i, d := range dvariance {
			linalg.Axpy(2*d, src.RawRowView(first+i), dst.RawRowView(first+i))
		}
	}
	adjoint(o.u, o.t)
	for i := range rows {
		t, u := o.t.RawRowView(i), o.u.RawRowView(i)
		for k := range p {
			grad.LogS[k] += u[k] * t[k]
		}
	}
	linalg.ScaleColumns(o.u, o.u, s)
	if e.low != nil {
		pbar := mat.NewDense(rows, v.Rank(), nil)
		adjoint(pbar, e.low)
		linalg.Mul(grad.Ut, 1, linalg.T, pbar, linalg.N, o.j, 0)
		linalg.Mul(o.u, 1, linalg.N, pbar, linalg.N, v.Ut, 1)
	}
	o.tape.TangentGrad(grad.M, nil, o.u)
}

// divergence returns D^γ at the measurement points, given J∘s in o.t and JU.
func (o *objective) divergence(b batch, low *mat.Dense) (*variational.Divergence, error) {
	m := b.measure
	q, k := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	linalg.Syrk(q, 1, linalg.N, shape.Rows(o.t, 0, m), 0)
	if low != nil {
		linalg.Syrk(q, 1, linalg.N, shape.Rows(low, 0, m), 1)
	}
	o.process.Kernel.Gram(k, shape.Rows(b.x, 0, m))
	delta := make([]float64, m)
	for i, f := range o.tape.Value()[:m] {
		delta[i] = f - o.process.Mean
	}
	d, err := variational.NewDivergence(delta, q, k, o.gamma*float64(m))
	if err != nil {
		return nil, fmt.Errorf("gfsvi: divergence from the prior: %w", err)
	}
	return d, nil
}
