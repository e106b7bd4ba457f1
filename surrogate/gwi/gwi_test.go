package gwi

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast, spec := surrogatetest.Options{Fast: true}, prior.Spec{Restarts: 1}
	for name, m := range map[string]surrogate.Model{
		"svgp":           SVGP{Options{Spec: spec, Steps: 20, Inducing: 6, HeldOut: new(0.2)}},
		"net":            Net{Options: Options{Spec: spec, Steps: 20, LearnNoise: true}, Hidden: []int{10, 10}},
		"published svgp": SVGP{Options{Preset: surrogate.Published, Steps: 60, Rate: 0.05, Inducing: 10}},
		"published net":  Net{Options: Options{Preset: surrogate.Published, Steps: 20}},
		"batches":        Net{Options: Options{Spec: spec, Steps: 20, Batch: 5, Distance: squared, Measure: "data"}, Hidden: []int{10}, Start: "random"},
	} {
		t.Run(name, func(t *testing.T) { fast.Run(t, m) })
	}
}

// prepared returns a problem at its start.
func prepared(t *testing.T, of func() (recipe, error), d surrogate.Dataset) *problem {
	r, err := of()
	require.NoError(t, err)
	r, err = r.forData(d.Dims())
	require.NoError(t, err)
	p, err := r.prepare(t.Context(), nil, d, random.New(1, "fit", 0))
	require.NoError(t, err)
	return p
}

// shake adds random numbers to the parameters of q.
func (p *problem) shake(size float64) {
	rng := random.New(2, "shake", 0)
	for i := range p.v.Vector {
		p.v.Vector[i] += size * rng.NormFloat64()
	}
}

func TestGradient(t *testing.T) {
	o := Options{Spec: prior.Spec{Noise: new(0.05), Lengthscale: []float64{0.5}, Variance: new(1.2)}, Inducing: 5, Points: 12}
	for _, distance := range []string{"w2", squared} {
		o.Distance = distance
		for name, of := range map[string]func() (recipe, error){
			"svgp": SVGP{o}.recipe,
			"net":  Net{Options: o, Hidden: []int{4, 3}, Start: "random"}.recipe,
		} {
			p := prepared(t, of, toy.Wave(9))
			p.shake(0.3)
			at := p.points([]int{7, 2, 4, 0, 1, 5, 3}, random.New(3, "points", 0))
			require.Equal(t, 6+6, at.measured)
			grad := make([]float64, len(p.v.Vector))
			_, err := p.eval(p.v, at, p.v.With(grad))
			require.NoError(t, err)
			f := func(x []float64) float64 {
				value, err := p.eval(p.v.With(x), at, p.v.Like())
				require.NoError(t, err)
				return value
			}
			require.NoError(t, gradcheck.Gradient(f, p.v.Vector, grad, 1e-6), "%s %s", name, distance)
		}
	}
}

// distance returns Ŵ² between q and the prior at the rows of x.
func (p *problem) distance(t *testing.T, x *mat.Dense) float64 {
	n, _ := x.Dims()
	o := p.objective
	o.squared = true
	value, err := o.eval(p.v, newPoints(p.q, x, n, nil, 0), p.v.Like())
	require.NoError(t, err)
	return value
}

// The distance equals the distance between the finite Gaussians by its definition, with the
// square root of K.
func TestDistanceIsThatOfGaussians(t *testing.T) {
	p := prepared(t, SVGP{Options{Spec: prior.Spec{Kernel: "matern32", Lengthscale: []float64{0.7}, Variance: new(1.3)}, Inducing: 6}}.recipe, toy.Wave(20))
	p.shake(0.3)
	const n = 15
	x := space.Sobol(n, 1, random.New(4, "x", 0))
	post, err := p.posterior(1)
	require.NoError(t, err)
	mean, r, k := make([]float64, n), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	post.Joint(mean, r, x)
	p.q.Process.Kernel.Gram(k, x)
	var eigen mat.EigenSym
	root := func(a *mat.SymDense) *mat.Dense {
		require.True(t, eigen.Factorize(a, true))
		var v, out mat.Dense
		eigen.VectorsTo(&v)
		values := eigen.Values(nil)
		for i, l := range values {
			values[i] = math.Sqrt(max(l, 0))
		}
		out.Product(&v, mat.NewDiagDense(n, values), v.T())
		return &out
	}
	half := root(k)
	var inner mat.Dense
	inner.Product(half, r, half)
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			h.SetSym(i, j, 0.5*(inner.At(i, j)+inner.At(j, i)))
		}
	}
	want := mat.Trace(k) + mat.Trace(r) - 2*mat.Trace(root(h))
	for _, m := range mean {
		want += (m - p.q.Process.Mean) * (m - p.q.Process.Mean)
	}
	require.InDelta(t, want/n, p.distance(t, x), 1e-5) // √δ, at most 2e-7 tr K
}

// The distance between equal distributions is 0.
func TestDistanceFromThePriorItself(t *testing.T) {
	p := prepared(t, SVGP{}.recipe, toy.Wave(20))
	clear(p.v.M)
	lower := mat.NewDense(p.q.L.N(), p.q.L.N(), nil)
	p.q.B.Lower(lower)
	p.v.Ut.Copy(lower.T())
	require.InDelta(t, 0, p.distance(t, space.Sobol(60, 1, random.New(4, "x", 0))), 1e-5)
}

// For constant functions the distance is (m₁-m₂)² + (s₁-s₂)², as for two numbers.
func TestDistanceOfConstants(t *testing.T) {
	kernel, err := prior.Parse("2.25*constant", 1)
	require.NoError(t, err)
	factor := func(v float64) *linalg.Cholesky {
		c, err := linalg.Factorize(mat.NewSymDense(1, []float64{v}))
		require.NoError(t, err)
		return c
	}
	process := prior.Process{Kernel: kernel, Mean: 0.3, Noise: 1}
	q := &inducing.Posterior{Conditional: pathwise.Conditional{Basis: pathwise.Basis{Process: process, Z: mat.NewDense(1, 1, nil), L: factor(2.25)}}, B: factor(4)}
	p := &problem{q: q, objective: objective{mean: sparseMean{0.3}, process: process}, v: variational.New(1, 0, 1, 1)}
	p.v.M[0] = 0.8       // m = 0.3 + 1.5/2·0.8
	p.v.Ut.Set(0, 0, .7) // s = 1.5/2·0.7
	require.InDelta(t, 0.6*0.6+(1.5-0.525)*(1.5-0.525), p.distance(t, mat.NewDense(3, 1, []float64{0, 1, 5})), 1e-6)
}

// For one observation at the measured point and k = 1 the loss is
// ((y-m)² + s²)/(2σ²) + m² + (1-s)². Its minimum is m = y/(1+2σ²), s = 2σ²/(1+2σ²).
func TestOptimumOfOneObservation(t *testing.T) {
	const noise, y = 0.2, 1.7
	spec := prior.Spec{Lengthscale: []float64{1}, Variance: new(1.), Noise: new(noise), Mean: prior.MeanZero}
	d := surrogate.Dataset{X: mat.NewDense(1, 1, nil), Y: []float64{y}}
	p := prepared(t, SVGP{Options{Spec: spec, Distance: squared, Measure: "data"}}.recipe, d)
	at := p.points([]int{0}, nil)
	res, err := optimize.Minimize(t.Context(), func(x, grad []float64) float64 {
		value, err := p.eval(p.v.With(x), at, p.v.With(grad))
		require.NoError(t, err)
		grad[len(grad)-1] = 0
		return value
	}, p.v.Vector, nil, nil, optimize.Settings{GradTol: 1e-9, FuncTol: -1})
	require.NoError(t, err)
	p.v = p.v.With(res.X)
	post, err := p.posterior(1)
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	post.Predict(mean, variance, d.X)
	require.InDelta(t, y/(1+2*noise), mean[0], 1e-6)
	require.InDelta(t, 2*noise/(1+2*noise), math.Sqrt(variance[0]), 1e-6)
}

// Before training and for Z = X, the sparse mean and r are the mean and covariance of the
// exact posterior. The network is close to this mean.
func TestStartIsTheExactPosterior(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Wave(20)
	spec := prior.Spec{Lengthscale: []float64{0.6}, Variance: new(0.9), Noise: new(0.02)}
	want, err := gp.Model{Spec: spec}.Fit(t.Context(), d, random.New(1, "gp", 0))
	require.NoError(t, err)
	x := mat.NewDense(9, 1, []float64{-2, -1.2, -0.7, -0.3, 0, 0.4, 0.8, 1.1, 1.9})
	wm, wc, gm, gc := make([]float64, 9), mat.NewSymDense(9, nil), make([]float64, 9), mat.NewSymDense(9, nil)
	want.Joint(wm, wc, x)
	for tol, of := range map[float64]func() (recipe, error){
		1e-7: SVGP{Options{Spec: spec}}.recipe,
		0.1:  Net{Options: Options{Spec: spec}}.recipe,
	} {
		got, err := prepared(t, of, d).posterior(1)
		require.NoError(t, err)
		got.Joint(gm, gc, x)
		require.InDeltaSlice(t, wm, gm, tol)
		require.InDeltaSlice(t, wc.RawSymmetric().Data, gc.RawSymmetric().Data, 1e-7)
	}
}

// A temperature multiplies all variances and does not change the mean.
func TestTemperature(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{-1.5, -0.6, 0, 0.7})
	for _, of := range []func() (recipe, error){SVGP{Options{Inducing: 8}}.recipe, Net{Hidden: []int{10}}.recipe} {
		p := prepared(t, of, toy.Wave(20))
		p.shake(0.1)
		one, err := p.posterior(1)
		require.NoError(t, err)
		hot, err := p.posterior(2.5)
		require.NoError(t, err)
		m1, m2, c1, c2 := make([]float64, 4), make([]float64, 4), mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
		one.Joint(m1, c1, x)
		hot.Joint(m2, c2, x)
		c1.ScaleSym(2.5, c1)
		require.InDeltaSlice(t, m1, m2, 1e-9)
		require.InDeltaSlice(t, c1.RawSymmetric().Data, c2.RawSymmetric().Data, 1e-9)
		require.InDelta(t, 2.5*one.Noise(), hot.Noise(), 1e-12)
	}
}

// Too low a temperature gives a warning. Without a temperature the start, which is the exact process,
// gives none.
func TestWarningOfALowTemperature(t *testing.T) {
	p := prepared(t, SVGP{}.recipe, toy.Wave(20))
	for temperature, want := range map[float64]string{
		1e-9: "of the exact posterior, the variance may be too small: set held-out=0, or use svgp",
		0.3:  "of the exact posterior, the variance may be too small: set held-out=0, or use svgp",
		1:    "", 2: "",
	} {
		post, err := p.finish(temperature, random.New(1, "compare", 0))
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, post.Warnings(), temperature)
		} else {
			require.Len(t, post.Warnings(), 1, temperature)
			require.Contains(t, post.Warnings()[0], want)
		}
	}
}

// A temperature changes a stated noise variance, with a warning.
func TestWarningOfAStatedNoise(t *testing.T) {
	const changed = "the held-out observations multiply all variances by "
	o := Options{Preset: surrogate.Published, Spec: prior.Spec{Noise: new(0.01)}, Steps: 20}
	for _, m := range []surrogate.Model{SVGP{o}, Net{Options: o}} {
		post, err := m.Fit(t.Context(), toy.Wave(20), random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Contains(t, strings.Join(post.Warnings(), "\n"), changed)
	}
	o.HeldOut = new(0.)
	post, err := SVGP{o}.Fit(t.Context(), toy.Wave(20), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InDelta(t, 0.01, post.Noise(), 1e-12)
	require.NotContains(t, strings.Join(post.Warnings(), "\n"), changed)
}

// A published fit to few observations warns of narrow intervals.
func TestPublishedWarning(t *testing.T) {
	post, err := surrogate.Scaled{Model: Net{Options: Options{Preset: surrogate.Published, Steps: 300}}}.Fit(t.Context(), toy.Sines(10, 2), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Len(t, post.Warnings(), 1)
	require.Contains(t, post.Warnings()[0], "the 95 % intervals of the function contain ")
}

// For a prior with too small a variance, held-out data give a temperature above 1.
func TestHeldOutData(t *testing.T) {
	spec := prior.Spec{Lengthscale: []float64{5}, Variance: new(0.01), Noise: new(1e-3)}
	post, err := SVGP{Options{Spec: spec, HeldOut: new(0.25), Steps: 20}}.Fit(t.Context(), toy.Wave(40), random.New(1, "fit", 0))
	require.NoError(t, err)
	h := post.(surrogate.Describer).Hypers()
	require.Equal(t, "temperature", h[len(h)-1].Name)
	require.Greater(t, h[len(h)-1].Value, 5.)
}

// Training lowers the loss.
func TestTraining(t *testing.T) {
	for _, of := range []func() (recipe, error){SVGP{}.recipe, Net{Hidden: []int{20, 20}}.recipe, SVGP{Options{Batch: 10, Inducing: 5, Points: 1}}.recipe} {
		p := prepared(t, of, toy.Wave(40))
		loss := func() float64 {
			value, err := p.eval(p.v, p.points(p.order, random.New(5, "points", 0)), p.v.Like())
			require.NoError(t, err)
			return value
		}
		before := loss()
		require.NoError(t, p.train(t.Context(), p.Steps, nil, random.New(1, "train", 0)))
		require.Less(t, loss(), before)
	}
}

// With the default schedule both models stay near the exact process with the same prior.
func TestNearTheExactProcess(t *testing.T) {
	racetest.SkipNumerical(t)
	d := toy.Wave(40)
	for _, kernel := range []string{"matern52", "rbf"} {
		spec := prior.Spec{Kernel: kernel}
		exact, err := gp.Model{Spec: spec}.Fit(t.Context(), d, random.New(1, "gp", 0))
		require.NoError(t, err)
		for name, m := range map[string]surrogate.Model{"gwi-svgp": SVGP{Options{Spec: spec}}, "gwi-net": Net{Options: Options{Spec: spec}}} {
			post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			far := toy.Wasserstein(post, exact)
			t.Logf("%s %s: %.4f", name, kernel, far)
			require.Less(t, far, 0.15)
		}
	}
}

// A learned noise variance covers the errors of a network that does not reach the sparse process.
func TestNoiseCoversErrors(t *testing.T) {
	rng := random.New(1, "data", 0)
	for _, n := range []int{500, 501} {
		d := surrogate.Dataset{X: space.Uniform(n, 1, rng), Y: make([]float64, n)}
		for i := range d.Y {
			d.Y[i] = math.Sin(20*d.X.At(i, 0)) + 0.03*rng.NormFloat64()
		}
		m := Net{Options: Options{Spec: prior.Spec{Restarts: 1}, Inducing: 30, Steps: 5}, Hidden: []int{1}}
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		mean, variance, square := make([]float64, n), make([]float64, n), 0.0
		post.Predict(mean, variance, d.X)
		for i, y := range d.Y {
			square += (y - mean[i]) * (y - mean[i]) / float64(n)
		}
		require.Greater(t, square, 0.1)
		if n > manyRows {
			require.InEpsilon(t, square, post.Noise(), 1e-9)
		} else {
			require.Less(t, post.Noise(), 0.01)
		}
	}
}

// The warnings of the sparse process and of the fit of the prior remain.
func TestWarningsOfThePrior(t *testing.T) {
	d := toy.Wave(20)
	for i := range d.Y {
		d.Y[i] *= 1e8
	}
	for name, m := range map[string]surrogate.Model{
		"svgp":           SVGP{Options{Steps: 1}},
		"net":            Net{Options: Options{Steps: 1}, Hidden: []int{5}},
		"published svgp": SVGP{Options{Preset: surrogate.Published, Steps: 1}},
	} {
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		require.NotEmpty(t, post.Warnings(), name)
		require.Contains(t, post.Warnings()[0], "variance is at its bound", name)
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(SVGP{}, 3))
	require.NoError(t, surrogate.Check(Net{}, 3))
	require.ErrorContains(t, surrogate.Check(SVGP{Options{Distance: "w22"}}, 2), `distance is "w22", want `)
	require.ErrorContains(t, surrogate.Check(SVGP{Options{Selection: "kmean"}}, 2), `selection is "kmean", want `)
	require.ErrorContains(t, surrogate.Check(Net{Start: "rand"}, 2), `start is "rand", want `)
	require.ErrorContains(t, surrogate.Check(Net{Hidden: []int{0}}, 2), "hidden is 0")
	require.ErrorContains(t, surrogate.Check(Net{Options: Options{HeldOut: new(1.)}}, 2), "held-out is 1")
	require.ErrorIs(t, surrogate.Check(SVGP{Options{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}}, 2), prior.ErrSpec)
}

// The benchmark takes one step with the default settings and 50 observations of 2 inputs.
func BenchmarkStep(b *testing.B) {
	rng := random.New(1, "bench", 0)
	d := surrogate.Dataset{X: space.Uniform(50, 2, rng), Y: make([]float64, 50)}
	for i := range d.Y {
		d.Y[i] = rng.NormFloat64()
	}
	r, err := Net{}.recipe()
	require.NoError(b, err)
	r, err = r.forData(d.Dims())
	require.NoError(b, err)
	p, err := r.prepare(b.Context(), nil, d, rng)
	require.NoError(b, err)
	grad := p.v.Like()
	for b.Loop() {
		if _, err := p.eval(p.v, p.points(p.order, rng), grad); err != nil {
			b.Fatal(err)
		}
	}
}
