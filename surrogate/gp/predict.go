package gp

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
)

// chunk is how many points are predicted at once: enough columns to keep the
// triangular solve busy, few enough for n×chunk numbers to stay in cache.
func chunk(n int) int { return max(256, 1<<16/n) }

// Predict costs n²m flops. The variance never falls below 1e-12 of the prior
// variance.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	m, _ := x.Dims()
	shape.Dims("x", x, m, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	n := len(p.y)
	step := min(m, chunk(n))
	work := make([]float64, n*step)
	for lo := 0; lo < m; lo += step {
		hi := min(lo+step, m)
		k := mat.NewDense(n, hi-lo, work[:n*(hi-lo)])
		p.moments(mean[lo:hi], variance[lo:hi], k, rows(x, lo, hi))
		clamp(variance[lo:hi], p.floor)
	}
}

// PredictGrad costs 2n²m flops and two kernel gradients. Where the variance
// stands at its floor its gradient is zero.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m, _ := x.Dims()
	shape.Dims("x", x, m, p.Dim())
	shape.Dims("dmean", dmean, m, p.Dim())
	shape.Dims("dvariance", dvariance, m, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	n := len(p.y)
	step := min(m, chunk(n))
	work, bar := make([]float64, n*step), make([]float64, n*step)
	dmean.Zero()
	dvariance.Zero()
	for lo := 0; lo < m; lo += step {
		hi := min(lo+step, m)
		c := hi - lo
		xc, k, kbar := rows(x, lo, hi), mat.NewDense(n, c, work[:n*c]), mat.NewDense(c, n, bar[:n*c])
		v := variance[lo:hi]
		p.moments(mean[lo:hi], v, k, xc)

		for i := range c {
			copy(kbar.RawRowView(i), p.alpha)
		}
		p.process.Kernel.CrossVJP(rows(dmean, lo, hi), xc, p.x, kbar)

		p.factor.SolveUpper(k)
		free := clamp(v, p.floor)
		transposeInto(kbar, k)
		for i := range c {
			row := kbar.RawRowView(i)
			for j := range row {
				row[j] *= -2 * free[i]
			}
		}
		p.process.Kernel.DiagVJP(rows(dvariance, lo, hi), xc, free)
		p.process.Kernel.CrossVJP(rows(dvariance, lo, hi), xc, p.x, kbar)
	}
}

// moments writes the mean and the unclamped variance at the rows of x, and
// leaves L⁻¹k(X,x) in k (n×m).
func (p *posterior) moments(mean, variance []float64, k, x *mat.Dense) {
	p.process.Kernel.Cross(k, p.x, x)
	for i := range mean {
		mean[i] = p.process.Mean
	}
	for i, a := range p.alpha {
		linalg.Axpy(a, k.RawRowView(i), mean)
	}
	p.factor.SolveLower(k)
	p.process.Kernel.Diag(variance, x)
	for i := range p.alpha {
		for j, w := range k.RawRowView(i) {
			variance[j] -= w * w
		}
	}
}

// clamp raises variances to the floor and returns 1 for each that was above it,
// 0 for the others: the derivative of the clamp.
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

// Joint costs n²m + nm² flops.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m, _ := x.Dims()
	shape.Dims("x", x, m, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("cov", cov.SymmetricDim(), m)
	k := mat.NewDense(len(p.y), m, nil)
	p.process.Kernel.Cross(k, p.x, x)
	linalg.MulVec(mean, 1, linalg.T, k, p.alpha, 0)
	for i := range mean {
		mean[i] += p.process.Mean
	}
	p.factor.SolveLower(k)
	p.process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, k, 1)
	for i := range m {
		cov.SetSym(i, i, max(cov.At(i, i), p.floor))
	}
}

// JointVJP costs 2n²m + nm² flops and two kernel gradients. With C̄ = cbar,
// m̄ = mbar and B = A⁻¹k(X,x), the adjoint of k(x,X) is m̄αᵀ - 2C̄Bᵀ and that of
// k(x,x) is C̄. A variance at its floor counts as a constant.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, _ := x.Dims()
	shape.Dims("x", x, m, p.Dim())
	shape.Dims("dx", dx, m, p.Dim())
	shape.Len("mbar", len(mbar), m)
	shape.Len("cbar", cbar.SymmetricDim(), m)
	n := len(p.y)
	k := mat.NewDense(n, m, nil)
	mean, diag := make([]float64, m), make([]float64, m)
	p.moments(mean, diag, k, x)
	p.factor.SolveUpper(k)

	c := mat.NewSymDense(m, nil)
	c.CopySym(cbar)
	for i, free := range clamp(diag, p.floor) {
		c.SetSym(i, i, free*c.At(i, i))
	}
	kbar := mat.NewDense(m, n, nil)
	for i, w := range mbar {
		linalg.Axpy(w, p.alpha, kbar.RawRowView(i))
	}
	linalg.Mul(kbar, -2, linalg.N, mat.DenseCopyOf(c), linalg.T, k, 1)
	p.process.Kernel.CrossVJP(dx, x, p.x, kbar)
	prior.GramVJP(p.process.Kernel, dx, x, c)
}

func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}

// transposeInto writes aᵀ to dst.
func transposeInto(dst, a *mat.Dense) {
	raw := dst.RawMatrix()
	for i := range raw.Cols {
		for j, v := range a.RawRowView(i) {
			raw.Data[j*raw.Stride+i] = v
		}
	}
}
