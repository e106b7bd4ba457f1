package linear

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Basis is the mean function m and the feature map φ of functions m(x) + φ(x)·w. It is immutable and safe for
// concurrent use.
type Basis interface {
	// Dim returns d, the number of inputs.
	Dim() int
	// Len returns F, the number of features.
	Len() int
	// Eval writes m(x_i) and φ(x_i), rows×F, at the rows of x.
	Eval(mean []float64, phi, x *mat.Dense)
	// EvalVJP adds to dx (rows×d) the gradient of Σ_i mbar_i m(x_i) + Σ_ij phibar_ij φ_j(x_i). A nil mbar
	// is zeros.
	EvalVJP(dx, x *mat.Dense, mbar []float64, phibar *mat.Dense)
}

// Combiner is a Basis that evaluates single functions without the matrix of features.
type Combiner interface {
	Basis
	// Path returns the function m(x) + φ(x)·w. It does not copy w.
	Path(w []float64) surrogate.Path
}

// WithMean returns the Basis of features, such as of [prior.NewFeatures] or your own, and a constant mean.
func WithMean(f prior.Features, mean float64) Basis { return constant{f, mean} }

type constant struct {
	prior.Features
	mean float64
}

func (b constant) Eval(mean []float64, phi, x *mat.Dense) {
	linalg.Fill(mean, b.mean)
	b.Features.Eval(phi, x)
}

func (b constant) EvalVJP(dx, x *mat.Dense, _ []float64, phibar *mat.Dense) {
	b.Features.EvalVJP(dx, x, phibar)
}

// Path implements Combiner.
func (b constant) Path(w []float64) surrogate.Path {
	return prior.Function{Features: b.Features, Weights: w, Mean: b.mean}
}

// whitened is the Basis of f(x) = m(x) + φ(x)·(μ + Sz) as a function of z: its mean is m(x) + φ(x)·μ, its features are
// φ(x)S.
type whitened struct {
	Basis
	mean []float64
	root *mat.Dense
}

func (b whitened) Len() int { return b.root.RawMatrix().Cols }

func (b whitened) Eval(mean []float64, phi, x *mat.Dense) {
	inner := mat.NewDense(len(mean), b.Basis.Len(), nil)
	b.Basis.Eval(mean, inner, x)
	linalg.MulVec(mean, 1, linalg.N, inner, b.mean, 1)
	linalg.Mul(phi, 1, linalg.N, inner, linalg.N, b.root, 0)
}

func (b whitened) EvalVJP(dx, x *mat.Dense, mbar []float64, phibar *mat.Dense) {
	m, _ := x.Dims()
	bar := mat.NewDense(m, b.Basis.Len(), nil)
	linalg.Mul(bar, 1, linalg.N, phibar, linalg.T, b.root, 0)
	for i, v := range mbar {
		linalg.Axpy(v, b.mean, bar.RawRowView(i))
	}
	b.Basis.EvalVJP(dx, x, mbar, bar)
}

func (b whitened) Path(z []float64) surrogate.Path { return pathOf(b.Basis, b.coefficients(z)) }

// coefficients returns μ + Sz.
func (b whitened) coefficients(z []float64) []float64 {
	w := append([]float64(nil), b.mean...)
	linalg.MulVec(w, 1, linalg.N, b.root, z, 1)
	return w
}

// pathOf returns the function of coefficients w.
func pathOf(b Basis, w []float64) surrogate.Path {
	if c, ok := b.(Combiner); ok {
		return c.Path(w)
	}
	return path{b, w}
}

// path is m(x) + φ(x)·w by the features.
type path struct {
	Basis
	w []float64
}

func (p path) Eval(value []float64, grad, x *mat.Dense) {
	shape.Eval(value, grad, x, p.Dim())
	if grad != nil {
		grad.Zero()
	}
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		phi := mat.NewDense(k-i, p.Len(), nil)
		p.Basis.Eval(value[i:k], phi, x)
		linalg.MulVec(value[i:k], 1, linalg.N, phi, p.w, 1)
		if grad != nil {
			combineGrad(shape.Rows(grad, i, k), p.Basis, x, p.w)
		}
	})
}

// combineGrad adds the gradients of m(x) + φ(x)·w to dx.
func combineGrad(dx *mat.Dense, b Basis, x *mat.Dense, w []float64) {
	m, _ := x.Dims()
	bar, ones := mat.NewDense(m, len(w), nil), make([]float64, m)
	for r := range ones {
		ones[r] = 1
		copy(bar.RawRowView(r), w)
	}
	b.EvalVJP(dx, x, ones, bar)
}
