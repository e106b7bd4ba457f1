package gfsvi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/prior"
)

// variational is q(w) = N(m, diag(s²) + UUᵀ) and the noise, as parts of one
// vector that training moves: m, log s, the rows of Uᵀ, log σ.
type variational struct {
	m, logS []float64
	ut      *mat.Dense // Uᵀ, rank×p; nil for rank 0
	logSD   []float64  // log σ, of length 1
	vector  []float64
}

func newVariational(p, rank int) *variational {
	return cut(make([]float64, (2+rank)*p+1), p, rank)
}

func cut(vector []float64, p, rank int) *variational {
	v := &variational{vector: vector, m: vector[:p], logS: vector[p : 2*p], logSD: vector[(2+rank)*p:]}
	if rank > 0 {
		v.ut = mat.NewDense(rank, p, vector[2*p:(2+rank)*p])
	}
	return v
}

func (v *variational) rank() int {
	if v.ut == nil {
		return 0
	}
	r, _ := v.ut.Dims()
	return r
}

// scales returns s.
func (v *variational) scales() []float64 {
	s := make([]float64, len(v.logS))
	for i, l := range v.logS {
		s[i] = math.Exp(l)
	}
	return s
}

// batch is what one evaluation of the objective looks at: a row of x for each
// measurement point and each observation. The first measure rows are the
// measurement points, the last len(y) the observations; they may overlap.
type batch struct {
	x       *mat.Dense // in the dataset's units
	measure int
	y       []float64
	weight  float64 // N/B
}

// objective is the negative of the generalised evidence bound,
//
//	F = (N/B) Σ_batch [ ½ log 2πσ² + ((y - f(x,m))² + J S Jᵀ)/(2σ²) ] + D^γ
//	D^γ = KL( N(f(C,m), J S Jᵀ + γM I) ‖ N(μ, K + γM I) ),  S = diag(s²) + UUᵀ,
//
// J = J(x; m), at a batch.
type objective struct {
	net     *nn.Network
	inputs  fspace.Affine
	process prior.Process
	gamma   float64

	tape    nn.Tape
	j, t, u *mat.Dense // J, J∘s, and the adjoint of J
}

// prepare records the network at the batch and its Jacobian.
func (o *objective) prepare(v *variational, b batch) {
	o.tape.Record(o.net, v.m, o.inputs.Apply(b.x))
	rows, p := o.tape.Len(), o.tape.NumParams()
	if o.j == nil || o.j.RawMatrix().Rows != rows {
		o.j, o.t, o.u = mat.NewDense(rows, p, nil), mat.NewDense(rows, p, nil), mat.NewDense(rows, p, nil)
	}
	o.tape.Jacobian(o.j)
}

// eval returns F and, unless grad is nil, writes its gradient there. It costs
// O(M²p + M³ + (M+B)p(1+r)) for a rank of r.
func (o *objective) eval(v *variational, b batch, grad *variational) (float64, error) {
	e, err := o.forward(v, b)
	if err != nil {
		return 0, err
	}
	sd2 := math.Exp(2 * v.logSD[0])
	var sum float64
	for i, y := range b.y {
		r := e.mean[i] - y
		sum += r*r + e.variance[i]
	}
	n := float64(len(b.y))
	value := e.divergence.Value + b.weight*(0.5*n*math.Log(2*math.Pi)+n*v.logSD[0]+sum/(2*sd2))
	if grad == nil {
		return value, nil
	}
	dmean, dvariance := make([]float64, len(b.y)), make([]float64, len(b.y))
	for i, y := range b.y {
		dmean[i] = b.weight / sd2 * (e.mean[i] - y)
		dvariance[i] = b.weight / (2 * sd2)
	}
	o.backward(v, b, e, dmean, dvariance, grad)
	grad.logSD[0] = b.weight * (n - sum/sd2)
	return value, nil
}

// evaluated is what the likelihood needs: the divergence, and the moments of f at
// the observations of a batch.
type evaluated struct {
	divergence     *fspace.Divergence
	low            *mat.Dense // J U; nil for rank 0
	mean, variance []float64
}

// forward records the network at the batch.
func (o *objective) forward(v *variational, b batch) (*evaluated, error) {
	o.prepare(v, b)
	rows, _ := o.j.Dims()
	mulColumns(o.t, o.j, v.scales())
	e := &evaluated{}
	if r := v.rank(); r > 0 {
		e.low = mat.NewDense(rows, r, nil)
		linalg.Mul(e.low, 1, linalg.N, o.j, linalg.T, v.ut, 0)
	}
	var err error
	if e.divergence, err = o.divergence(b, e.low); err != nil {
		return nil, err
	}
	variance := make([]float64, rows)
	addSquaredNorms(variance, o.t)
	if e.low != nil {
		addSquaredNorms(variance, e.low)
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
func (o *objective) backward(v *variational, b batch, e *evaluated, dmean, dvariance []float64, grad *variational) {
	rows, p := o.j.Dims()
	first := rows - len(b.y)
	s := v.scales()
	clear(grad.vector)
	fbar := make([]float64, rows)
	copy(fbar, e.divergence.Delta)
	linalg.Axpy(1, dmean, fbar[first:])
	o.tape.VJP(grad.m, fbar)

	// With Σ = TTᵀ + PPᵀ, T = J∘s and P = JU: T̄ = 2 Σ̄ T, P̄ = 2 Σ̄ P, and
	// J̄ = T̄∘s + P̄Uᵀ.
	g := e.divergence.Q()
	adjoint := func(dst, src *mat.Dense) {
		_, k := src.Dims()
		linalg.Mul(head(dst, b.measure), 2, linalg.N, g, linalg.N, head(src, b.measure), 0)
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
			grad.logS[k] += u[k] * t[k]
		}
	}
	mulColumns(o.u, o.u, s)
	if e.low != nil {
		pbar := mat.NewDense(rows, v.rank(), nil)
		adjoint(pbar, e.low)
		linalg.Mul(grad.ut, 1, linalg.T, pbar, linalg.N, o.j, 0)
		linalg.Mul(o.u, 1, linalg.N, pbar, linalg.N, v.ut, 1)
	}
	o.tape.JVPParamVJP(grad.m, o.u)
}

// divergence is D^γ at the measurement points, given J∘s in o.t and JU.
func (o *objective) divergence(b batch, low *mat.Dense) (*fspace.Divergence, error) {
	m := b.measure
	q, k := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	linalg.Syrk(q, 1, linalg.N, head(o.t, m), 0)
	if low != nil {
		linalg.Syrk(q, 1, linalg.N, head(low, m), 1)
	}
	o.process.Kernel.Gram(k, head(b.x, m))
	delta := make([]float64, m)
	for i, f := range o.tape.Value()[:m] {
		delta[i] = f - o.process.Mean
	}
	d, err := fspace.NewDivergence(delta, q, k, o.gamma*float64(m))
	if err != nil {
		return nil, fmt.Errorf("gfsvi: divergence from the prior: %w", err)
	}
	return d, nil
}

// head is the first n rows of a.
func head(a *mat.Dense, n int) *mat.Dense {
	_, c := a.Dims()
	return a.Slice(0, n, 0, c).(*mat.Dense)
}

// mulColumns writes a with its columns multiplied by s to dst, which may be a.
func mulColumns(dst, a *mat.Dense, s []float64) {
	n, _ := a.Dims()
	for i := range n {
		d := dst.RawRowView(i)
		for k, v := range a.RawRowView(i) {
			d[k] = v * s[k]
		}
	}
}

func addSquaredNorms(dst []float64, a *mat.Dense) {
	for i := range dst {
		row := a.RawRowView(i)
		dst[i] += linalg.Dot(row, row)
	}
}
