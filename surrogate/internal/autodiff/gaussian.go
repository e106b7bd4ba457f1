package autodiff

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// Matrix is a matrix of numbers, by rows.
type Matrix [][]Number

// NewMatrix returns the n×m matrix with the entries f(i,j).
func NewMatrix(n, m int, f func(i, j int) Number) Matrix {
	out := make(Matrix, n)
	for i := range out {
		out[i] = make([]Number, m)
		for j := range out[i] {
			out[i][j] = f(i, j)
		}
	}
	return out
}

// Cholesky returns the lower triangular L with L Lᵀ = a.
func (a Matrix) Cholesky() Matrix {
	l := NewMatrix(len(a), len(a), func(int, int) Number { return Number{} })
	for i := range a {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum = sum.Minus(l[i][k].Times(l[j][k]))
			}
			if i == j {
				l[i][i] = sum.Sqrt()
			} else {
				l[i][j] = sum.Over(l[j][j])
			}
		}
	}
	return l
}

// SolveLower returns L⁻¹b for a lower triangular L.
func (l Matrix) SolveLower(b []Number) []Number {
	x := make([]Number, len(b))
	for i := range x {
		x[i] = b[i]
		for k := range i {
			x[i] = x[i].Minus(l[i][k].Times(x[k]))
		}
		x[i] = x[i].Over(l[i][i])
	}
	return x
}

// LogDet returns log det L Lᵀ for a lower triangular L.
func (l Matrix) LogDet() Number {
	var sum Number
	for i := range l {
		sum = sum.Plus(l[i][i].Log().Scaled(2))
	}
	return sum
}

// Divergence returns KL( N(a, q) ‖ N(b, p) ) for delta = a - b,
//
//	½ [ tr(p⁻¹q) + δᵀp⁻¹δ - M + log det p - log det q ].
func Divergence(delta []Number, q, p Matrix) Number {
	l, lq := p.Cholesky(), q.Cholesky()
	sum := Constant(-float64(len(delta))).Plus(l.LogDet()).Minus(lq.LogDet())
	for _, u := range l.SolveLower(delta) {
		sum = sum.Plus(u.Square())
	}
	// tr(p⁻¹ lq lqᵀ) is the sum of squares of l⁻¹ lq.
	for j := range delta {
		column := make([]Number, len(delta))
		for i := range column {
			column[i] = lq[i][j]
		}
		for _, u := range l.SolveLower(column) {
			sum = sum.Plus(u.Square())
		}
	}
	return sum.Scaled(0.5)
}

// NegLogNormal returns -log N(y | f, sd²).
func NegLogNormal(y float64, f, sd Number) Number {
	e := f.Minus(Constant(y)).Over(sd)
	return e.Square().Scaled(0.5).Plus(sd.Log()).Plus(Constant(0.5 * math.Log(2*math.Pi)))
}

// RBF returns variance·exp(-½ Σ_j (x_j - y_j)²/length_j²).
func RBF(variance float64, length []float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 { return variance * math.Exp(-0.5*squares(x, y, length)) }
}

// Matern52 returns variance·(1 + √5r + 5r²/3) exp(-√5r), r² = Σ_j (x_j - y_j)²/length_j².
func Matern52(variance float64, length []float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		r := math.Sqrt(5 * squares(x, y, length))
		return variance * (1 + r + r*r/3) * math.Exp(-r)
	}
}

func squares(x, y, length []float64) float64 {
	var sum float64
	for j, l := range length {
		sum += (x[j] - y[j]) * (x[j] - y[j]) / (l * l)
	}
	return sum
}

// Rows returns the rows of x.
func Rows(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Row(nil, i, x)
	}
	return out
}

// Eigenvalues returns the real parts of the eigenvalues of a. The derivative of an eigenvalue is
// uᴴ ∂a v/(uᴴv) with its left and right eigenvectors u and v.
func (a Matrix) Eigenvalues() []Number {
	n := len(a)
	values := mat.NewDense(n, n, nil)
	for i := range a {
		for j := range a {
			values.Set(i, j, a[i][j].Value)
		}
	}
	var e mat.Eigen
	if !e.Factorize(values, mat.EigenBoth) {
		panic("autodiff: no eigenvalues")
	}
	var u, v mat.CDense
	e.LeftVectorsTo(&u)
	e.VectorsTo(&v)
	var out []Number
	for s, l := range e.Values(nil) {
		lambda, inner := Constant(real(l)), complex128(0)
		for i := range a {
			inner += cmplx.Conj(u.At(i, s)) * v.At(i, s)
		}
		for i := range a {
			for j := range a {
				slope := real(cmplx.Conj(u.At(i, s)) * v.At(j, s) / inner)
				lambda = lambda.Plus(a[i][j].Minus(Constant(a[i][j].Value)).Scaled(slope))
			}
		}
		out = append(out, lambda)
	}
	return out
}
