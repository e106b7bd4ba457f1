package classify

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Factor represents R = (K + W⁻¹)⁻¹ for a block-diagonal K, with a prior covariance at n
// points for each latent function. With
//
//	B_c = I + D_c^½ K_c D_c^½,  E_c = D_c^½ B_c⁻¹ D_c^½,  M = Σ_c E_c
//
// R has the blocks E_c δ_cc' - E_c M⁻¹ E_c' (RW eq. 3.46), or is E for L = 1. It
// is immutable.
type Factor struct {
	k    []*mat.SymDense
	root [][]float64 // D^½
	b    []*linalg.Cholesky
	e    []*mat.SymDense  // nil for L = 1
	m    *linalg.Cholesky // nil for L = 1
}

// NewFactor returns the factor with the curvature of d, L×n, in O(Ln³). Latent functions may share a
// covariance. The determinant is for the d of probabilities.
func NewFactor(k []*mat.SymDense, d *mat.Dense) (*Factor, error) {
	l, n := d.Dims()
	f := &Factor{k: k, root: make([][]float64, l), b: make([]*linalg.Cholesky, l)}
	d = mat.DenseCopyOf(d)
	var sum *mat.SymDense
	if l > 1 {
		f.e, sum = make([]*mat.SymDense, l), mat.NewSymDense(n, nil)
	}
	b := mat.NewSymDense(n, nil)
	for c := range l {
		f.root[c] = d.RawRowView(c)
		for i, v := range f.root[c] {
			f.root[c][i] = math.Sqrt(v)
		}
		b.CopySym(k[c])
		scaleSym(b, f.root[c])
		linalg.AddDiagonal(b, 1)
		var err error
		if f.b[c], err = linalg.Factorize(b); err != nil {
			return nil, err
		}
		if l > 1 {
			f.e[c] = f.inner(c)
			sum.AddSym(sum, f.e[c])
		}
	}
	if l > 1 {
		var err error
		if f.m, err = linalg.Factorize(sum); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// inner returns E_c.
func (f *Factor) inner(c int) *mat.SymDense {
	e := mat.NewSymDense(f.b[c].N(), nil)
	f.b[c].Inverse(e)
	scaleSym(e, f.root[c])
	return e
}

// scaleSym multiplies row and column i of a by s_i.
func scaleSym(a *mat.SymDense, s []float64) {
	raw := a.RawSymmetric()
	for i, si := range s {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		for j := range row {
			row[j] *= si * s[i+j]
		}
	}
}

// LogDet returns log|I + KW| = Σ_c log|B_c| + log|M|.
func (f *Factor) LogDet() float64 {
	var sum float64
	for _, b := range f.b {
		sum += b.LogDet()
	}
	if f.m != nil {
		sum += f.m.LogDet()
	}
	return sum
}

// Solve overwrites v, L×n, with R v, in O(Ln²).
func (f *Factor) Solve(v *mat.Dense) {
	for c := range f.b {
		row := v.RawRowView(c)
		floats.Mul(row, f.root[c])
		f.b[c].SolveVec(row)
		floats.Mul(row, f.root[c])
	}
	if f.m == nil {
		return
	}
	n := f.m.N()
	sum, out := make([]float64, n), make([]float64, n)
	for c := range f.b {
		linalg.Axpy(1, v.RawRowView(c), sum)
	}
	f.m.SolveVec(sum)
	for c, e := range f.e {
		mulSym(out, e, sum)
		linalg.Axpy(-1, out, v.RawRowView(c))
	}
}

// Half overwrites q, n×m, with L⁻¹ D_c^½ q, L Lᵀ = B_c, so that its Gram matrix is qᵀE_c q.
// halfT overwrites the result with E_c q.
func (f *Factor) Half(c int, q *mat.Dense) {
	linalg.ScaleRows(q, f.root[c])
	f.b[c].SolveLower(q)
}

// halfT overwrites the result of Half with E_c q.
func (f *Factor) halfT(c int, q *mat.Dense) {
	f.b[c].SolveUpper(q)
	linalg.ScaleRows(q, f.root[c])
}

// ReduceGrad subtracts qᵀE_0 q from the variances of m points, given q, n×m, and returns
// -2 (E_0 q)ᵀ, the adjoint of qᵀ. It overwrites q.
func (f *Factor) ReduceGrad(variance []float64, q *mat.Dense) *mat.Dense {
	f.Half(0, q)
	linalg.SubColumnSquares(variance, q)
	f.halfT(0, q)
	q.Scale(-2, q)
	return mat.DenseCopyOf(q.T())
}

// Reduce subtracts q_cᵀ R_cc' q_c' from cov, m×L², the prior covariances of the L latent functions at
// m points. The columns of q_c, n×m, are the prior covariances of the labelled points with
// the m points. Reduce overwrites the q_c and costs O(Ln²m).
func (f *Factor) Reduce(cov *mat.Dense, q []*mat.Dense) {
	l := len(f.b)
	for c := range l {
		f.Half(c, q[c])
		subtractProducts(cov, c*l+c, q[c], q[c], -1)
		if f.m != nil {
			f.halfT(c, q[c])
			f.m.SolveLower(q[c])
		}
	}
	if f.m == nil {
		return
	}
	for c := range l {
		for d := range c + 1 {
			subtractProducts(cov, c*l+d, q[c], q[d], 1)
			if c != d {
				subtractProducts(cov, d*l+c, q[c], q[d], 1)
			}
		}
	}
}

// subtractProducts adds sign·Σ_i a_ij b_ij to cov_{j,column} for each column j of a.
func subtractProducts(cov *mat.Dense, column int, a, b *mat.Dense, sign float64) {
	n, m := a.Dims()
	sum := make([]float64, m)
	for i := range n {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for j, v := range x {
			sum[j] += v * y[j]
		}
	}
	for j, v := range sum {
		cov.RawRowView(j)[column] += sign * v
	}
}

// Effective returns tr(RK), the effective number of parameters, in O(Ln³).
func (f *Factor) Effective() float64 {
	var trace float64
	n := f.b[0].N()
	diag := make([]float64, n)
	for c, b := range f.b {
		b.InverseDiag(diag) // tr(EK) = n - tr B⁻¹
		for _, v := range diag {
			trace += 1 - v
		}
		if f.m == nil {
			continue
		}
		h := mat.DenseCopyOf(f.e[c])
		f.m.SolveLower(h)
		hk := mat.NewDense(n, n, nil)
		linalg.Mul(hk, 1, linalg.N, h, linalg.N, mat.DenseCopyOf(f.k[c]), 0)
		for i := range n {
			trace -= linalg.Dot(hk.RawRowView(i), h.RawRowView(i))
		}
	}
	return trace
}

// block returns R_cc.
func (f *Factor) block(c int) *mat.SymDense {
	if f.m == nil {
		return f.inner(c)
	}
	h := mat.DenseCopyOf(f.e[c])
	f.m.SolveLower(h)
	r := mat.NewSymDense(f.m.N(), nil)
	r.CopySym(f.e[c])
	linalg.Syrk(r, -1, linalg.T, h, 1)
	return r
}

// mulSym writes a·x to dst.
func mulSym(dst []float64, a *mat.SymDense, x []float64) {
	mat.NewVecDense(len(dst), dst).MulVec(a, mat.NewVecDense(len(x), x))
}
