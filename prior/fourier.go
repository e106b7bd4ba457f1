package prior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/vecmath"
)

// spectral is a stationary kernel with a known spectral distribution: k(x,x') =
// E cos(ωᵀ(x-x')) for ω drawn from this distribution.
type spectral interface {
	// addFrequencies adds an independent draw to each row of omega. The frequencies
	// of a product are sums of the frequencies of its factors.
	addFrequencies(omega *mat.Dense, rng *rand.Rand)
}

func isSpectral(k Kernel) bool {
	if on, ok := k.(onInputs); ok {
		k = on.inner
	}
	_, ok := k.(spectral)
	return ok
}

// addFrequencies draws ω = √τ z/ℓ with z standard normal. The RBF kernel has τ = 1.
// Matérn-ν has τ = 2ν/χ²_2ν, so that ω is Student-t with 2ν degrees of freedom. The
// rational quadratic, a mixture of RBF kernels, has τ ~ Gamma(α, α).
func (k stationary) addFrequencies(omega *mat.Dense, rng *rand.Rand) {
	mixing := func() float64 { return 1 }
	student := func(degrees int) func() float64 {
		return func() float64 {
			var chi2 float64
			for range degrees {
				z := rng.NormFloat64()
				chi2 += z * z
			}
			return float64(degrees) / chi2
		}
	}
	switch p := k.profile().(type) {
	case matern12:
		mixing = student(1)
	case matern32:
		mixing = student(3)
	case matern52:
		mixing = student(5)
	case rationalQuadratic:
		mixing = distuv.Gamma{Alpha: p.alpha, Beta: p.alpha, Src: rng}.Rand
	}
	inv := inverse(k.spread(0))
	for i := range omega.RawMatrix().Rows {
		root := math.Sqrt(mixing())
		for j, w := range inv {
			omega.RawRowView(i)[j] += root * w * rng.NormFloat64()
		}
	}
}

// addFrequencies draws 2πm/p. As exp((cos δ - 1)/ℓ²) = Σ_m e^{-1/ℓ²}I_m(1/ℓ²) cos mδ,
// the integer m has a Skellam distribution, the difference of two Poisson variables
// with mean 1/(2ℓ²).
func (k periodic) addFrequencies(omega *mat.Dense, rng *rand.Rand) {
	ls, periods := k.spread(0), k.periods()
	for i := range omega.RawMatrix().Rows {
		row := omega.RawRowView(i)
		for j, l := range ls {
			poisson := distuv.Poisson{Lambda: 0.5 / (l * l), Src: rng}
			row[j] += 2 * math.Pi / periods[j] * (poisson.Rand() - poisson.Rand())
		}
	}
}

func (k onInputs) addFrequencies(omega *mat.Dense, rng *rand.Rand) {
	n, _ := omega.Dims()
	inner := mat.NewDense(n, len(k.inputs), nil)
	k.inner.(spectral).addFrequencies(inner, rng)
	k.put(omega, inner)
}

// fourier has the features amplitude·(cos ω_jᵀx, sin ω_jᵀx).
type fourier struct {
	omega     *mat.Dense // n×d
	amplitude float64
}

func newFourier(dim int, factors []Kernel, variance float64, features int, rng *rand.Rand) Features {
	n := max(1, features/2)
	omega := mat.NewDense(n, dim, nil)
	for _, f := range factors {
		f.(spectral).addFrequencies(omega, rng)
	}
	return fourier{omega, math.Sqrt(variance / float64(n))}
}

func (f fourier) Dim() int { return f.omega.RawMatrix().Cols }
func (f fourier) Len() int { return 2 * f.omega.RawMatrix().Rows }

func (f fourier) phases(x *mat.Dense) *mat.Dense {
	m := checkPoints("points", x, f.Dim())
	theta := mat.NewDense(m, f.Len()/2, nil)
	linalg.Mul(theta, 1, linalg.N, x, linalg.T, f.omega, 0)
	return theta
}

func (f fourier) Eval(phi, x *mat.Dense) {
	theta, n := f.phases(x), f.Len()/2
	checkSize("features", phi, theta.RawMatrix().Rows, 2*n)
	for i := range theta.RawMatrix().Rows {
		row := phi.RawRowView(i)
		vecmath.Sin(row[n:2*n], row[:n], theta.RawRowView(i))
		floats.Scale(f.amplitude, row[:2*n])
	}
}

func (f fourier) EvalVJP(dx, x, phibar *mat.Dense) {
	theta, n := f.phases(x), f.Len()/2
	checkSize("phibar", phibar, theta.RawMatrix().Rows, 2*n)
	cos := make([]float64, n)
	for i := range theta.RawMatrix().Rows {
		bar, row := phibar.RawRowView(i), theta.RawRowView(i)
		vecmath.Sin(row, cos, row)
		for j, s := range row {
			row[j] = f.amplitude * (cos[j]*bar[n+j] - s*bar[j])
		}
	}
	linalg.Mul(dx, 1, linalg.N, theta, linalg.N, f.omega, 1)
}

// combine implements combiner.
func (f fourier) combine(value []float64, grad, x *mat.Dense, w []float64) {
	theta, n := f.phases(x), f.Len()/2
	a, b, cos := w[:n], w[n:2*n], make([]float64, n)
	for i := range value {
		var sum float64
		row := theta.RawRowView(i)
		vecmath.Sin(row, cos, row)
		for j, s := range row {
			c := cos[j]
			sum += c*a[j] + s*b[j]
			row[j] = f.amplitude * (c*b[j] - s*a[j])
		}
		value[i] = f.amplitude * sum
	}
	if grad != nil {
		linalg.Mul(grad, 1, linalg.N, theta, linalg.N, f.omega, 0)
	}
}
