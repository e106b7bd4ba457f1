package fsplaplace

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
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// featureKernel is k(x,x') = φ(x)·φ(x'), without derivatives.
type featureKernel struct {
	prior.Kernel
	dim int
	phi func(x []float64) []float64
}

func (k featureKernel) Dim() int { return k.dim }

func (k featureKernel) Cross(dst, x, y *mat.Dense) {
	n, m := dst.Dims()
	for i := range n {
		for j := range m {
			dst.Set(i, j, linalg.Dot(k.phi(x.RawRowView(i)), k.phi(y.RawRowView(j))))
		}
	}
}

func (k featureKernel) Gram(dst *mat.SymDense, x *mat.Dense) {
	n, _ := x.Dims()
	full := mat.NewDense(n, n, nil)
	k.Cross(full, x, x)
	for i := range n {
		for j := i; j < n; j++ {
			dst.SetSym(i, j, full.At(i, j))
		}
	}
}

func (k featureKernel) Diag(dst []float64, x *mat.Dense) {
	for i := range dst {
		p := k.phi(x.RawRowView(i))
		dst[i] = linalg.Dot(p, p)
	}
}

// linearProblem returns a network without hidden layers, f = w·x + b, and n observations of a plane. The prior
// is the prior of the network's own features, w, b ~ N(0,1).
func linearProblem(m Model, n, dim int, noise float64) *problem {
	m.Hidden, m.Context = []int{}, 60
	m, err := m.resolve(dim)
	if err != nil {
		panic(err)
	}
	p := &problem{Model: m, net: &nn.Network{In: dim}, noise: noise}
	for range dim {
		p.box.Lo, p.box.Hi = append(p.box.Lo, 0), append(p.box.Hi, 1)
		p.inputs.Shift, p.inputs.Scale = append(p.inputs.Shift, 0), append(p.inputs.Scale, 1)
	}
	p.process = prior.Process{Noise: noise, Kernel: featureKernel{dim: dim, phi: withOne}}
	p.data.X, p.data.Y = space.Sobol(n, dim, random.New(1, "x", 0)), make([]float64, n)
	for i := range p.data.Y {
		x := p.data.X.RawRowView(i)
		p.data.Y[i] = 1 + x[0] - 2*x[dim-1] + 0.1*math.Sin(40*x[0])
	}
	return p
}

func withOne(x []float64) []float64 { return append(append([]float64(nil), x...), 1) }

// regression returns the posterior of Bayesian linear regression with a unit prior: mean and
// covariance of the weights.
func regression(p *problem) ([]float64, *mat.SymDense) {
	n, d := p.data.Dims()
	a := mat.NewSymDense(d+1, nil)
	linalg.AddDiagonal(a, 1)
	b := make([]float64, d+1)
	for i := range n {
		phi := withOne(p.data.X.RawRowView(i))
		a.SymRankOne(a, 1/p.noise, mat.NewVecDense(d+1, phi))
		linalg.Axpy(p.data.Y[i]/p.noise, phi, b)
	}
	chol, err := linalg.Factorize(a)
	if err != nil {
		panic(err)
	}
	chol.SolveVec(b)
	chol.Inverse(a)
	return b, a
}

// Check 1: for a linear model under the prior of its own features, FSP-Laplace equals Bayesian
// linear regression.
func TestLinearModelIsBayesianLinearRegression(t *testing.T) {
	for _, name := range []string{"ridge", "cholesky", "lanczos"} {
		p := linearProblem(Model{Factor: name, CovarianceContext: 60}, 15, 3, 0.01)
		mean, cov := regression(p)
		rng := random.New(2, "context", 0)
		c, holdout := p.contextPoints(60, rng)

		w, c2 := p.net.Init(rng), p.withInputs(c, rng)
		to, err := p.target(c2)
		require.NoError(t, err)
		linalg.AddDiagonal(to.Cov, 1e-8)
		fit := target.LeastSquares{Net: p.net, Inputs: c2, Target: to.Mean}
		_, _, err = fit.Minimize(t.Context(), w, to.Cov, 200, 0)
		require.NoError(t, err)
		require.InDeltaSlice(t, mean, w, 1e-8, "mean")

		post := &posterior{Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: w}, process: p.process, Summary: summary.Summary{NoiseVariance: p.noise}, update: unobserved{}}
		if name == "ridge" {
			s, err := p.ridgeFactor(t.Context(), w, p.withInputs(c, rng), holdout, 0)
			require.NoError(t, err)
			post.factor = &s.factor
			err = post.observe(p.data.X)
			require.NoError(t, err)
		} else {
			post.factor, err = p.precisionFactor(t.Context(), w, c)
			require.NoError(t, err)
		}
		x := p.box.Uniform(40, rng)
		got, want := mat.NewSymDense(40, nil), mat.NewSymDense(40, nil)
		post.Joint(make([]float64, 40), got, x)
		for i := range 40 {
			for j := i; j < 40; j++ {
				want.SetSym(i, j, mat.Inner(mat.NewVecDense(4, withOne(x.RawRowView(i))), cov, mat.NewVecDense(4, withOne(x.RawRowView(j)))))
			}
		}
		require.True(t, mat.EqualApprox(got, want, 1e-8), "%s: covariance", name)
	}
}

// Check 2: for f = k(·,C)α and data at points of C, the covariance at C equals the exact
// Gaussian process. The ridge of 1e-9 times Θ causes the remaining difference.
func TestKernelModelIsTheExactProcess(t *testing.T) {
	const nc, n, noise = 25, 7, 0.05
	points := space.Sobol(nc, 2, random.New(3, "c", 0))
	k := mat.NewSymDense(nc, nil)
	prior.Matern32(2).WithParams([]float64{0.4, 0.7}).Gram(k, points)
	chol, err := linalg.Factorize(k)
	require.NoError(t, err)

	// The input of the network is ψ(x) = k(x,C); in these inputs k(x,x') = ψᵀK⁻¹ψ'.
	for name, tol := range map[string]float64{"ridge": 1e-5, "cholesky": 1e-8} {
		p := linearProblem(Model{Factor: name}, 1, nc, noise)
		p.process.Kernel = featureKernel{dim: nc, phi: func(psi []float64) []float64 {
			out := append([]float64(nil), psi...)
			chol.SolveLowerVec(out)
			return out
		}}
		c := mat.NewDense(nc, nc, nil)
		c.Copy(k)
		p.data = surrogate.Dataset{X: mat.DenseCopyOf(c.Slice(0, n, 0, nc)), Y: make([]float64, n)}
		w := make([]float64, nc+1)
		post := &posterior{Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: w}, process: p.process, Summary: summary.Summary{NoiseVariance: noise}, update: unobserved{}}
		if name == "ridge" {
			s, err := p.ridgeFactor(t.Context(), w, c, c, ridgeLo)
			require.NoError(t, err)
			post.factor = &s.factor
			err = post.observe(p.data.X)
			require.NoError(t, err)
		} else {
			post.factor, err = p.precisionFactor(t.Context(), w, c)
			require.NoError(t, err)
		}
		got := mat.NewSymDense(nc, nil)
		post.Joint(make([]float64, nc), got, c)
		want, err := p.target(c)
		require.NoError(t, err)
		require.LessOrEqual(t, maxDiff(got, want.Cov), tol, name)
	}
}

func maxDiff(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return max(mat.Max(&d), -mat.Min(&d))
}

// Check 6: observing every point twice equals halving the noise variance.
func TestDoublingTheDataHalvesTheNoise(t *testing.T) {
	d := wave(12)
	twice := surrogate.Dataset{X: mat.NewDense(24, 1, nil), Y: append(append([]float64(nil), d.Y...), d.Y...), Lo: d.Lo, Hi: d.Hi}
	twice.X.Stack(d.X, d.X)
	spec := prior.Spec{Lengthscale: []float64{0.3}, Variance: new(1.0), Mean: prior.MeanZero}
	variance := func(d surrogate.Dataset, noise float64) []float64 {
		spec.Noise = &noise
		post, err := Model{Spec: spec, Context: 80, Network: surrogate.Network{Hidden: []int{20}}}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, v := make([]float64, 50), make([]float64, 50)
		post.Predict(mean, v, space.Sobol(50, 1, nil))
		return v
	}
	require.InEpsilonSlice(t, variance(d, 0.05), variance(twice, 0.1), 1e-5)
}

// wave returns n observations of a smooth function on [0,1].
func wave(n int) surrogate.Dataset {
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{0}, Hi: []float64{1}}
	for i := range n {
		x := (float64(i) + 0.5) / float64(n)
		d.X.Set(i, 0, x)
		d.Y[i] = math.Sin(6 * x)
	}
	return d
}

// The gradient of the published objective is correct, for the weights and for ρ.
func TestLossGradient(t *testing.T) {
	p := linearProblem(Model{}, 9, 2, 0.1)
	p.net = &nn.Network{In: 2, Hidden: []int{4, 3}}
	p.process = prior.Process{Kernel: prior.Matern52(2), Mean: 0.3}
	rng := random.New(5, "loss", 0)
	l := p.newLoss(gaussian{p.data.Y, true, noiseLoSD}, p.data.X, p.process.Mean)
	require.NoError(t, l.at(p.box.Uniform(6, rng)))
	l.batch(subset.All(5))
	theta := append(p.net.Init(rng), -0.7)
	grad := make([]float64, len(theta))
	l.eval(theta, grad)
	value := func(theta []float64) float64 { return l.eval(theta, nil) }
	require.NoError(t, gradcheck.Gradient(value, theta, grad, 1e-6))
}
