package prior

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Function is f(x) = Mean + φ(x)ᵀWeights. It implements surrogate.Path.
type Function struct {
	Features Features
	Weights  []float64
	Mean     float64
}

// Draw returns n independent functions from the process, noise excluded. Each function
// has its own features, about count of them for random features (see [NewFeatures]).
// Given the features a function is Gaussian, and its covariance approaches the kernel as
// count grows. Averaged over Fourier and finite features, the covariance equals the
// kernel for any count. The errors are the errors of NewFeatures.
func (p Process) Draw(n, count int, rng *rand.Rand) ([]Function, error) {
	return p.DrawIn(nil, nil, n, count, rng)
}

// DrawIn is Draw for functions that are evaluated in the box from lo to hi (see [NewFeaturesIn]).
func (p Process) DrawIn(lo, hi []float64, n, count int, rng *rand.Rand) ([]Function, error) {
	out := make([]Function, n)
	for i := range out {
		f, err := NewFeaturesIn(p.Kernel, lo, hi, count, rng)
		if err != nil {
			return nil, err
		}
		w := make([]float64, f.Len())
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		out[i] = Function{f, w, p.Mean}
	}
	return out, nil
}

// combiner is implemented by Features that compute φ(x)ᵀw and its gradient in one pass.
type combiner interface {
	combine(value []float64, grad, x *mat.Dense, w []float64)
}

// Eval writes the value at the m rows of x and, if grad is not nil, the m×d
// gradients.
func (f Function) Eval(value []float64, grad, x *mat.Dense) {
	m, d := x.Dims()
	checkLen("value", len(value), m)
	checkLen("weights", len(f.Weights), f.Features.Len())
	if grad != nil {
		checkSize("gradient", grad, m, d)
	}
	if c, ok := f.Features.(combiner); ok {
		c.combine(value, grad, x, f.Weights)
	} else {
		f.combine(value, grad, x)
	}
	floats.AddConst(f.Mean, value)
}

func (f Function) combine(value []float64, grad, x *mat.Dense) {
	n := f.Features.Len()
	if grad != nil {
		grad.Zero()
	}
	if n == 0 || len(value) == 0 {
		clear(value)
		return
	}
	phi := mat.NewDense(len(value), n, nil)
	f.Features.Eval(phi, x)
	linalg.MulVec(value, 1, linalg.N, phi, f.Weights, 0)
	if grad != nil {
		for i := range value {
			copy(phi.RawRowView(i), f.Weights)
		}
		f.Features.EvalVJP(grad, x, phi)
	}
}
