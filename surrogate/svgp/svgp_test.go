package svgp

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	t.Run("exact", func(t *testing.T) { fast.Run(t, Model{Spec: prior.Spec{Restarts: 1}}) })
	t.Run("sparse", func(t *testing.T) {
		fast.Run(t, Model{Spec: prior.Spec{Restarts: 1}, Inducing: 5, LearnInducing: true, Selection: "pivoted"})
	})
	t.Run("minibatch", func(t *testing.T) {
		fast.Run(t, Model{Spec: prior.Spec{Restarts: 1}, Inducing: 5, Bound: "minibatch", Batch: 6, Steps: 20})
	})
}

// With Z = X the bound is the log marginal likelihood and the posterior is exact.
func TestExactWhereInducingPointsAreTheInputs(t *testing.T) {
	d := toy.Sines(30, 2)
	for _, noise := range []*float64{nil, new(0.02)} {
		spec := prior.Spec{Kernel: "matern32", Noise: noise}
		want, err := gp.Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		if noise == nil {
			h := want.(surrogate.Describer).Hypers()
			spec.Variance, spec.Lengthscale, spec.Noise = new(h[0].Value), []float64{h[1].Value, h[2].Value}, new(h[3].Value)
		} else {
			spec.Variance, spec.Lengthscale = new(1.3), []float64{0.4}
			want, err = gp.Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
		}
		got, err := Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-7)
		x := toy.Sines(20, 2).X
		wm, wc, gm, gc := make([]float64, 20), mat.NewSymDense(20, nil), make([]float64, 20), mat.NewSymDense(20, nil)
		want.Joint(wm, wc, x)
		got.Joint(gm, gc, x)
		require.InDeltaSlice(t, wm, gm, 1e-8)
		require.InDeltaSlice(t, wc.RawSymmetric().Data, gc.RawSymmetric().Data, 1e-8)
	}
}

// With Z = X the learned hyperparameters equal the hyperparameters of the exact fit.
func TestSameFitAsTheExactProcess(t *testing.T) {
	d := toy.Sines(40, 1)
	want, err := gp.Model{}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	got, err := Model{}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-3)
}

// The bound is below the log marginal likelihood and increases with the number of
// inducing points.
func TestBoundRises(t *testing.T) {
	d := toy.Sines(60, 1)
	spec := prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.2}, Variance: new(1.), Noise: new(0.01)}
	exact, err := gp.Model{Spec: spec}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	for _, selection := range []string{"kmeans", "pivoted"} {
		last := math.Inf(-1)
		for _, m := range []int{2, 4, 8, 16} {
			p, err := Model{Spec: spec, Inducing: m, Selection: selection}.Fit(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			bound := p.(surrogate.Evidence).LogMarginalLikelihood()
			require.Greater(t, bound, last, "%s %d", selection, m)
			last = bound
		}
		want := exact.(surrogate.Evidence).LogMarginalLikelihood()
		require.Less(t, last, want+1e-6)
		require.InDelta(t, want, last, 0.1)
	}
}

func testProblem(t *testing.T, m Model) (*problem, []float64) {
	d := toy.Sines(23, 2)
	m, err := settings.Resolve("svgp", m)
	require.NoError(t, err)
	p, err := newProblem(m, d)
	require.NoError(t, err)
	p.z = mat.DenseCopyOf(toy.Sines(6, 2).X)
	rng, v := random.New(2, "v", 0), []float64{}
	for _, at := range p.hyper.Free {
		v = append(v, math.Log(p.hyper.Params[at].Value)+0.3*rng.NormFloat64())
	}
	if m.LearnInducing {
		v = append(v, p.z.RawMatrix().Data...)
	}
	return p, v
}

// A constant input does not disturb the fit.
func TestConstantInput(t *testing.T) {
	d := toy.Sines(60, 1)
	d.X = mat.DenseCopyOf(d.X.Grow(0, 1))
	post, err := Model{Inducing: 15}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 60), make([]float64, 60)
	post.Predict(mean, variance, d.X)
	for i, y := range d.Y {
		require.InDelta(t, y, mean[i], 0.4)
	}
}

func TestGradientOfCollapsedBound(t *testing.T) {
	for _, m := range []Model{{LearnInducing: true}, {Spec: prior.Spec{Kernel: "rbf+linear", Mean: prior.MeanZero}}} {
		p, v := testProblem(t, m)
		grad := make([]float64, len(v))
		p.loss(context.Background(), v, grad)
		f := func(v []float64) float64 { return p.loss(context.Background(), v, make([]float64, len(v))) }
		require.NoError(t, gradcheck.Gradient(f, v, grad, 1e-6))
	}
}

func TestGradientOfHensmanBound(t *testing.T) {
	p, v := testProblem(t, Model{LearnInducing: true, Spec: prior.Spec{Noise: new(0.05)}})
	rng := random.New(3, "q", 0)
	q := standard(6)
	root := mat.NewDense(6, 6, nil)
	for i := range root.RawMatrix().Data {
		root.RawMatrix().Data[i] = rng.NormFloat64()
	}
	for i := range 6 {
		q.shift[i] = rng.NormFloat64()
		for j := range i + 1 {
			q.precision.SetSym(i, j, q.precision.At(i, j)+mat.Dot(root.RowView(i), root.RowView(j)))
		}
	}
	require.NoError(t, q.refresh())
	loss := func(v, grad []float64) float64 {
		process, z := p.unpack(v)
		b, err := newBatch(process, z, shape.Rows(p.x, 0, 9), p.y[:9], 23)
		require.NoError(t, err)
		dtheta, dz := make([]float64, len(p.hyper.Params)-1), mat.NewDense(6, 2, nil)
		value, dnoise := b.bound(q, dtheta, dz)
		return p.pack(grad, v, dtheta, dnoise, dz) - value
	}
	grad := make([]float64, len(v))
	loss(v, grad)
	require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return loss(v, make([]float64, len(v))) }, v, grad, 1e-6))
}

// One natural-gradient step of length 1 on all data reaches the optimum, at which
// Hensman's bound equals Titsias's.
func TestNaturalStepReachesTheCollapsedBound(t *testing.T) {
	p, v := testProblem(t, Model{Spec: prior.Spec{Mean: prior.MeanZero}})
	process, z := p.unpack(v)
	c, err := newCollapsed(context.Background(), p.data, process, z)
	require.NoError(t, err)
	b, err := newBatch(process, z, p.x, p.y, 23)
	require.NoError(t, err)
	q := standard(6)
	require.NoError(t, q.step(1, 1/process.Noise, b.w, p.y))
	value, _ := b.bound(q, nil, nil)
	require.InDelta(t, c.value, value, 1e-9)
	require.InDeltaSlice(t, c.m, q.m, 1e-9)
}

// From a bad start minibatches gain most of the distance to the best bound.
func TestMinibatches(t *testing.T) {
	m, err := settings.Resolve("svgp", Model{Rate: 0.03, Batch: 60, Steps: 150, Bound: "minibatch"})
	require.NoError(t, err)
	p, err := newProblem(m, toy.Sines(300, 2))
	require.NoError(t, err)
	p.z = toy.Sines(20, 2).X
	start := make([]float64, len(p.hyper.Free)) // all hyperparameters 1
	loss := func(v []float64) float64 { return p.loss(context.Background(), v, make([]float64, len(v))) }
	best, _, err := p.maximise(context.Background(), start)
	require.NoError(t, err)
	got, err := p.minibatch(context.Background(), slices.Clone(start), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Less(t, loss(got)-loss(best), 0.05*(loss(start)-loss(best)))
}

func TestCancelled(t *testing.T) {
	for _, bound := range []string{"collapsed", "minibatch"} {
		ctx, cancel := context.WithCancel(context.Background())
		ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
			if p.Total > 0 {
				cancel()
			}
		})
		_, err := Model{Inducing: 5, Bound: bound}.Fit(ctx, toy.Sines(50, 1), random.New(1, "fit", 0))
		require.ErrorIs(t, err, context.Canceled, bound)
	}
}

func TestPivotedStopsWhenNothingIsLeft(t *testing.T) {
	z, err := pivoted(context.Background(), prior.Linear(1), toy.Sines(50, 1).X, 10)
	require.NoError(t, err)
	m, _ := z.Dims()
	require.Equal(t, 2, m)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 3))
	require.ErrorContains(t, surrogate.Check(Model{Selection: "kmean"}, 2), `selection is "kmean", want `)
	require.ErrorContains(t, surrogate.Check(Model{Bound: "mini"}, 2), `bound is "mini", want `)
	require.ErrorContains(t, surrogate.Check(Model{Rate: math.NaN()}, 2), "rate is NaN")
	require.ErrorContains(t, surrogate.Check(Model{Spec: prior.Spec{Noise: new(0.)}}, 2), "noise is 0, want more than 0")
	require.ErrorIs(t, surrogate.Check(Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2), prior.ErrSpec)
}

func BenchmarkCollapsedGradient(b *testing.B) {
	m, _ := settings.Resolve("svgp", Model{})
	p, err := newProblem(m, toy.Sines(10_000, 6))
	require.NoError(b, err)
	p.z = toy.Sines(300, 6).X
	v := make([]float64, len(p.hyper.Free))
	v[len(v)-1] = math.Log(0.01)
	grad := make([]float64, len(v))
	for b.Loop() {
		p.loss(context.Background(), v, grad)
	}
}

func BenchmarkPredictGrad(b *testing.B) {
	p, err := Model{Inducing: 100, Spec: prior.Spec{Restarts: 1}}.Fit(context.Background(), toy.Sines(200, 6), random.New(1, "fit", 0))
	require.NoError(b, err)
	x := toy.Sines(64, 6).X
	mean, variance := make([]float64, 64), make([]float64, 64)
	dm, dv := mat.NewDense(64, 6, nil), mat.NewDense(64, 6, nil)
	for b.Loop() {
		p.PredictGrad(mean, variance, dm, dv, x)
	}
}

// Fits warn of hyperparameters at their bounds as gp does, and not in ordinary cases.
func TestWarningsOfThePrior(t *testing.T) {
	raw := toy.Wave(20)
	for i := range raw.Y {
		raw.Y[i] *= 1e8
	}
	rough := surrogate.Dataset{X: mat.NewDense(40, 1, nil), Y: make([]float64, 40)}
	for i := range 40 {
		x := 0.02 * float64(i)
		rough.X.Set(i, 0, x)
		rough.Y[i] = math.Sin(1e6 * x * x)
	}
	many := toy.Wave(600)
	for name, c := range map[string]struct {
		m    Model
		d    surrogate.Dataset
		want string // a warning; "" is none
	}{
		"raw targets": {Model{}, raw, "variance is at its bound"},
		"rough":       {Model{Spec: prior.Spec{Noise: new(1e-4)}}, rough, "lengthscale[0] is at its bound"},
		"fixed":       {Model{Spec: prior.Spec{Noise: new(1e-4), Lengthscale: []float64{0.01}}}, rough, ""},
		"ordinary":    {Model{}, toy.Sines(30, 2), ""},
		"sparse":      {Model{Inducing: 20}, many, ""},
		"minibatch":   {Model{Inducing: 20, Bound: "minibatch", Steps: 20}, many, ""},
	} {
		post, err := c.m.Fit(t.Context(), c.d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		if c.want == "" {
			require.Empty(t, post.Warnings(), name)
		} else {
			require.NotEmpty(t, post.Warnings(), name)
			require.Contains(t, post.Warnings()[0], c.want, name)
		}
	}
}

// White noise of a kernel counts as noise of the observations: with all inputs as inducing points the bound is the marginal
// likelihood of the exact process.
func TestWhiteNoise(t *testing.T) {
	const n = 40
	d := surrogate.Dataset{X: mat.NewDense(n, 1, nil), Y: make([]float64, n), Lo: []float64{0}, Hi: []float64{1}}
	rng := random.New(1, "data", 0)
	for i := range n {
		d.X.Set(i, 0, float64(i)/(n-1))
		d.Y[i] = math.Sin(5*d.X.At(i, 0)) + 0.5*rng.NormFloat64()
	}
	for _, c := range []struct {
		spec   prior.Spec
		within float64
	}{
		{prior.Spec{Kernel: "rbf(lengthscale=0.3)+0.25*white", Noise: new(1e-3), Mean: prior.MeanZero}, 1e-3},
		{prior.Spec{Kernel: "rbf(lengthscale=0.3)+0.25*white", Mean: prior.MeanZero}, 1},
		{prior.Spec{Kernel: "rbf+white", Noise: new(1e-3)}, 1},
		{prior.Spec{Kernel: "rbf+white"}, 1},
	} {
		exact, err := gp.Model{Spec: c.spec}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		sparse, err := Model{Spec: c.spec}.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		want := exact.(surrogate.Evidence).LogMarginalLikelihood()
		require.InDelta(t, want, sparse.(surrogate.Evidence).LogMarginalLikelihood(), c.within, "%+v", c.spec)
		require.InDeltaSlice(t, exact.(surrogate.Stater).State(), sparse.(surrogate.Stater).State(), 1e-3)
	}
}
