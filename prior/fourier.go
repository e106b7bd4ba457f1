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
	// addFrequencies adds an independent draw to each row of f.omega, and tables of nominal
	// inputs to f. The frequencies of a product are sums of the frequencies of its factors.
	addFrequencies(f *fourier, rng *rand.Rand)
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
// rational quadratic, a mixture of RBF kernels, has τ ~ Gamma(α, α). The phase at each value of
// a nominal input is an independent √(τ/2) z/ℓ.
func (k stationary) addFrequencies(f *fourier, rng *rand.Rand) {
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
	inv, n := inverse(k.spread(0)), f.omega.RawMatrix().Rows
	tables := make([]table, k.dim)
	for j, values := range k.values {
		if values > 0 {
			tables[j] = table{first: j, phases: mat.NewDense(values+1, n, nil)}
		}
	}
	for i := range n {
		root := math.Sqrt(mixing())
		for j, w := range inv {
			t := tables[j].phases
			if t == nil {
				f.omega.RawRowView(i)[j] += root * w * rng.NormFloat64()
				continue
			}
			for v := range t.RawMatrix().Rows {
				t.Set(v, i, math.Sqrt(0.5)*root*w*rng.NormFloat64())
			}
		}
	}
	for _, t := range tables {
		if t.phases != nil {
			f.tables = append(f.tables, t)
		}
	}
}

// addFrequencies draws 2πm/p. As exp((cos δ - 1)/ℓ²) = Σ_m e^{-1/ℓ²}I_m(1/ℓ²) cos mδ,
// the integer m has a Skellam distribution, the difference of two Poisson variables
// with mean 1/(2ℓ²).
func (k periodic) addFrequencies(f *fourier, rng *rand.Rand) {
	ls, periods := k.spread(0), k.periods()
	for i := range f.omega.RawMatrix().Rows {
		row := f.omega.RawRowView(i)
		for j, l := range ls {
			poisson := distuv.Poisson{Lambda: 0.5 / (l * l), Src: rng}
			row[j] += 2 * math.Pi / periods[j] * (poisson.Rand() - poisson.Rand())
		}
	}
}

func (k onInputs) addFrequencies(f *fourier, rng *rand.Rand) {
	n, _ := f.omega.Dims()
	inner := fourier{omega: mat.NewDense(n, len(k.inputs), nil)}
	k.inner.(spectral).addFrequencies(&inner, rng)
	k.put(f.omega, inner.omega)
	for _, t := range inner.tables {
		in := k.entries[t.first]
		t.first, t.columns, t.index = in.First, in.Columns, in.Index
		f.tables = append(f.tables, t)
	}
}

// fourier has the features amplitude·(cos θ_j, sin θ_j), θ_j = ω_jᵀx plus the phases of the
// nominal inputs.
type fourier struct {
	omega     *mat.Dense // n×d; 0 for the columns of nominal inputs
	tables    []table
	amplitude float64
}

// table has the phases of the waves at the values of a nominal input.
type table struct {
	first, columns int
	index          func(columns []float64) int
	phases         *mat.Dense // a row for each value
}

func newFourier(dim int, factors []Kernel, variance float64, features int, rng *rand.Rand) Features {
	n := max(1, features/2)
	out := fourier{omega: mat.NewDense(n, dim, nil), amplitude: math.Sqrt(variance / float64(n))}
	for _, f := range factors {
		f.(spectral).addFrequencies(&out, rng)
	}
	return out
}

func (f fourier) Dim() int { return f.omega.RawMatrix().Cols }
func (f fourier) Len() int { return 2 * f.omega.RawMatrix().Rows }

func (f fourier) phases(x *mat.Dense) *mat.Dense {
	m := checkPoints("points", x, f.Dim())
	theta := mat.NewDense(m, f.Len()/2, nil)
	linalg.Mul(theta, 1, linalg.N, x, linalg.T, f.omega, 0)
	for _, t := range f.tables {
		for i := range m {
			at := t.index(x.RawRowView(i)[t.first : t.first+t.columns])
			floats.Add(theta.RawRowView(i), t.phases.RawRowView(at))
		}
	}
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
