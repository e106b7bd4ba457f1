package tfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// A common spread has the sum of the gradients.
func TestTiedGradient(t *testing.T) {
	loss := tied(func(theta, grad []float64) float64 {
		var value float64
		for i, v := range theta {
			value += float64(i+1) * v * v
			grad[i] = 2 * float64(i+1) * v
		}
		return value
	}, 3)
	theta, grad := []float64{0.3, -2, 0.7}, make([]float64, 3)
	require.InDelta(t, 6*0.09+4*4+5*0.49, loss(theta, grad), 1e-12)
	require.NoError(t, gradcheck.Gradient(func(theta []float64) float64 { return loss(theta, make([]float64, 3)) }, theta, grad, 1e-7))
}

func TestEvidenceGradient(t *testing.T) {
	for _, hidden := range [][]int{{}, {4}, {5, 9}} {
		rng := random.New(1, "evidence", 0)
		net := &nn.Network{In: 3, Hidden: hidden}
		e := &evidence{
			net: net, w: net.Init(rng), x: space.Uniform(6, 3, rng), y: []float64{0.3, -1, 0.4, 0.8, -0.2, 0.1},
			length: prior.LengthscalePrior(3), size: prior.LogNormal{Mu: 1, Sigma: 1}, noise: prior.Gamma{Shape: 0.5, Rate: 1},
		}
		from, to := firstBiases(net)
		for i := from; i < to; i++ {
			e.w[i] = rng.NormFloat64()
		}
		e.reserve()
		theta, grad := []float64{0.3, -0.4, 1, -1.2, -3}, make([]float64, 5)
		e.eval(theta, grad)
		value := func(theta []float64) float64 { return e.eval(theta, make([]float64, 5)) }
		require.NoError(t, gradcheck.Gradient(value, theta, grad, 1e-6), "%v", hidden)
	}
}

// An irrelevant input gets a small spread.
func TestSpreadsOfInputs(t *testing.T) {
	rng := random.New(1, "data", 0)
	d := surrogate.Dataset{X: space.Uniform(40, 2, rng), Y: make([]float64, 40)}
	for i := range d.Y {
		d.Y[i] = math.Sin(6*d.X.At(i, 0)) + 0.1*rng.NormFloat64()
	}
	p := &problem{Model: Model{Bias: new(0.5), Covariance: covarianceOutput}, data: d, objective: objective{net: &nn.Network{In: 2, Hidden: []int{50}}}, order: subset.All(40)}
	p.box.Lo, p.box.Hi = []float64{0, 0}, []float64{1, 1}
	p.spread = []float64{1, 1}
	require.NoError(t, p.learn(t.Context(), p.initial(rng).M, rng))
	require.Greater(t, p.spread[0], 4*p.spread[1])
	require.InDelta(t, 0.1, math.Exp(p.startLogSD), 0.05)
}

// The posterior of the output weights solves (ΦᵀΦ/σ² + I/v²) w = Φᵀy/σ².
func TestSolve(t *testing.T) {
	rng := random.New(1, "data", 0)
	d := surrogate.Dataset{X: space.Uniform(300, 2, rng), Y: make([]float64, 300)}
	for i := range d.Y {
		d.Y[i] = rng.NormFloat64()
	}
	p := &problem{Model: Model{Bias: new(0.5), Covariance: covarianceOutput}, data: d, objective: objective{net: &nn.Network{In: 2, Hidden: []int{3}}}}
	p.box.Lo, p.box.Hi = []float64{0, 0}, []float64{1, 1}
	p.spread, p.outputScale = []float64{1, 1}, 0.5
	v := p.initial(rng)
	v.LogSD[0] = math.Log(0.3)
	require.NoError(t, p.solve(t.Context(), v))

	j := mat.NewDense(300, len(v.M), nil)
	p.net.Record(v.M, p.inputs.Apply(d.X)).Jacobian(j)
	phi := mat.DenseCopyOf(j.Slice(0, 300, len(v.LogS), len(v.M)))
	a, b := mat.NewDense(4, 4, nil), make([]float64, 4)
	linalg.Mul(a, 1/0.09, linalg.T, phi, linalg.N, phi, 0)
	linalg.MulVec(b, 1/0.09, linalg.T, phi, d.Y, 0)
	for i := range 4 {
		a.Set(i, i, a.At(i, i)+4)
	}
	linalg.MulVec(b, -1, linalg.N, a, v.M[len(v.LogS):], 1)
	require.InDeltaSlice(t, make([]float64, 4), b, 1e-9)
	half, identity := mat.NewDense(4, 4, nil), mat.NewDense(4, 4, nil)
	linalg.Mul(half, 1, linalg.N, a, linalg.T, v.Ut, 0)
	linalg.Mul(identity, 1, linalg.N, half, linalg.N, v.Ut, 0)
	for i := range 4 {
		for k := range 4 {
			want := 0.
			if i == k {
				want = 1
			}
			require.InDelta(t, want, identity.At(i, k), 1e-9)
		}
	}
}

// pull applies the chain rule through push.
func TestFrame(t *testing.T) {
	origin := variational.NewOutput(7, 3)
	rng := random.New(1, "frame", 0)
	for i := range origin.Vector {
		origin.Vector[i] = rng.NormFloat64()
	}
	f := newFrame(origin)
	v, grad := variational.NewOutput(7, 3), variational.NewOutput(7, 3)
	f.push(v)
	require.InDeltaSlice(t, origin.Vector, v.Vector, 1e-14)
	for i := range f.at.Vector {
		f.at.Vector[i] += 0.3 * rng.NormFloat64()
	}
	value := func(at []float64) float64 {
		copy(f.at.Vector, at)
		f.push(v)
		var sum float64
		for i, x := range v.Vector {
			sum += float64(i+1) * x * x / 2
		}
		return sum
	}
	at := append([]float64(nil), f.at.Vector...)
	value(at)
	for i, x := range v.Vector {
		grad.Vector[i] = float64(i+1) * x
	}
	f.pull(grad)
	require.NoError(t, gradcheck.Gradient(value, at, f.bar.Vector, 1e-6))
}
