// Package toy contains datasets for tests of surrogate models, as in papers on priors on
// functions, and a distance between posteriors.
package toy

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// Wave returns n values of sin 2πx + 0.1ε on [-1,-½] ∪ [½,1], with the box [-2,2].
func Wave(n int) surrogate.Dataset {
	rng := random.New(1, "wave", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{-2}, Hi: []float64{2}}
	for i := range n {
		x := 0.5 + 0.5*rng.Float64()
		if i%2 == 0 {
			x = -x
		}
		d.X.Set(i, 0, x)
		d.Y[i] = math.Sin(2*math.Pi*x) + 0.1*rng.NormFloat64()
	}
	return d
}

// Sines returns n noisy values of a sum of sines of dim inputs in [0,1].
func Sines(n, dim int) surrogate.Dataset {
	rng := random.New(1, "wave", n)
	d := surrogate.Dataset{X: mat.NewDense(n, dim, nil), Y: make([]float64, n)}
	for i := range n {
		for j := range dim {
			v := rng.Float64()
			d.X.Set(i, j, v)
			d.Y[i] += math.Sin(5*v) / float64(1+j)
		}
		d.Y[i] += 3 + 0.1*rng.NormFloat64()
	}
	return d
}

// Wasserstein returns the mean over a grid on [-2,2] of the Wasserstein-2 distance between
// the marginals.
func Wasserstein(a, b surrogate.Posterior) float64 {
	const n = 101
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, -2+4*float64(i)/(n-1))
	}
	ma, va, mb, vb := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	a.Predict(ma, va, x)
	b.Predict(mb, vb, x)
	var sum float64
	for i := range n {
		sum += math.Hypot(ma[i]-mb[i], math.Sqrt(va[i])-math.Sqrt(vb[i])) / n
	}
	return sum
}
