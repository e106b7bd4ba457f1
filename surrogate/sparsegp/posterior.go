package sparsegp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// varianceFloor is the smallest variance reported, relative to the mean prior
// variance of the inducing points.
const varianceFloor = 1e-12

// predictChunk is how many points are predicted at once.
const predictChunk = 256

// posterior is q: with w(x) = L⁻¹k(Z,x),
//
//	mean(x) = μ + w(x)ᵀm,  cov(x,x') = k(x,x') - w(x)ᵀ(I - B⁻¹)w(x')
type posterior struct {
	process prior.Process
	z       *mat.Dense
	l, b    *linalg.Cholesky
	m       []float64
	weights []float64 // L⁻ᵀm: mean(x) = μ + k(x,Z)·weights
	floor   float64
	bound   float64

	state    surrogate.State
	warnings []string
}

var (
	_ surrogate.Evidence  = (*posterior)(nil)
	_ surrogate.Stater    = (*posterior)(nil)
	_ surrogate.Describer = (*posterior)(nil)
)

func newPosterior(c *collapsed, shift float64, state []float64, warnings []string) *posterior {
	p := &posterior{process: c.process, z: c.z, l: c.l, b: c.b, m: c.m, bound: c.value, state: state, warnings: warnings}
	p.process.Mean += shift
	p.weights = slices.Clone(c.m)
	p.l.SolveUpperVec(p.weights)
	m := len(c.m)
	diag := make([]float64, m)
	p.process.Kernel.Diag(diag, p.z)
	for _, v := range diag {
		p.floor += varianceFloor * v / float64(m)
	}
	return p
}

func (p *posterior) Dim() int               { return p.process.Kernel.Dim() }
func (p *posterior) Noise() float64         { return p.process.Noise }
func (p *posterior) Warnings() []string     { return slices.Clone(p.warnings) }
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// LogMarginalLikelihood is the collapsed bound, never above the log marginal
// likelihood and equal to it with Z = X.
func (p *posterior) LogMarginalLikelihood() float64 { return p.bound }

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	var out []surrogate.Hyper
	for _, h := range p.process.Kernel.Params() {
		out = append(out, surrogate.Hyper{Name: h.Name, Value: h.Value})
	}
	return append(out,
		surrogate.Hyper{Name: "noise", Value: p.process.Noise},
		surrogate.Hyper{Name: "mean", Value: p.process.Mean},
		surrogate.Hyper{Name: "inducing points", Value: float64(len(p.m))})
}

// moments writes the mean and the unclamped variance at the rows of x, and
// returns W and (I - B⁻¹)W.
func (p *posterior) moments(mean, variance []float64, x *mat.Dense) (w, less *mat.Dense) {
	n, _ := x.Dims()
	w = mat.NewDense(len(p.m), n, nil)
	p.process.Kernel.Cross(w, p.z, x)
	for i := range mean {
		mean[i] = p.process.Mean
	}
	for i, a := range p.weights {
		linalg.Axpy(a, w.RawRowView(i), mean)
	}
	p.l.SolveLower(w)
	p.process.Kernel.Diag(variance, x)
	less = mat.DenseCopyOf(w)
	p.b.Solve(less)
	for i := range p.m {
		row, gap := w.RawRowView(i), less.RawRowView(i)
		for j, v := range row {
			gap[j] = v - gap[j]
			variance[j] -= v * gap[j]
		}
	}
	return w, less
}

// Predict costs O(m²) a point.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	for lo := 0; lo < n; lo += predictChunk {
		hi := min(lo+predictChunk, n)
		p.moments(mean[lo:hi], variance[lo:hi], rows(x, lo, hi))
		clamp(variance[lo:hi], p.floor)
	}
}

// PredictGrad costs O(m²) a point and two kernel gradients. Where the variance
// stands at its floor its gradient is zero.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	shape.Dims("dmean", dmean, n, p.Dim())
	shape.Dims("dvariance", dvariance, n, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	for lo := 0; lo < n; lo += predictChunk {
		hi := min(lo+predictChunk, n)
		xc := rows(x, lo, hi)
		_, less := p.moments(mean[lo:hi], variance[lo:hi], xc)
		free := clamp(variance[lo:hi], p.floor)

		kbar := mat.NewDense(hi-lo, len(p.m), nil)
		for i := range hi - lo {
			copy(kbar.RawRowView(i), p.weights)
		}
		p.process.Kernel.CrossVJP(rows(dmean, lo, hi), xc, p.z, kbar)

		p.l.SolveUpper(less)
		kbar.Copy(less.T())
		for i, f := range free {
			row := kbar.RawRowView(i)
			for j := range row {
				row[j] *= -2 * f
			}
		}
		p.process.Kernel.DiagVJP(rows(dvariance, lo, hi), xc, free)
		p.process.Kernel.CrossVJP(rows(dvariance, lo, hi), xc, p.z, kbar)
	}
}

// Joint costs O(nm² + n²m) for n points.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("cov", cov.SymmetricDim(), n)
	w, _ := p.moments(mean, make([]float64, n), x)
	p.process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, w, 1)
	p.b.SolveLower(w)
	linalg.Syrk(cov, 1, linalg.T, w, 1)
	for i := range n {
		cov.SetSym(i, i, max(cov.At(i, i), p.floor))
	}
}

// JointVJP costs O(nm² + n²m). With C̄ = cbar and m̄ = mbar the adjoint of
// k(Z,x) is L⁻ᵀ(m m̄ᵀ - 2(I - B⁻¹)W C̄) and that of k(x,x) is C̄. A variance at
// its floor counts as a constant.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mbar", len(mbar), n)
	shape.Len("cbar", cbar.SymmetricDim(), n)
	shape.Dims("dx", dx, n, p.Dim())
	diag := make([]float64, n)
	_, less := p.moments(make([]float64, n), diag, x)
	c := mat.NewSymDense(n, nil)
	c.CopySym(cbar)
	for i, free := range clamp(diag, p.floor) {
		c.SetSym(i, i, free*c.At(i, i))
	}
	p.l.SolveUpper(less)
	kbar := mat.NewDense(n, len(p.m), nil)
	for i, w := range mbar {
		linalg.Axpy(w, p.weights, kbar.RawRowView(i))
	}
	full := mat.NewDense(n, n, nil)
	full.Copy(c)
	linalg.Mul(kbar, -2, linalg.N, full, linalg.T, less, 1)
	p.process.Kernel.CrossVJP(dx, x, p.z, kbar)
	prior.GramVJP(p.process.Kernel, dx, x, c)
}

// pathFeatures is how many random features carry the prior part of a path.
const pathFeatures = 512

// Paths draws functions by Matheron's rule (Wilson et al. 2020, eq. 13): a draw
// f₀ of the prior, corrected to take values drawn from q at the inducing points,
//
//	f(x) = f₀(x) + k(x,Z) L⁻ᵀ( v - L⁻¹(f₀(Z) - μ) ),  v ~ N(m, B⁻¹)
//
// A kernel that is not positive definite, without features of its own, panics.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	draws, err := p.process.Draw(n, pathFeatures, rng)
	if err != nil {
		panic(fmt.Sprintf("sparsegp: %v", err))
	}
	jitter := math.Sqrt(p.l.Jitter())
	paths := make([]surrogate.Path, n)
	for i, draw := range draws {
		v, w := make([]float64, len(p.m)), make([]float64, len(p.m))
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		p.b.SolveUpperVec(v)
		draw.Eval(w, nil, p.z)
		for j := range w {
			w[j] -= p.process.Mean
			if jitter > 0 {
				w[j] += jitter * rng.NormFloat64()
			}
		}
		p.l.SolveLowerVec(w)
		for j := range w {
			w[j] = p.m[j] + v[j] - w[j]
		}
		p.l.SolveUpperVec(w)
		paths[i] = &path{draw, p, w}
	}
	return paths
}

// path is the draw of the prior plus Σ_j weights_j k(x, z_j).
type path struct {
	draw    prior.Function
	p       *posterior
	weights []float64
}

// Eval costs one kernel value, and for the gradient one kernel gradient, per
// inducing point and point, beside the prior draw.
func (q *path) Eval(value []float64, grad, x *mat.Dense) {
	n := shape.Points(x, q.p.Dim())
	shape.Len("value", len(value), n)
	if grad != nil {
		shape.Dims("grad", grad, n, q.p.Dim())
	}
	q.draw.Eval(value, grad, x)
	for lo := 0; lo < n; lo += predictChunk {
		hi := min(lo+predictChunk, n)
		xc, k := rows(x, lo, hi), mat.NewDense(hi-lo, len(q.weights), nil)
		q.p.process.Kernel.Cross(k, xc, q.p.z)
		linalg.MulVec(value[lo:hi], 1, linalg.N, k, q.weights, 1)
		if grad != nil {
			for i := range hi - lo {
				copy(k.RawRowView(i), q.weights)
			}
			q.p.process.Kernel.CrossVJP(rows(grad, lo, hi), xc, q.p.z, k)
		}
	}
}

// clamp raises variances to the floor and returns 1 for each that was above it,
// 0 for the others.
func clamp(variance []float64, floor float64) []float64 {
	free := make([]float64, len(variance))
	for i, v := range variance {
		if v > floor {
			free[i] = 1
		} else {
			variance[i] = floor
		}
	}
	return free
}

func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}
