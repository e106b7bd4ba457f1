package fvi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// example returns an objective for a network of 2 inputs with a Matérn process, 4 observations,
// 3 other points and 6 functions, and q.
func example(hidden []int) (*objective, *variational.Gaussian, batch) {
	const inject = 0.1
	o := &objective{
		net:    &nn.Network{In: 2, Hidden: hidden},
		inputs: domain.Affine{Shift: []float64{0.5, 0.5}, Scale: []float64{2, 3}},
		prior:  gaussian{prior.Process{Kernel: prior.Matern52(2)}, inject},
		inject: inject, method: method{share: 0.99, ridge: inject * inject},
	}
	rng := random.New(1, "example", 0)
	v := variational.NewLowRank(o.net.NumParams(), 0)
	for i := range v.Vector {
		v.Vector[i] = 0.5 * rng.NormFloat64()
	}
	b := batch{x: space.Uniform(7, 2, rng), y: []float64{0.1, -0.4, 1.2, 0.6}, weight: 2.5, eps: normal(6, len(v.M), 1), eta: normal(6, 7, 2)}
	return o, v, b
}

// The gradient is correct for given scores.
func TestObjectiveGradient(t *testing.T) {
	for _, hidden := range [][]int{{}, {5}, {4, 3}} {
		o, v, b := example(hidden)
		pull, err := o.pull(o.draw(v, b), b, nil)
		require.NoError(t, err)
		grad := v.Like()
		require.NoError(t, o.gradient(v, b, grad, nil))
		value := func(at []float64) float64 {
			v := v.With(at)
			o.draw(v, b)
			return o.backward(v, b, pull, v.Like())
		}
		require.NoError(t, gradcheck.Gradient(value, v.Vector, grad.Vector, 1e-7), "%v", hidden)
	}
}

// For one value f(0) = c ~ N(m,s²) and the prior N(μ,τ²), both with noise injected, the
// divergence is ½[(s² + γ² + (m-μ)²)/(τ²+γ²) - log(s²+γ²)] + const.
func TestDivergenceOfANormalValue(t *testing.T) {
	const m, s, mean, tau, inject, draws = 0.7, 0.5, 0.2, 1.3, 0.1, 30
	process := prior.Process{Kernel: prior.ScaleBy(tau*tau, prior.Constant(1)), Mean: mean}
	o := &objective{
		net:    &nn.Network{In: 1},
		inputs: domain.Affine{Shift: []float64{0}, Scale: []float64{1}},
		inject: inject, method: method{share: 0.99, ridge: inject * inject},
	}
	for name, p := range map[string]scored{
		"gaussian": gaussian{process, inject},
		"implicit": implicit{normalValue{mean, tau}, inject, o.method},
	} {
		o.prior = p
		v, grad := variational.NewLowRank(2, 0), variational.NewLowRank(2, 0)
		v.M[1], v.LogS[1] = m, math.Log(s)
		rng := random.New(1, "draws", 0)
		var dm, dlogS float64
		for i := range draws {
			b := batch{x: mat.NewDense(1, 1, nil), eps: normal(100, 2, uint64(2*i)), eta: normal(100, 1, uint64(2*i+1))}
			require.NoError(t, o.gradient(v, b, grad, rng))
			dm += grad.M[1] / draws
			dlogS += grad.LogS[1] / draws
		}
		t.Logf("%s: ∂/∂m %.3f, ∂/∂log s %.3f", name, dm, dlogS)
		v2 := tau*tau + inject*inject
		require.InDelta(t, (m-mean)/v2, dm, 0.05, name)
		require.InDelta(t, s*s/v2-s*s/(s*s+inject*inject), dlogS, 0.08, name)
	}
}

// normalValue is a prior on constant functions.
type normalValue struct{ mean, sd float64 }

func (p normalValue) Sample(dst, _ *mat.Dense, rng *rand.Rand) {
	n, m := dst.Dims()
	for i := range n {
		v := p.mean + p.sd*rng.NormFloat64()
		for j := range m {
			dst.Set(i, j, v)
		}
	}
}

// The benchmark takes one step with the default settings and 50 observations of 2 inputs.
func BenchmarkGradient(b *testing.B) {
	o, _, _ := example([]int{30, 30})
	v := variational.NewLowRank(o.net.NumParams(), 0)
	at := batch{x: space.Sobol(40, 2, random.New(1, "x", 0)), y: make([]float64, 20), weight: 2.5, eps: normal(50, len(v.M), 1), eta: normal(50, 40, 2)}
	for i := range v.M {
		v.M[i], v.LogS[i] = at.eps.At(0, i)/5, -4
	}
	grad := v.Like()
	for b.Loop() {
		if err := o.gradient(v, at, grad, nil); err != nil {
			b.Fatal(err)
		}
	}
}
