package gfsvi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// linear returns the problem f = w·x + b under the prior of its own features, w, b ~ N(0,1). The observations
// are a plane plus a nonlinear term. It also returns the posterior mean and precision of (w, b) by Bayesian
// linear regression.
func linear(dim, n int, noise float64) (o *objective, b batch, mean []float64, precision *mat.SymDense) {
	o = &objective{
		net:     &nn.Network{In: dim},
		inputs:  domain.Affine{Shift: make([]float64, dim), Scale: make([]float64, dim)},
		process: prior.Process{Kernel: prior.Linear(dim).WithParams(ones(dim + 1)), Noise: noise},
		gamma:   1e-10,
	}
	copy(o.inputs.Scale, ones(dim))
	const measured = 20
	b = batch{x: space.Sobol(measured+n, dim, random.New(1, "x", 0)), measure: measured, y: make([]float64, n), weight: 1}
	precision, mean = mat.NewSymDense(dim+1, nil), make([]float64, dim+1)
	linalg.AddDiagonal(precision, 1)
	for i := range b.y {
		phi := append(append([]float64(nil), b.x.RawRowView(measured+i)...), 1)
		b.y[i] = 1 - 2*phi[0] + math.Sin(20*phi[dim-1])
		precision.SymRankOne(precision, 1/noise, mat.NewVecDense(dim+1, phi))
		linalg.Axpy(b.y[i]/noise, phi, mean)
	}
	chol, err := linalg.Factorize(precision)
	if err != nil {
		panic(err)
	}
	chol.SolveVec(mean)
	return o, b, mean, precision
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// For a linear model under the prior of its own features, the optimal q with an unrestricted S
// is the exact posterior. With a diagonal S, m is exact, and the precisions are the diagonal
// of the exact precision.
func TestLinearModelIsBayesianLinearRegression(t *testing.T) {
	const dim, noise = 2, 0.1
	o, b, mean, precision := linear(dim, 12, noise)
	p := o.net.NumParams()
	for _, rank := range []int{0, p} {
		v := variational.NewLowRank(p, rank)
		rng := random.New(2, "start", 0)
		for i := range v.Vector {
			v.Vector[i] = 0.3 * rng.NormFloat64()
		}
		v.LogSD[0] = 0.5 * math.Log(noise)
		loss := func(x, grad []float64) float64 {
			g := v.With(grad)
			f, err := o.eval(v.With(x), b, g)
			require.NoError(t, err)
			g.LogSD[0] = 0
			return f
		}
		res, err := optimize.Minimize(t.Context(), loss, v.Vector, nil, nil, optimize.Settings{MaxIter: 3000, GradTol: 1e-7, FuncTol: -1})
		require.NoError(t, err)
		q := v.With(res.X)
		require.InDeltaSlice(t, mean, q.M, 1e-5)
		s := mat.NewSymDense(p, nil)
		for i, v := range q.Scales() {
			s.SetSym(i, i, v*v)
		}
		if rank == 0 {
			for i := range p {
				require.InEpsilon(t, 1/precision.At(i, i), s.At(i, i), 1e-3)
			}
			continue
		}
		linalg.Syrk(s, 1, linalg.T, q.Ut, 1)
		var unit mat.Dense
		unit.Mul(s, precision)
		require.True(t, mat.EqualApprox(&unit, mat.NewDiagDense(p, ones(p)), 1e-3), "%v", mat.Formatted(&unit))
	}
}

// The multiplicative updates lower F, and one update reaches the diagonal optimum of the
// linear model.
func TestStartScales(t *testing.T) {
	o, b, _, precision := linear(3, 12, 0.1)
	p := &problem{objective: *o}
	v := variational.NewLowRank(o.net.NumParams(), 0)
	v.LogSD[0] = 0.5 * math.Log(0.1)
	p.objective.prepare(v, b)
	require.NoError(t, p.startScales(t.Context(), v, b))
	for i, s := range v.Scales() {
		require.InEpsilon(t, 1/precision.At(i, i), s*s, 1e-5)
	}
}

// The network is near the exact process with the same prior.
func TestNearTheExactProcess(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Wave(40)
	for _, c := range []struct {
		kernel string
		model  Model
		within float64
	}{
		{"matern52", Model{Steps: 20, Rank: 40}, 0.08},
		{"rbf", Model{Steps: 20, Rank: 40}, 0.15},
		{"matern52", Model{Covariance: "diagonal", Steps: 20}, 0.4},
	} {
		c.model.Kernel = c.kernel
		exact, err := gp.Model{Spec: c.model.Spec}.Fit(t.Context(), d, random.New(1, "gp", 0))
		require.NoError(t, err)
		post, err := c.model.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		far := toy.Wasserstein(post, exact)
		t.Logf("%s %s: %.4f", c.kernel, c.model.Covariance, far)
		require.Less(t, far, c.within, c.kernel)
	}
}

// Training lowers the objective from its value at the start.
func TestTrainingLowersTheObjective(t *testing.T) {
	d := toy.Wave(20)
	spec := prior.Spec{Lengthscale: []float64{0.4}, Noise: new(0.01)}
	bound := func(steps int, rate float64) float64 {
		m := Model{Spec: spec, Network: surrogate.Network{Hidden: []int{15, 15}}, Context: 40, Rank: 10, Steps: steps, Rate: rate}
		fitted, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		q := fitted.(*linearized.Posterior)
		of, err := spec.Fit(t.Context(), d.X, d.Y, false, nil, random.Split(random.New(1, "fit", 0), "prior", 0))
		require.NoError(t, err)
		m, err = m.resolve()
		require.NoError(t, err)
		p := &problem{Model: m, data: d, box: domain.ContextBox(m.Box, d), order: subset.All(20), objective: objective{net: q.Net, inputs: q.Inputs, process: of.Process, gamma: m.Gamma}}
		_, trained := summary.DecodeState(q.State(), 12*q.Net.NumParams())
		v := variational.NewLowRank(q.Net.NumParams(), 10).With(append(trained, 0.5*math.Log(q.Noise())))
		var sum float64
		for i := range 5 {
			b, err := p.nextBatch(random.New(9, "batch", i))
			require.NoError(t, err)
			f, err := p.eval(v, b, nil)
			require.NoError(t, err)
			sum += f / 5
		}
		return sum
	}
	before, after := bound(1, 1e-12), bound(150, 1e-3)
	t.Logf("F from %.1f to %.1f", before, after)
	require.Less(t, after, before)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Covariance: "lowrank"}, 2), `covariance is "lowrank", want `)
	require.ErrorContains(t, surrogate.Check(Model{Gamma: -1}, 2), "gamma is -1")
	for _, m := range []Model{{Covariance: "diagonal", Rank: 5}, {Preset: surrogate.Published, Rank: 5}} {
		require.ErrorContains(t, surrogate.Check(m, 2), "rank is 5, which needs covariance=low-rank")
	}
	require.NoError(t, surrogate.Check(Model{Preset: surrogate.Published, Covariance: "low-rank", Rank: 5}, 2))
	require.ErrorIs(t, surrogate.Check(Model{Gamma: -1}, 2), surrogate.ErrSetting)
	require.ErrorIs(t, surrogate.Check(Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2), prior.ErrSpec)
}
