// Package linalg holds the dense linear algebra of the hot paths: Cholesky
// factors with reported jitter, solves, products. All of the module's hot code
// goes through it, so that faster kernels have one place to go.
package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// ErrNotPositiveDefinite is returned when no permitted jitter makes a matrix
// positive definite, or when the matrix holds NaN.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// Cholesky is the factor of A + jitter·I = L Lᵀ. It is immutable.
type Cholesky struct {
	l      blas64.Triangular // lower
	jitter float64
}

// MaxJitter is the largest jitter that Factorize adds, relative to the mean
// diagonal entry.
const MaxJitter = 1e-4

// Factorize factors a, in n³/3 flops. If a is not numerically positive
// definite it adds jitter to the diagonal: 1e-10 of the mean diagonal entry,
// ten times more at each try, up to MaxJitter.
func Factorize(a *mat.SymDense) (*Cholesky, error) {
	n := a.SymmetricDim()
	var mean float64
	for i := range n {
		mean += a.At(i, i) / float64(n)
	}
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return nil, fmt.Errorf("%w: diagonal mean is %v", ErrNotPositiveDefinite, mean)
	}
	c := &Cholesky{l: blas64.Triangular{N: n, Stride: max(1, n), Data: make([]float64, n*n), Uplo: blas.Lower, Diag: blas.NonUnit}}
	for rel := 0.0; rel <= MaxJitter*1.001; rel = max(1e-10, rel*10) {
		if c.jitter = rel * mean; c.factor(a) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %d×%d, with jitter up to %.1g of the mean diagonal", ErrNotPositiveDefinite, n, n, MaxJitter)
}

func (c *Cholesky) factor(a *mat.SymDense) bool {
	n, raw, l := c.l.N, a.RawSymmetric(), c.l.Data
	for i := range n {
		for j := range i {
			l[i*n+j] = raw.Data[j*raw.Stride+i]
		}
		l[i*n+i] = raw.Data[i*raw.Stride+i] + c.jitter
		clear(l[i*n+i+1 : (i+1)*n])
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: c.l.Stride, Data: l, Uplo: blas.Lower})
	if !ok {
		return false
	}
	for i := range n {
		if d := l[i*n+i]; !(d > 0) || math.IsInf(d, 1) {
			return false
		}
	}
	return true
}

// N is the size of the matrix.
func (c *Cholesky) N() int { return c.l.N }

// Jitter is what was added to the diagonal; 0 for a clean factorisation.
func (c *Cholesky) Jitter() float64 { return c.jitter }

// At returns L_ij.
func (c *Cholesky) At(i, j int) float64 { return c.l.Data[i*c.l.Stride+j] }

// Row returns the first i+1 entries of row i of L. It must not be changed.
func (c *Cholesky) Row(i int) []float64 { return c.l.Data[i*c.l.Stride : i*c.l.Stride+i+1] }

// LogDet returns log det(A + jitter·I).
func (c *Cholesky) LogDet() float64 {
	var s float64
	for i := range c.l.N {
		s += math.Log(c.At(i, i))
	}
	return 2 * s
}

// SolveLower overwrites b (n×m) with L⁻¹ b.
func (c *Cholesky) SolveLower(b *mat.Dense) { c.trsm(blas.NoTrans, b) }

// SolveUpper overwrites b (n×m) with L⁻ᵀ b.
func (c *Cholesky) SolveUpper(b *mat.Dense) { c.trsm(blas.Trans, b) }

// Solve overwrites b (n×m) with (A + jitter·I)⁻¹ b.
func (c *Cholesky) Solve(b *mat.Dense) {
	c.SolveLower(b)
	c.SolveUpper(b)
}

func (c *Cholesky) trsm(t blas.Transpose, b *mat.Dense) {
	if c.l.N > 0 {
		blas64.Trsm(blas.Left, t, 1, c.l, b.RawMatrix())
	}
}

// SolveLowerVec overwrites b with L⁻¹ b.
func (c *Cholesky) SolveLowerVec(b []float64) { c.trsv(blas.NoTrans, b) }

// SolveUpperVec overwrites b with L⁻ᵀ b.
func (c *Cholesky) SolveUpperVec(b []float64) { c.trsv(blas.Trans, b) }

// SolveVec overwrites b with (A + jitter·I)⁻¹ b.
func (c *Cholesky) SolveVec(b []float64) {
	c.SolveLowerVec(b)
	c.SolveUpperVec(b)
}

func (c *Cholesky) trsv(t blas.Transpose, b []float64) {
	if len(b) != c.l.N {
		panic(fmt.Sprintf("linalg: vector of length %d, want %d", len(b), c.l.N))
	}
	if c.l.N > 0 {
		blas64.Trsv(t, c.l, blas64.Vector{N: len(b), Inc: 1, Data: b})
	}
}

// MulLowerVec overwrites b with L b.
func (c *Cholesky) MulLowerVec(b []float64) {
	if c.l.N > 0 {
		blas64.Trmv(blas.NoTrans, c.l, blas64.Vector{N: len(b), Inc: 1, Data: b})
	}
}

// Lower writes L, with zeros above the diagonal, to dst.
func (c *Cholesky) Lower(dst *mat.Dense) {
	for i := range c.l.N {
		row := dst.RawRowView(i)
		clear(row[copy(row, c.Row(i)):])
	}
}

// Inverse writes (A + jitter·I)⁻¹ to dst.
func (c *Cholesky) Inverse(dst *mat.SymDense) {
	n := c.l.N
	inv := mat.NewDense(n, n, nil)
	for i := range n {
		inv.Set(i, i, 1)
	}
	c.Solve(inv)
	for i := range n {
		for j := i; j < n; j++ {
			dst.SetSym(i, j, 0.5*(inv.At(i, j)+inv.At(j, i)))
		}
	}
}

// Extend returns the factor of the matrix bordered by m more rows: cross is
// n×m, corner m×m. It costs O(n²m). The corner gets the same absolute jitter
// as the matrix had.
func (c *Cholesky) Extend(cross *mat.Dense, corner *mat.SymDense) (*Cholesky, error) {
	n, m := c.l.N, corner.SymmetricDim()
	w := mat.DenseCopyOf(cross)
	c.SolveLower(w)
	schur := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s := corner.At(i, j)
			for k := range n {
				s -= w.At(k, i) * w.At(k, j)
			}
			schur.SetSym(i, j, s)
		}
		schur.SetSym(i, i, schur.At(i, i)+c.jitter)
	}
	tail, err := Factorize(schur)
	if err != nil {
		return nil, err
	}
	t := n + m
	out := &Cholesky{jitter: max(c.jitter, tail.jitter), l: blas64.Triangular{N: t, Stride: t, Data: make([]float64, t*t), Uplo: blas.Lower, Diag: blas.NonUnit}}
	for i := range n {
		copy(out.l.Data[i*t:], c.Row(i))
	}
	for i := range m {
		row := out.l.Data[(n+i)*t : (n+i+1)*t]
		for k := range n {
			row[k] = w.At(k, i)
		}
		copy(row[n:], tail.Row(i))
	}
	return out, nil
}

// CholeskyVJP returns the reverse-mode product of A ↦ L: given lbar = ∂/∂L
// (lower part used) it returns the symmetric abar with dF = Σ_ij abar_ij dA_ij
// over all i and j (Murray 2016, eq. 10).
func (c *Cholesky) CholeskyVJP(lbar *mat.Dense) *mat.SymDense {
	n := c.l.N
	// P = Φ(Lᵀ L̄), Φ takes the lower triangle and halves the diagonal.
	p := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i + 1 {
			var s float64
			for k := i; k < n; k++ {
				s += c.At(k, i) * lbar.At(k, j)
			}
			if i == j {
				s /= 2
			}
			p.Set(i, j, s)
		}
	}
	// S = L⁻ᵀ P L⁻¹ ; Ā = (S + Sᵀ)/2.
	c.SolveUpper(p)
	t := mat.DenseCopyOf(p.T())
	c.SolveUpper(t)
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, 0.5*(t.At(i, j)+t.At(j, i)))
		}
	}
	return out
}
