package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/dense"
	"github.com/functionspace/bo/internal/workspace"
)

// ErrNotPositiveDefinite is returned if no permitted jitter makes a matrix positive
// definite, or if the matrix contains NaN.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// Cholesky is the factor of A + jitter·I = L Lᵀ. The zero value is ready for
// Factorize. The other methods only read the factor and may run concurrently.
type Cholesky struct {
	l      blas64.Triangular // lower; the part above the diagonal is scratch
	jitter float64
}

// Factorize adds a jitter between these, relative to the mean diagonal entry.
const (
	minJitter = 1e-10
	maxJitter = 1e-4
)

// Factorize returns the factor of a.
func Factorize(a *mat.SymDense) (*Cholesky, error) {
	c := new(Cholesky)
	if err := c.Factorize(a); err != nil {
		return nil, err
	}
	return c, nil
}

// Factorize overwrites c with the factor of a, in n³/3 flops. It reuses the memory of
// c; after an error c holds no factor. If a is not numerically positive definite, it
// adds jitter to the diagonal: 1e-10 of the mean diagonal entry, multiplied by ten at
// each further attempt, up to maxJitter. A matrix is numerically positive definite if
// each squared pivot exceeds its rounding error, n·2⁻⁵² of the diagonal entry.
func (c *Cholesky) Factorize(a *mat.SymDense) error {
	return c.factorize(a, 0, minJitter, a, a.SymmetricDim())
}

// FactorizeFrom returns the factor of a as Factorize does, but with another first jitter. It is the smaller of
// first and 1e-10 of the mean diagonal entry, and at least the rounding error of a pivot.
func FactorizeFrom(a *mat.SymDense, first float64) (*Cholesky, error) {
	n := a.SymmetricDim()
	least := min(minJitter, max(first/meanDiagonal(a), float64(n)*0x1p-52))
	c := new(Cholesky)
	if err := c.factorize(a, 0, least, a, n); err != nil {
		return nil, err
	}
	return c, nil
}

// factorize tries the jitters base, base + least·scale, and ten times more at each
// further attempt. The scale and the rounding errors are computed from the diagonal of
// original, for elimination in a matrix of size total.
func (c *Cholesky) factorize(a *mat.SymDense, base, least float64, original *mat.SymDense, total int) error {
	n := a.SymmetricDim()
	scale := meanDiagonal(original)
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		return fmt.Errorf("%w: its mean diagonal entry is %v", ErrNotPositiveDefinite, scale)
	}
	data := c.l.Data
	if cap(data) < n*n {
		data = make([]float64, n*n)
	}
	c.l = triangle(n, data[:n*n])
	for rel := 0.0; ; rel = min(max(least, rel*10), maxJitter) {
		c.jitter = base + rel*scale
		if c.factor(a) && c.exceeds(original, float64(total)*0x1p-52) {
			return nil
		}
		if rel >= maxJitter {
			break
		}
	}
	return fmt.Errorf("%w: %d×%d, with jitter up to %.1g of the mean diagonal", ErrNotPositiveDefinite, n, n, maxJitter)
}

// exceeds reports whether every L_ii² exceeds a fraction of the diagonal entry.
func (c *Cholesky) exceeds(original *mat.SymDense, fraction float64) bool {
	for i := range c.l.N {
		if d := c.At(i, i); !(d*d > fraction*original.At(i, i)) {
			return false
		}
	}
	return true
}

func meanDiagonal(a *mat.SymDense) float64 {
	var mean float64
	n := a.SymmetricDim()
	for i := range n {
		mean += a.At(i, i) / float64(n)
	}
	return mean
}

// triangle returns the lower triangle of an n×n matrix.
func triangle(n int, data []float64) blas64.Triangular {
	return blas64.Triangular{N: n, Stride: max(1, n), Data: data, Uplo: blas.Lower, Diag: blas.NonUnit}
}

func (c *Cholesky) factor(a *mat.SymDense) bool {
	n, raw, l := c.l.N, a.RawSymmetric(), c.l.Data
	for i := range n {
		copy(l[i*n+i:(i+1)*n], raw.Data[i*raw.Stride+i:i*raw.Stride+n])
		l[i*n+i] += c.jitter
	}
	if !dense.Cholesky(blas64.Symmetric{N: n, Stride: c.l.Stride, Data: l, Uplo: blas.Upper}) {
		return false
	}
	dense.CopyToLower(square(c.l))
	return true
}

// square returns the whole matrix that contains a triangle.
func square(l blas64.Triangular) blas64.General {
	return blas64.General{Rows: l.N, Cols: l.N, Stride: l.Stride, Data: l.Data}
}

// N returns the size of the matrix.
func (c *Cholesky) N() int { return c.l.N }

// Jitter returns the number added to the diagonal, usually 0.
func (c *Cholesky) Jitter() float64 { return c.jitter }

// At returns L_ij.
func (c *Cholesky) At(i, j int) float64 {
	if j > i {
		return 0
	}
	return c.l.Data[i*c.l.Stride+j]
}

// row returns the first i+1 entries of row i of L. It must not be changed.
func (c *Cholesky) row(i int) []float64 { return c.l.Data[i*c.l.Stride : i*c.l.Stride+i+1] }

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
	raw := b.RawMatrix()
	if raw.Rows != c.l.N {
		panic(fmt.Sprintf("linalg: right-hand side has %d rows, want %d", raw.Rows, c.l.N))
	}
	dense.Trsm(blas.Left, t, 1, c.l, raw)
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
	c.checkLen(b)
	dense.Trsv(t, c.l, b)
}

func (c *Cholesky) checkLen(b []float64) {
	if len(b) != c.l.N {
		panic(fmt.Sprintf("linalg: vector of length %d, want %d", len(b), c.l.N))
	}
}

// MulLowerVec overwrites b with L b.
func (c *Cholesky) MulLowerVec(b []float64) {
	c.checkLen(b)
	dense.Trmv(blas.NoTrans, c.l, b)
}

// Lower writes L, with zeros above the diagonal, to dst.
func (c *Cholesky) Lower(dst *mat.Dense) {
	for i := range c.l.N {
		row := dst.RawRowView(i)
		clear(row[copy(row, c.row(i)):])
	}
}

// Inverse writes (A + jitter·I)⁻¹ = L⁻ᵀ L⁻¹ to dst, in 2n³/3 flops.
func (c *Cholesky) Inverse(dst *mat.SymDense) {
	n := c.l.N
	if got := dst.SymmetricDim(); got != n {
		panic(fmt.Sprintf("linalg: inverse into a matrix of size %d, want %d", got, n))
	}
	if n > 0 {
		mem := workspace.Borrow()
		defer mem.Return()
		dense.GramLower(dst.RawSymmetric(), c.inverseLower(mem))
	}
}

// InverseDiag writes the diagonal of (A + jitter·I)⁻¹ to dst, in n³/3 flops.
func (c *Cholesky) InverseDiag(dst []float64) {
	n := c.l.N
	c.checkLen(dst)
	clear(dst)
	mem := workspace.Borrow()
	defer mem.Return()
	inv := c.inverseLower(mem)
	for i := range n {
		for j, v := range inv.Data[i*n : i*n+i+1] {
			dst[j] += v * v
		}
	}
}

// inverseLower returns L⁻¹, with zeros above the diagonal.
func (c *Cholesky) inverseLower(mem *workspace.Memory) blas64.General {
	inv := square(triangle(c.l.N, mem.Floats(c.l.N*c.l.N)))
	dense.InvertLower(inv, c.l)
	return inv
}

// Extend returns the factor of the matrix bordered by m more rows: cross is n×m,
// corner m×m. It costs O(n²m). The corner has the jitter of the matrix, or more if
// Factorize would add more; Jitter then returns the larger jitter.
func (c *Cholesky) Extend(cross *mat.Dense, corner *mat.SymDense) (*Cholesky, error) {
	n, m := c.l.N, corner.SymmetricDim()
	if r, k := cross.Dims(); n > 0 && (r != n || k != m) {
		panic(fmt.Sprintf("linalg: border is %d×%d, want %d×%d", r, k, n, m))
	}
	t := n + m
	l := triangle(t, make([]float64, t*t))
	for i := range n {
		copy(l.Data[i*t:], c.row(i))
		for j, v := range cross.RawRowView(i) {
			l.Data[(n+j)*t+i] = v
		}
	}
	row := func(i int) []float64 { return l.Data[(n+i)*t : (n+i)*t+n] }
	schur := mat.NewSymDense(m, nil)
	for i := range m {
		c.SolveLowerVec(row(i))
		for j := range i + 1 {
			schur.SetSym(i, j, corner.At(i, j)-Dot(row(i), row(j)))
		}
	}
	var tail Cholesky
	if err := tail.factorize(schur, c.jitter, minJitter, corner, t); err != nil {
		return nil, err
	}
	for i := range m {
		copy(l.Data[(n+i)*t+n:], tail.row(i))
	}
	return &Cholesky{l: l, jitter: tail.jitter}, nil
}

// CholeskyVJP returns the reverse-mode product of A ↦ L: given lbar = ∂F/∂L
// (its lower triangle is used) it returns the symmetric abar with
// dF = Σ_ij abar_ij dA_ij over all i and j (Murray 2016, eq. 10). Jitter is
// taken as a constant. It costs 3n³ flops.
func (c *Cholesky) CholeskyVJP(lbar *mat.Dense) *mat.SymDense {
	n := c.l.N
	if r, k := lbar.Dims(); r != n || k != n {
		panic(fmt.Sprintf("linalg: adjoint of L is %d×%d, want %d×%d", r, k, n, n))
	}
	if n == 0 {
		return &mat.SymDense{}
	}
	// For few points the lower overhead of gonum matters.
	trmm, trsm := dense.Trmm, dense.Trsm
	if n <= 12 {
		trmm, trsm = blas64.Trmm, blas64.Trsm
	}
	// P = Φ(Lᵀ L̄), where Φ takes the lower triangle and halves the diagonal.
	mem := workspace.Borrow()
	defer mem.Return()
	p := mem.Zeros(n, n)
	for i := range n {
		copy(p.RawRowView(i), lbar.RawRowView(i)[:i+1])
	}
	trmm(blas.Left, blas.Trans, 1, c.l, p.RawMatrix())
	for i := range n {
		row := p.RawRowView(i)
		row[i] /= 2
		clear(row[i+1:])
	}
	// S = L⁻ᵀ P L⁻¹ ; Ā = (S + Sᵀ)/2.
	trsm(blas.Left, blas.Trans, 1, c.l, p.RawMatrix())
	trsm(blas.Right, blas.NoTrans, 1, c.l, p.RawMatrix())
	out := mat.NewSymDense(n, nil)
	raw, s := out.RawSymmetric(), p.RawMatrix()
	for i := range n {
		for j := i; j < n; j++ {
			raw.Data[i*raw.Stride+j] = 0.5 * (s.Data[i*s.Stride+j] + s.Data[j*s.Stride+i])
		}
	}
	return out
}
