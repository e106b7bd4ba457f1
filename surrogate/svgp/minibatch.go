package svgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// gaussian is q(v) = N(m, S) by its natural parameters Λ = S⁻¹ and Λm.
type gaussian struct {
	precision *mat.SymDense
	shift     []float64

	chol *linalg.Cholesky // factor of Λ
	m    []float64
	s    *mat.SymDense
}

// optimal returns the optimal q of the collapsed bound.
func optimal(c *collapsed) (*gaussian, error) {
	m := len(c.m)
	lower := mat.NewDense(m, m, nil)
	c.b.Lower(lower)
	q := standard(m)
	linalg.Syrk(q.precision, 1, linalg.N, lower, 0)
	linalg.MulVec(q.shift, 1, linalg.T, lower, c.m, 0)
	linalg.MulVec(q.shift, 1, linalg.N, lower, append([]float64(nil), q.shift...), 0)
	return q, q.refresh()
}

// standard returns N(0, I).
func standard(m int) *gaussian {
	q := &gaussian{precision: mat.NewSymDense(m, nil), shift: make([]float64, m), m: make([]float64, m), s: mat.NewSymDense(m, nil)}
	linalg.AddDiagonal(q.precision, 1)
	return q
}

// step takes a natural-gradient step of length rate towards Λ = I + weight·WWᵀ, Λm = weight·Wr. W and the
// residuals r are of a batch, and weight = n/(bσ²).
func (q *gaussian) step(rate, weight float64, w *mat.Dense, r []float64) error {
	linalg.Syrk(q.precision, rate*weight, linalg.N, w, 1-rate)
	linalg.AddDiagonal(q.precision, rate)
	linalg.MulVec(q.shift, rate*weight, linalg.N, w, r, 1-rate)
	return q.refresh()
}

// refresh computes m and S from the natural parameters.
func (q *gaussian) refresh() error {
	var err error
	if q.chol, err = linalg.Factorize(q.precision); err != nil {
		return fmt.Errorf("svgp: precision of the inducing values: %w", err)
	}
	copy(q.m, q.shift)
	q.chol.SolveVec(q.m)
	q.chol.Inverse(q.s)
	return nil
}

// kl returns KL(q ‖ N(0,I)).
func (q *gaussian) kl() float64 {
	return 0.5 * (mat.Trace(q.s) + linalg.Dot(q.m, q.m) - float64(len(q.m)) + q.chol.LogDet())
}

// batch is a minibatch at given hyperparameters and inducing points.
type batch struct {
	pathwise.Basis
	x     *mat.Dense
	r     []float64  // y - μ
	scale float64    // n/b
	w     *mat.Dense // w(x)
}

func newBatch(process prior.Process, z, x *mat.Dense, r []float64, n int) (*batch, error) {
	basis, err := pathwise.NewBasis(process, z)
	if err != nil {
		return nil, fmt.Errorf("svgp: %w", err)
	}
	return &batch{basis, x, r, float64(n) / float64(len(r)), basis.Eval(x)}, nil
}

// bound returns Hensman's bound. Unless dtheta is nil, it also computes derivatives. It adds
// the derivatives with respect to the kernel's log hyperparameters to dtheta. Unless dz is
// nil, it adds the derivatives with respect to Z to dz. dnoise is the derivative with
// respect to σ².
func (b *batch) bound(q *gaussian, dtheta []float64, dz *mat.Dense) (value, dnoise float64) {
	m, n := b.w.Dims()
	noise := b.Process.Noise
	e := append([]float64(nil), b.r...)
	linalg.MulVec(e, -1, linalg.T, b.w, q.m, 1)
	spread := make([]float64, n) // k_ii - |w_i|² + w_iᵀS w_i
	b.Process.Kernel.Diag(spread, b.x)
	less := mat.NewDense(m, n, nil) // (I - S)W
	s := mat.NewDense(m, m, nil)
	s.Copy(q.s)
	less.Copy(b.w)
	linalg.Mul(less, -1, linalg.N, s, linalg.N, b.w, 1)
	for i := range m {
		row, gap := b.w.RawRowView(i), less.RawRowView(i)
		for j, v := range row {
			spread[j] -= v * gap[j]
		}
	}
	var sum float64
	for i, v := range e {
		sum += v*v + spread[i]
	}
	value = b.scale*-0.5*(float64(n)*math.Log(2*math.Pi*noise)+sum/noise) - q.kl()
	if dtheta == nil {
		return value, 0
	}

	// The adjoint of W, in less.
	for i := range m {
		row := less.RawRowView(i)
		for j := range row {
			row[j] = b.scale / noise * (row[j] + q.m[i]*e[j])
		}
	}
	b.L.SolveUpper(less)
	kernelgrad.CrossParam(b.Process.Kernel, dtheta, b.Z, b.x, less)
	linalg.Fill(spread, -0.5*b.scale/noise)
	kernelgrad.DiagParam(b.Process.Kernel, dtheta, b.x, spread)
	lbar := mat.NewDense(m, m, nil)
	linalg.Mul(lbar, -1, linalg.N, less, linalg.T, b.w, 0)
	pbar := b.L.CholeskyVJP(lbar)
	b.Process.Kernel.ParamVJP(dtheta, b.Z, pbar)
	if dz != nil {
		b.Process.Kernel.CrossVJP(dz, b.Z, b.x, less)
		kernelgrad.Gram(b.Process.Kernel, dz, b.Z, pbar)
	}
	return value, b.scale * 0.5 * (sum/noise - float64(n)) / noise
}

// minibatch maximises Hensman's bound from v. q starts at its optimum. Each batch gives a
// step of Adam in the other variables and a natural-gradient step of length b/n in q.
// Thus q depends on about the last n observations. The gradient for Adam uses q before
// its step, because residuals to which q is already fitted would lower the noise
// variance. The mean stays the mean of the targets.
func (p *problem) minibatch(ctx context.Context, v []float64, rng *rand.Rand) ([]float64, error) {
	n, _ := p.x.Dims()
	size, steps := min(p.Batch, n), cmp.Or(p.Steps, 1000)
	process, z := p.unpack(v)
	c, err := newCollapsed(ctx, data{x: p.x, y: p.y}, process, z)
	if err != nil {
		return nil, err
	}
	q, err := optimal(c)
	if err != nil {
		return nil, err
	}
	opt, grad := optimize.Adam{}, make([]float64, len(v))
	lo, hi := p.hyper.Bounds(len(v), math.Inf(1))
	order, at := subset.All(n), n
	s := train.Schedule{Phase: "minibatches", Steps: steps, Every: 10, Rate: p.Rate, End: 1}
	err = s.Run(ctx, func(_ int, rate float64) error {
		if at+size > n {
			shuffle(order, rng)
			at = 0
		}
		x, r := subset.TakeBoth(p.x, p.y, order[at:at+size])
		at += size
		process, z := p.unpack(v)
		b, err := newBatch(process, z, x, r, n)
		if err != nil {
			return err
		}
		dtheta, dz := p.derivatives()
		_, dnoise := b.bound(q, dtheta, dz)
		if err := q.step(1/b.scale, b.scale/process.Noise, b.w, r); err != nil {
			return err
		}
		p.pack(grad, v, dtheta, dnoise, dz)
		opt.Step(rate, v, grad)
		optimize.Clip(v, lo, hi)
		return nil
	})
	return v, err
}
