package mapnet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/functionspace/bo/internal/settings"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/toy"
)

func problem(t testing.TB, s Settings, n, dim int) *Problem {
	s, err := settings.Resolve("", s)
	require.NoError(t, err)
	p, err := New(s, toy.Sines(n, dim))
	require.NoError(t, err)
	return p
}

// The derivatives of the evidence are correct for every curvature.
func TestGradientOfEvidence(t *testing.T) {
	p := problem(t, Settings{Network: Network{Hidden: []int{4, 3}}}, 12, 2)
	w := p.Initial(random.New(2, "w", 0))
	r := make([]float64, 12)
	p.Residuals(r, w)
	primal, err := p.primal(context.Background(), w)
	require.NoError(t, err)
	all := map[string]Curvature{"primal": primal}
	for _, name := range []string{Full, Kron, Diagonal} {
		all[name], err = p.NewCurvature(context.Background(), name, w)
		require.NoError(t, err)
	}
	for name, c := range all {
		f := func(v []float64) float64 {
			value, _, _, err := Evidence(Hypers{math.Exp(v[0]), math.Exp(v[1])}, 12, mat.Dot(mat.NewVecDense(12, r), mat.NewVecDense(12, r)), 3.2, c)
			require.NoError(t, err)
			return value
		}
		_, dp, dn, err := Evidence(Hypers{math.Exp(0.3), math.Exp(-2)}, 12, mat.Dot(mat.NewVecDense(12, r), mat.NewVecDense(12, r)), 3.2, c)
		require.NoError(t, err)
		require.NoError(t, gradcheck.Gradient(f, []float64{0.3, -2}, []float64{dp, dn}, 1e-7), name)
	}
	a, _, _, _ := Evidence(Hypers{2, 0.1}, 12, 1, 1, all[Full])
	b, _, _, _ := Evidence(Hypers{2, 0.1}, 12, 1, 1, primal)
	require.InDelta(t, a, b, 1e-9, "log|I + JJᵀ/ρ| = log|I + JᵀJ/ρ|")
}

func TestGradientOfObjective(t *testing.T) {
	p := problem(t, Settings{Network: Network{Hidden: []int{4, 3}, Activation: "gelu"}}, 12, 2)
	h, w := Hypers{0.7, 0.02}, p.Initial(random.New(2, "w", 0))
	grad := make([]float64, len(w))
	gradient(grad, make([]float64, 12), p.Net.Record(w, p.X), w, p.Y, h, 12)
	f := func(w []float64) float64 {
		r := make([]float64, 12)
		p.Residuals(r, w)
		return Objective(h, r, w) / 12
	}
	require.NoError(t, gradcheck.Gradient(f, w, grad, 1e-7))
}

// A step without damping solves a linear model, and E decreases as predicted.
func TestLevenbergMarquardtSolvesLinearModels(t *testing.T) {
	p := problem(t, Settings{Network: Network{Hidden: []int{}}}, 12, 2)
	h := Hypers{0.7, 0.02}
	lm := newLevenbergMarquardt(p, p.Initial(random.New(2, "w", 0)))
	lm.damping.Lambda = 1e-12
	_, err := lm.step(h)
	require.NoError(t, err)
	grad := make([]float64, len(lm.w))
	gradient(grad, make([]float64, 12), lm.tape, lm.w, p.Y, h, 12)
	for _, g := range grad {
		require.InDelta(t, 0, g, 1e-9)
	}
}

// Both trainers reach nearly the same residuals.
func TestTrainersAgree(t *testing.T) {
	rms := func(s Settings) float64 {
		s.Hidden, s.Precision = []int{10}, new(0.1)
		p := problem(t, s, 60, 1)
		rng := random.New(2, "w", 0)
		w, h := p.Start(nil, rng)
		f, err := p.Fit(context.Background(), Full, w, h, rng)
		require.NoError(t, err)
		r := make([]float64, 60)
		p.Residuals(r, f.W)
		return math.Sqrt(mat.Dot(mat.NewVecDense(60, r), mat.NewVecDense(60, r)) / 60)
	}
	require.InDelta(t, rms(Settings{}), rms(Settings{Trainer: "adam", Steps: 2000, Rate: 0.03}), 0.02)
}

// A fit has the largest evidence of its training, so that more steps never lower it. From a strong prior
// the noise is not far below the noise of the data.
func TestEvidenceOfMoreSteps(t *testing.T) {
	fit := func(steps int) *Fitted {
		p := problem(t, Settings{Steps: steps}, 150, 8)
		rng := random.New(2, "w", 0)
		w, h := p.StartStrong(nil, rng)
		require.Equal(t, Hypers{strongPrecision, strongNoise * p.noiseStart}, h)
		f, err := p.Fit(t.Context(), Full, w, h, rng)
		require.NoError(t, err)
		return f
	}
	last := fit(20)
	for _, steps := range []int{60, 200} {
		f := fit(steps)
		require.GreaterOrEqual(t, f.Evidence, last.Evidence)
		last = f
	}
	require.Empty(t, last.Warnings)
	require.Greater(t, last.Hypers.Noise, 0.25*0.01)
}

// Few observations, states and fixed values start as Start does.
func TestStartStrong(t *testing.T) {
	rng := func() *rand.Rand { return random.New(2, "w", 0) }
	few, many := problem(t, Settings{}, 20, 2), problem(t, Settings{Network: Network{Noise: new(0.3)}}, 120, 2)
	w, h := few.StartStrong(nil, rng())
	require.Equal(t, few.start(), h)
	again, h := few.StartStrong(append([]float64{1, -2}, w...), rng())
	require.Equal(t, w, again)
	require.InDelta(t, math.E, h.Precision, 1e-12)
	_, h = many.StartStrong(nil, rng())
	require.Equal(t, Hypers{strongPrecision, 0.3}, h)
	_, h = many.StartStrong(append([]float64{1, -2}, w...), rng())
	require.InDelta(t, math.E, h.Precision, 1e-12)
}

// Training from initial weights begins at a weak prior, for any number of observations. Nothing follows it
// that leaves a constant function.
func TestStochasticStartsWeak(t *testing.T) {
	p := problem(t, Settings{}, 120, 2)
	s := &Stochastic{Problem: p, Family: point{}}
	v, warnings, err := s.Start(t.Context(), nil, random.New(2, "w", 0))
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, p.start(), s.Hypers(v))
}

// Training on a wave from a strong prior ends at a constant or a linear function, and again from a weak prior
// does not.
func TestFitStrongLeavesALinearFunction(t *testing.T) {
	for name, wave := range map[string]func(x float64) float64{
		"constant": func(x float64) float64 { return math.Sin(4 * x) },
		"linear":   func(x float64) float64 { return math.Sin(5*x) + 0.4*x },
	} {
		p := problem(t, Settings{}, 120, 1)
		for i := range p.Y {
			p.Y[i] = wave(p.X.At(i, 0))
		}
		rng := func() *rand.Rand { return random.New(3, "w", 0) }
		w, h := p.StartStrong(nil, rng())
		stuck, err := p.Fit(t.Context(), p.Cheap(), w, h, rng())
		require.NoError(t, err)
		require.Greater(t, stuck.Hypers.Noise, 0.4, name)
		f, err := p.FitStrong(t.Context(), p.Cheap(), w, h, rng())
		require.NoError(t, err)
		require.Less(t, f.Hypers.Noise, 0.01, name)
		require.Greater(t, f.Evidence, stuck.Evidence, name)
	}
}

// The networks for constant targets are close to it at the observations.
func TestVanishing(t *testing.T) {
	p := problem(t, Settings{}, 6, 2)
	require.False(t, p.Constant())
	clear(p.Y)
	require.True(t, p.Constant())
	post, err := p.Vanishing(t.Context(), 3, nil, random.New(1, "vanishing", 0))
	require.NoError(t, err)
	require.Len(t, post.Weights, 3)
	f := make([]float64, 6)
	for _, w := range post.Weights {
		p.Net.Forward(f, w, p.X)
		for _, v := range f {
			require.InDelta(t, 0, v, 0.05)
		}
	}
}

// A⊗B/n is exact within a layer for one observation, and in the output layer for any number.
func TestKroneckerFactors(t *testing.T) {
	for _, n := range []int{1, 9} {
		p := problem(t, Settings{Network: Network{Hidden: []int{4, 3}}}, n, 2)
		w := p.Initial(random.New(2, "w", 0))
		full, err := p.primal(context.Background(), w)
		require.NoError(t, err)
		c, err := p.kron(context.Background(), w)
		require.NoError(t, err)
		at := 0
		for l, layer := range c.layers {
			a, b := layer.value.Dims()
			for i := range a * b {
				for j := range a * b {
					var got float64
					for x := range a {
						for y := range b {
							got += layer.value.At(x, y) * layer.a.At(x, i/b) * layer.b.At(y, i%b) * layer.a.At(x, j/b) * layer.b.At(y, j%b)
						}
					}
					if n == 1 || l == 2 {
						require.InDelta(t, full.a.At(at+i, at+j), got, 1e-12)
					}
				}
			}
			at += a * b
		}
		require.Equal(t, len(w), at)
	}
}

// The covariances equal J(δI + G/σ²)⁻¹Jᵀ, draws have these covariances, and the dual and the
// primal form agree.
func TestCovariances(t *testing.T) {
	p := problem(t, Settings{Network: Network{Hidden: []int{4, 3}}}, 9, 2)
	w, h := p.Initial(random.New(2, "w", 0)), Hypers{0.7, 0.02}
	tape := p.Net.Record(w, toy.Sines(5, 2).X)
	j := mat.NewDense(5, len(w), nil)
	tape.Jacobian(j)
	primal, err := p.primal(context.Background(), w)
	require.NoError(t, err)
	diagonal, err := p.diagonal(context.Background(), w)
	require.NoError(t, err)
	kron, err := p.kron(context.Background(), w)
	require.NoError(t, err)
	precision := func(g func(i, j int) float64) *mat.SymDense {
		out := mat.NewSymDense(len(w), nil)
		for i := range w {
			for j := range i + 1 {
				out.SetSym(i, j, g(i, j)/h.Noise)
			}
			out.SetSym(i, i, out.At(i, i)+h.Precision)
		}
		return out
	}
	same := func(i, j int) float64 {
		if i == j {
			return diagonal.d[i]
		}
		return 0
	}
	kronecker := mat.NewDense(len(w), len(w), nil)
	unit := &rootCovariance{kronRootOf(t, kron, h), len(w)}
	for i := range w {
		kronecker.Set(i, i, 1)
	}
	unit.right(kronecker) // S
	s := mat.DenseCopyOf(kronecker)
	for name, c := range map[string]struct {
		curvature Curvature
		precision *mat.SymDense
	}{
		"dual":     {newDual(p.Net.Record(w, p.X)), precision(primal.a.At)},
		"primal":   {primal, precision(primal.a.At)},
		"diagonal": {diagonal, precision(same)},
		"kron":     {kron, nil},
	} {
		cov, err := c.curvature.Covariance(h)
		require.NoError(t, err)
		var sigma mat.Dense
		if c.precision == nil {
			sigma.Mul(s, s.T())
		} else {
			require.NoError(t, sigma.Inverse(c.precision))
		}
		var want mat.Dense
		want.Product(j, &sigma, j.T())
		got := mat.NewSymDense(5, nil)
		cov.At(tape).Joint(got)
		variance := make([]float64, 5)
		cov.At(tape).Variance(variance)
		for a := range 5 {
			require.InDelta(t, want.At(a, a), variance[a], 1e-8, name)
			for b := range 5 {
				require.InDelta(t, want.At(a, b), got.At(a, b), 1e-8, name)
			}
		}
	}
}

func kronRootOf(t *testing.T, c *kron, h Hypers) kronRoot {
	cov, err := c.Covariance(h)
	require.NoError(t, err)
	return cov.(linearized.ByRoot).Root.(rootCovariance).root.(kronRoot)
}

func TestSettings(t *testing.T) {
	for text, s := range map[string]Settings{
		"activation is \"tan\", want tanh": {Network: Network{Activation: "tan"}},
		"trainer is \"adma\", want":        {Trainer: "adma"},
		"hidden is 0, want 1 to 10000":     {Network: Network{Hidden: []int{0}}},
		"steps is -1, want 1 to":           {Steps: -1},
		"precision is 0, want 1e-10 to":    {Network: Network{Precision: new(0.)}},
		"noise is NaN, want 1e-10 to":      {Network: Network{Noise: new(math.NaN())}},
		"noise is 1e-14, want 1e-10 to":    {Network: Network{Noise: new(1e-14)}},
		"noise is 1e+300, want 1e-10 to":   {Network: Network{Noise: new(1e300)}},
		"rate is +Inf, want more than 0":   {Rate: math.Inf(1)},
		"rate is 10, want more than 0 and": {Rate: 10},
	} {
		_, err := settings.Resolve("", s)
		require.ErrorContains(t, err, text)
	}
}

func TestTooLarge(t *testing.T) {
	p := problem(t, Settings{Network: Network{Hidden: []int{200, 200}}}, 1, 1)
	p.Y = make([]float64, maxFull+1)
	_, err := p.NewCurvature(context.Background(), Full, make([]float64, p.Net.NumParams()))
	require.ErrorContains(t, err, "choose curvature=kron")
}

func BenchmarkStep(b *testing.B) {
	p := problem(b, Settings{}, 200, 6)
	h := p.start()
	lm := newLevenbergMarquardt(p, p.Initial(random.New(2, "w", 0)))
	for b.Loop() {
		lm.damping.Lambda = 1
		_, err := lm.step(h)
		require.NoError(b, err)
	}
}

func BenchmarkFit(b *testing.B) {
	p := problem(b, Settings{}, 50, 6)
	for b.Loop() {
		rng := random.New(2, "w", 0)
		w, h := p.Start(nil, rng)
		_, err := p.Fit(context.Background(), Full, w, h, rng)
		require.NoError(b, err)
	}
}
