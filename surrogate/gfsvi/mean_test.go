package gfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// meanLossOf returns the mean loss of an objective at a batch, with its measurement points and
// observations.
func meanLossOf(t *testing.T, o *objective, b batch) *meanLoss {
	_, d := b.x.Dims()
	l := &meanLoss{net: o.net, inputs: o.inputs, process: o.process, gamma: o.gamma, n: int(b.weight * float64(len(b.y))), y: b.y}
	require.NoError(t, l.measure(shape.Rows(b.x, 0, b.measure)))
	first := b.x.RawMatrix().Rows - len(b.y)
	l.x = o.inputs.Apply(b.x.Slice(first, first+len(b.y), 0, d).(*mat.Dense))
	return l
}

func TestMeanLossGradient(t *testing.T) {
	rng := random.New(1, "mean loss", 0)
	o := small(4, 3)
	b := batch{x: space.Uniform(9, 2, rng), measure: 6, y: []float64{0.1, -0.4, 1.2}, weight: 4}
	l, last := meanLossOf(t, o, b), o.net.NumParams()
	at, grad := make([]float64, last+1), make([]float64, last+1)
	for i := range at {
		at[i] = 0.4 * rng.NormFloat64()
	}
	grad[last] = l.gradient(grad[:last], at[:last], at[last])
	value := func(at []float64) float64 { return l.value(at[:last], at[last]) }
	require.NoError(t, gradcheck.Gradient(value, at, grad, 1e-6))
}

// For weights without variance, F and its mean part differ by a constant.
func TestMeanLossIsTheObjectiveWithoutVariance(t *testing.T) {
	rng := random.New(2, "mean loss", 0)
	o := small(4)
	b := batch{x: space.Uniform(11, 2, rng), measure: 8, y: []float64{0.1, -0.4, 1.2}, weight: 5}
	l, v := meanLossOf(t, o, b), variational.NewLowRank(o.net.NumParams(), 0)
	for i := range v.LogS {
		v.LogS[i] = -20
	}
	both := func(shift float64) (whole, part float64) {
		for i := range v.M {
			v.M[i] = shift * math.Cos(float64(i))
		}
		v.LogSD[0] = shift
		whole, err := o.eval(v, b, nil)
		require.NoError(t, err)
		return whole, l.value(v.M, v.LogSD[0])
	}
	whole, part := both(0.2)
	otherWhole, otherPart := both(-0.5)
	require.InDelta(t, otherWhole-whole, otherPart-part, 1e-6)
}

// For a linear model Gauss–Newton steps converge to Bayesian linear regression.
func TestGaussNewtonOfALinearModel(t *testing.T) {
	const noise = 0.1
	o, b, mean, _ := linear(3, 12, noise)
	q := newGaussNewton(meanLossOf(t, o, b))
	m := make([]float64, len(mean))
	for range 20 {
		lower, err := q.step(m, 0.5*math.Log(noise))
		require.NoError(t, err)
		if !lower {
			break
		}
	}
	require.InDeltaSlice(t, mean, m, 1e-5)
}

// Beyond 1000 observations m and the noise variance are learned from all of them.
func TestManyObservations(t *testing.T) {
	const dim = 2
	d := toy.Sines(1200, dim)
	m := Model{Network: surrogate.Network{Hidden: []int{8, 8}}, Context: 10, Rank: 10, Batch: 100, Steps: 20}
	m.Restarts = 1
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InDelta(t, 0.1, math.Sqrt(post.Noise()), 0.02)
	x := space.Uniform(200, dim, random.New(1, "x", 0))
	mean, variance := make([]float64, 200), make([]float64, 200)
	post.Predict(mean, variance, x)
	var square float64
	for i, f := range mean {
		want := 3.0
		for j, u := range x.RawRowView(i) {
			want += math.Sin(5*u) / float64(1+j)
		}
		square += (f - want) * (f - want) / 200
	}
	t.Logf("root mean squared error %.3f, noise %.3f", math.Sqrt(square), math.Sqrt(post.Noise()))
	require.Less(t, math.Sqrt(square), 0.03)

	m.Spec = prior.Spec{Lengthscale: []float64{0.5}, Noise: new(0.04)}
	post, err = m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InEpsilon(t, 0.04, post.Noise(), 1e-12, "a fixed noise variance does not change")
}
