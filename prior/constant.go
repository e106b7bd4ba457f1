package prior

import "gonum.org/v1/gonum/mat"

// constant is k(x,x') = 1.
type constant struct{ leaf }

// Constant is k(x,x') = 1, the covariance of a random constant.
func Constant(dim int) Kernel { return constant{leaf{name: "constant", dim: dim}} }

func (k constant) Gram(dst *mat.SymDense, x *mat.Dense) {
	checkSym("Gram matrix", dst, checkPoints("points", x, k.dim))
	for i := range dst.SymmetricDim() {
		fill(upper(dst, i), 1)
	}
}

func (k constant) Cross(dst, x, y *mat.Dense) {
	checkSize("cross matrix", dst, checkPoints("points", x, k.dim), checkPoints("points", y, k.dim))
	for i := range dst.RawMatrix().Rows {
		fill(dst.RawRowView(i), 1)
	}
}

func (k constant) Diag(dst []float64, x *mat.Dense) {
	checkLen("diagonal", len(dst), checkPoints("points", x, k.dim))
	fill(dst, 1)
}

func (k constant) CrossVJP(dx, x, y, kbar *mat.Dense)                          {}
func (k constant) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64)         {}
func (k constant) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {}
func (k constant) WithParams(theta []float64) Kernel                           { return constant{k.with(theta)} }
func (k constant) String() string                                              { return term(k) }

// white is k(x_i,x_j) = 1 if i = j, else 0.
type white struct{ leaf }

// White is the kernel of independent noise: all evaluations are independent. Gram is
// the identity, also for equal rows. Cross is 0, also if a row of x equals a row of y.
// Diag is 1. In a posterior, White is variance of f, not observation noise, and no
// observation reduces it. Functions drawn with features omit White. Random features, networks with priors on
// functions and sparse processes count it as observation noise ([Process.WhiteAsNoise]).
func White(dim int) Kernel { return white{leaf{name: "white", dim: dim}} }

func (k white) Gram(dst *mat.SymDense, x *mat.Dense) {
	checkSym("Gram matrix", dst, checkPoints("points", x, k.dim))
	for i := range dst.SymmetricDim() {
		row := upper(dst, i)
		clear(row)
		row[0] = 1
	}
}

func (k white) Cross(dst, x, y *mat.Dense) {
	checkSize("cross matrix", dst, checkPoints("points", x, k.dim), checkPoints("points", y, k.dim))
	for i := range dst.RawMatrix().Rows {
		clear(dst.RawRowView(i))
	}
}

func (k white) Diag(dst []float64, x *mat.Dense) {
	checkLen("diagonal", len(dst), checkPoints("points", x, k.dim))
	fill(dst, 1)
}

func (k white) CrossVJP(dx, x, y, kbar *mat.Dense)                          {}
func (k white) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64)         {}
func (k white) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {}
func (k white) WithParams(theta []float64) Kernel                           { return white{k.with(theta)} }
func (k white) String() string                                              { return term(k) }

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}
