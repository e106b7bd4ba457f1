package svgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
)

const (
	chunk     = 1024    // observations of one block of W
	keepLimit = 1 << 23 // largest size of W that is kept for the gradient
)

// data holds the observations, with a fixed shift subtracted from the targets.
type data struct {
	x         *mat.Dense
	y         []float64
	learnMean bool
}

// collapsed is the bound at given hyperparameters and inducing points, with the optimal
// q: v ~ N(m, B⁻¹).
type collapsed struct {
	pathwise.Basis                  // the mean is relative to the data's shift
	b              *linalg.Cholesky // factor of B
	m              []float64

	value    float64
	residual float64      // Σ_i k(x_i,x_i) - |w(x_i)|²
	kept     []*mat.Dense // blocks of W, if it is small
}

// newCollapsed computes the bound in 2nm² flops.
func newCollapsed(ctx context.Context, d data, p prior.Process, z *mat.Dense) (*collapsed, error) {
	n, _ := d.x.Dims()
	m, _ := z.Dims()
	basis, err := pathwise.NewBasis(p, z)
	if err != nil {
		return nil, fmt.Errorf("svgp: %w", err)
	}
	c := &collapsed{Basis: basis}
	ww := mat.NewSymDense(m, nil)
	wy, w1, ones := make([]float64, m), make([]float64, m), slices.Repeat([]float64{1}, chunk)
	diag := make([]float64, chunk)
	for lo := 0; lo < n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+chunk, n)
		w := c.Eval(shape.Rows(d.x, lo, hi))
		if n*m <= keepLimit {
			c.kept = append(c.kept, w)
		}
		linalg.Syrk(ww, 1, linalg.N, w, 1)
		linalg.MulVec(wy, 1, linalg.N, w, d.y[lo:hi], 1)
		linalg.MulVec(w1, 1, linalg.N, w, ones[:hi-lo], 1)
		p.Kernel.Diag(diag[:hi-lo], shape.Rows(d.x, lo, hi))
		for _, v := range diag[:hi-lo] {
			c.residual += v
		}
	}
	b := mat.NewSymDense(m, nil)
	for i := range m {
		c.residual -= ww.At(i, i)
		for j := i; j < m; j++ {
			b.SetSym(i, j, ww.At(i, j)/p.Noise)
		}
	}
	linalg.AddDiagonal(b, 1)
	if c.b, err = linalg.Factorize(b); err != nil {
		return nil, fmt.Errorf("svgp: precision of the inducing values: %w", err)
	}

	// With u = L_B⁻¹Wy/σ² and v = L_B⁻¹W1/σ², 1ᵀ(Q+σ²I)⁻¹y = (1ᵀy - σ²v·u)/σ².
	for i := range m {
		wy[i] /= p.Noise
		w1[i] /= p.Noise
	}
	c.b.SolveLowerVec(wy)
	c.b.SolveLowerVec(w1)
	if d.learnMean {
		var sum float64
		for _, v := range d.y {
			sum += v
		}
		c.Process.Mean = (sum - p.Noise*linalg.Dot(w1, wy)) / (float64(n) - p.Noise*linalg.Dot(w1, w1))
	}
	linalg.Axpy(-c.Process.Mean, w1, wy)
	var rr float64
	for _, v := range d.y {
		rr += (v - c.Process.Mean) * (v - c.Process.Mean)
	}
	c.value = -0.5 * (float64(n)*math.Log(2*math.Pi*p.Noise) + c.b.LogDet() + rr/p.Noise - linalg.Dot(wy, wy) + c.residual/p.Noise)
	c.b.SolveUpperVec(wy)
	c.m = wy
	return c, nil
}

// gradient adds the derivatives of the bound with respect to the kernel's log
// hyperparameters to dtheta. Unless dz is nil, it adds the derivatives with respect to Z
// to dz. It returns the derivative with respect to σ². With α = (y - μ - Wᵀm)/σ²,
//
//	∂/∂k(Z,X) = L⁻ᵀ[ m αᵀ + (I - B⁻¹)W/σ² ],  ∂/∂k(Z,Z) = -½ L⁻ᵀ[ m mᵀ + B - 2I + B⁻¹ ]L⁻¹
func (c *collapsed) gradient(ctx context.Context, d data, dtheta []float64, dz *mat.Dense) (dnoise float64, err error) {
	n, _ := d.x.Dims()
	m := len(c.m)
	noise := c.Process.Noise
	inverse := mat.NewSymDense(m, nil)
	c.b.Inverse(inverse)

	h, traceInverse := mat.NewDense(m, m, nil), 0.0 // L⁻ᵀ(I - B⁻¹)/σ²
	for i := range m {
		traceInverse += inverse.At(i, i)
		row := h.RawRowView(i)
		for j := range row {
			row[j] = -inverse.At(i, j) / noise
		}
		row[i] += 1 / noise
	}
	c.L.SolveUpper(h)
	lm := slices.Clone(c.m)
	c.L.SolveUpperVec(lm)

	var alpha2 float64
	alpha, diagBar := make([]float64, chunk), make([]float64, chunk)
	linalg.Fill(diagBar, -0.5/noise)
	for lo := 0; lo < n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		hi := min(lo+chunk, n)
		x, alpha := shape.Rows(d.x, lo, hi), alpha[:hi-lo]
		w := c.block(lo, x)
		for i := range alpha {
			alpha[i] = (d.y[lo+i] - c.Process.Mean) / noise
		}
		linalg.MulVec(alpha, -1/noise, linalg.T, w, c.m, 1)
		alpha2 += linalg.Dot(alpha, alpha)
		fbar := mat.NewDense(m, hi-lo, nil)
		linalg.Mul(fbar, 1, linalg.N, h, linalg.N, w, 0)
		for i, v := range lm {
			linalg.Axpy(v, alpha, fbar.RawRowView(i))
		}
		kernelgrad.CrossParam(c.Process.Kernel, dtheta, c.Z, x, fbar)
		kernelgrad.DiagParam(c.Process.Kernel, dtheta, x, diagBar[:hi-lo])
		if dz != nil {
			c.Process.Kernel.CrossVJP(dz, c.Z, x, fbar)
		}
	}

	lower := mat.NewDense(m, m, nil)
	c.b.Lower(lower)
	inner := mat.NewSymDense(m, nil) // m mᵀ + B - 2I + B⁻¹
	inner.CopySym(inverse)
	linalg.Syrk(inner, 1, linalg.N, lower, 1)
	for i := range m {
		for j := i; j < m; j++ {
			inner.SetSym(i, j, inner.At(i, j)+c.m[i]*c.m[j])
		}
	}
	linalg.AddDiagonal(inner, -2)
	pbar := c.sandwich(inner, -0.5)
	c.Process.Kernel.ParamVJP(dtheta, c.Z, pbar)
	if dz != nil {
		kernelgrad.Gram(c.Process.Kernel, dz, c.Z, pbar)
	}
	traceS := (float64(n-m) + traceInverse) / noise
	return 0.5*(alpha2-traceS) + c.residual/(2*noise*noise), nil
}

// sandwich returns s·L⁻ᵀ a L⁻¹.
func (c *collapsed) sandwich(a *mat.SymDense, s float64) *mat.SymDense {
	full := mat.DenseCopyOf(a)
	c.L.SolveUpper(full)
	other := mat.DenseCopyOf(full.T())
	c.L.SolveUpper(other)
	out := linalg.Symmetric(other)
	out.ScaleSym(s, out)
	return out
}

// block returns W for the block of observations that starts at lo.
func (c *collapsed) block(lo int, x *mat.Dense) *mat.Dense {
	if c.kept != nil {
		return c.kept[lo/chunk]
	}
	return c.Eval(x)
}
