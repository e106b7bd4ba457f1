package gp_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformanceOfTheSparsePosterior(t *testing.T) {
	surrogatetest.Options{Fast: true}.Run(t, gp.Model{Exact: 6})
}

// function is a test function on the unit cube and the standard deviation of its noise.
type function struct {
	name   string
	inputs int
	noise  float64
	at     func(x []float64) float64
}

var functions = []function{
	{"smooth", 6, 0, func(x []float64) float64 {
		s := 2 * x[0] * x[1]
		for i, v := range x {
			s += math.Sin(3*v+float64(i)) * (1 + 0.2*float64(i))
		}
		return s
	}},
	{"rough", 6, 0, func(x []float64) float64 { // Ackley
		var squares, waves float64
		for _, v := range x {
			u := 20 * (v - 0.37)
			squares += u * u / 6
			waves += math.Cos(2*math.Pi*u) / 6
		}
		return -20*math.Exp(-0.2*math.Sqrt(squares)) - math.Exp(waves)
	}},
	{"noisy", 6, 0.5, func(x []float64) float64 {
		var s float64
		for i, v := range x {
			s += math.Sin(4*v + float64(i))
		}
		return s
	}},
	{"non-stationary", 4, 0, func(x []float64) float64 {
		r := 1e-4
		for _, v := range x {
			r += (v - 0.6) * (v - 0.6)
		}
		return math.Log(r) + 0.3*math.Sin(20*x[0]*x[0]*x[0])
	}},
	{"steps", 6, 0, func(x []float64) float64 {
		var s float64
		for i, v := range x {
			s += math.Floor(5*v) * (1 + 0.3*float64(i))
		}
		return s
	}},
	{"noisy bowl", 6, 0.1, func(x []float64) float64 {
		s := 2 * math.Sin(12*x[0]) * math.Cos(6*x[1])
		for i, v := range x {
			s += (6*v - 3.5) * (6*v - 3.5) * float64(i+1) / 5
		}
		return s
	}},
	{"ten inputs", 10, 0, func(x []float64) float64 { // logarithm of Rosenbrock
		var s float64
		for i := range 9 {
			a, b := 3*x[i]-1, 3*x[i+1]-1
			s += 100*(b-a*a)*(b-a*a) + (1-a)*(1-a)
		}
		return math.Log1p(s)
	}},
}

// observed returns n standardised observations. As in a search, the first half has a Sobol design and the
// others are around the best of it. It also returns 500 held-out observations at uniform points and as many
// around the best.
func (f function) observed(n int) (d, uniform, near surrogate.Dataset) {
	rng := random.New(3, "observed", 0)
	x := space.Sobol(n, f.inputs, rng)
	low := 0
	for i := range n / 2 {
		if f.at(x.RawRowView(i)) < f.at(x.RawRowView(low)) {
			low = i
		}
	}
	around := func(row []float64) {
		for j, v := range x.RawRowView(low) {
			row[j] = min(max(v+0.07*rng.NormFloat64(), 0), 1)
		}
	}
	for i := n / 2; i < n; i++ {
		around(x.RawRowView(i))
	}
	observe := func(x *mat.Dense) surrogate.Dataset {
		d := surrogate.Dataset{X: x, NoiseFree: f.noise == 0, Lo: make([]float64, f.inputs), Hi: slices.Repeat([]float64{1}, f.inputs)}
		for i := range x.RawMatrix().Rows {
			d.Y = append(d.Y, f.at(x.RawRowView(i))+f.noise*rng.NormFloat64())
		}
		return d
	}
	d, uniform, near = observe(x), observe(space.Sobol(500, f.inputs, rng)), surrogate.Dataset{X: mat.NewDense(500, f.inputs, nil)}
	for i := range 500 {
		around(near.X.RawRowView(i))
	}
	near = observe(near.X)
	scale := surrogate.Standardize(d.Y)
	for _, d := range []*surrogate.Dataset{&d, &uniform, &near} {
		scale.Apply(d.Y, d.Y)
	}
	return d, uniform, near
}

// score returns the mean log predictive density of d and the shares of its targets in central
// intervals of 50 and 95 %.
func score(p surrogate.Posterior, d surrogate.Dataset) (density, half, most float64) {
	n := len(d.Y)
	m, v := make([]float64, n), make([]float64, n)
	p.Predict(m, v, d.X)
	for i, y := range d.Y {
		s := v[i] + p.Noise()
		z := (y - m[i]) / math.Sqrt(s)
		density -= 0.5 * (math.Log(2*math.Pi*s) + z*z) / float64(n)
		if math.Abs(z) < 0.6745 {
			half += 1 / float64(n)
		}
		if math.Abs(z) < 1.96 {
			most += 1 / float64(n)
		}
	}
	return density, half, most
}

// If every distinct input is an inducing point, the posterior, its evidence and its leave-one-out moments
// are exact. Repeated inputs keep the number of observations above the limit.
func TestSparsePosteriorIsExactWithAllInputs(t *testing.T) {
	spec := prior.Spec{Lengthscale: []float64{0.5}, Variance: ptr(1.5), Noise: ptr(0.01)}
	once, _, _ := functions[3].observed(40)
	d := surrogate.Dataset{X: mat.NewDense(80, 4, nil), Y: make([]float64, 80)}
	for i := range 80 {
		d.X.SetRow(i, once.X.RawRowView(i%40))
		d.Y[i] = once.Y[i%40] + 0.1*float64(i/40)
	}
	exact := fit(t, gp.Model{Spec: spec}, d)
	sparse := fit(t, gp.Model{Spec: spec, Exact: 40}, d)
	require.Empty(t, exact.Warnings())
	require.Len(t, sparse.Warnings(), 1)
	require.Contains(t, sparse.Warnings()[0], "more than 40 observations")

	at := space.Sobol(20, 4, random.New(2, "at", 0))
	moments := func(p surrogate.Posterior) (m, v []float64) {
		m, v = make([]float64, 20), make([]float64, 20)
		p.Predict(m, v, at)
		return m, v
	}
	m, v := moments(exact)
	ms, vs := moments(sparse)
	require.InDeltaSlice(t, m, ms, 1e-8)
	require.InDeltaSlice(t, v, vs, 1e-8)
	require.InDelta(t, exact.(surrogate.Evidence).LogMarginalLikelihood(), sparse.(surrogate.Evidence).LogMarginalLikelihood(), 1e-6)
	left := func(p surrogate.Posterior) (m, v []float64) {
		m, v = make([]float64, 80), make([]float64, 80)
		p.(surrogate.LeaveOneOut).LeaveOneOut(m, v)
		return m, v
	}
	m, v = left(exact)
	ms, vs = left(sparse)
	require.InDeltaSlice(t, m, ms, 1e-7)
	require.InDeltaSlice(t, v, vs, 1e-7)
}

// With half of the observations as inducing points, held-out values have nearly the log density of the exact
// posterior. Intervals of 95 % have at least about their nominal coverage.
func TestSparsePosteriorIsCalibrated(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, f := range functions {
		d, uniform, near := f.observed(400)
		exact, sparse := fit(t, gp.Model{}, d), fit(t, gp.Model{Exact: 200}, d)
		for i, held := range []surrogate.Dataset{uniform, near} {
			want, _, wantMost := score(exact, held)
			got, _, most := score(sparse, held)
			require.Greater(t, got, want-1.2, "%s %d", f.name, i)
			require.Greater(t, most, min(0.9, wantMost-0.06), "%s %d", f.name, i)
		}
	}
}

// The posterior variance is less than twice the exact one for a prior variance of 1e7, as a fit to a smooth
// function has. A jitter of 1e-10 of the prior variance would exceed the noise.
func TestSparsePosteriorOfASmoothFunction(t *testing.T) {
	spec := prior.Spec{Lengthscale: []float64{80}, Variance: ptr(1e7), Noise: ptr(2e-4)}
	f := functions[slices.IndexFunc(functions, func(f function) bool { return f.name == "noisy bowl" })]
	d, at, _ := f.observed(2000)
	exact, sparse := fit(t, gp.Model{Spec: spec, Exact: 2000}, d), fit(t, gp.Model{Spec: spec, Exact: 1000}, d)
	require.Empty(t, exact.Warnings())
	n := len(at.Y)
	mean, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
	exact.Predict(mean, want, at.X)
	sparse.Predict(mean, got, at.X)
	ratio := floats.Sum(got) / floats.Sum(want)
	require.Greater(t, ratio, 1.0)
	require.Less(t, ratio, 2.0)
}

// BenchmarkCalibration reports the log density of held-out values and the coverage of intervals, at uniform
// points and near the best. It compares the exact and the default posterior of 2000 observations, and the
// default posterior of 5000 and 20000.
func BenchmarkCalibration(b *testing.B) {
	for _, f := range functions {
		for _, c := range []struct{ n, limit int }{{2000, 2000}, {2000, 0}, {5000, 0}, {20000, 0}} {
			b.Run(fmt.Sprintf("%s/n=%d/limit=%d", f.name, c.n, c.limit), func(b *testing.B) {
				d, uniform, near := f.observed(c.n)
				for b.Loop() {
					p, err := gp.Model{Exact: c.limit}.Fit(b.Context(), d, random.New(1, "gp", 0))
					require.NoError(b, err)
					for name, held := range map[string]surrogate.Dataset{"uniform": uniform, "near": near} {
						density, half, most := score(p, held)
						b.ReportMetric(density, name+"-density")
						b.ReportMetric(100*half, name+"-50%")
						b.ReportMetric(100*most, name+"-95%")
					}
				}
			})
		}
	}
}

func TestExact(t *testing.T) {
	d, _, _ := functions[2].observed(20)
	_, err := gp.Model{Exact: 1}.Fit(t.Context(), d, random.New(1, "gp", 0))
	require.ErrorIs(t, err, surrogate.ErrSetting)
	require.Empty(t, fit(t, gp.Model{Exact: 20}, d).Warnings())
	density, _, _ := score(fit(t, gp.Model{Exact: 10}, d), d)
	again, _, _ := score(fit(t, gp.Model{Exact: 10}, d), d)
	require.Equal(t, density, again)
	// No noise, a mean of zero and equal inputs.
	for i := range 20 {
		d.X.SetRow(i, d.X.RawRowView(i%3))
	}
	fit(t, gp.Model{Spec: prior.Spec{Noise: ptr(0), Mean: prior.MeanZero}, Exact: 2}, d)
}

// The likelihood of 120 observations explains strong noise by short lengthscales: the fit to them has a noise variance of 0.007.
// All observations together have the true one.
func TestNoiseOfManyObservations(t *testing.T) {
	const n, dim, noise = 2000, 3, 1.0
	for seed := range uint64(4) {
		rng := random.New(seed, "data", 0)
		d := surrogate.Dataset{X: mat.NewDense(n, dim, nil), Y: make([]float64, n)}
		for i := range n {
			row := d.X.RawRowView(i)
			for j := range row {
				row[j] = rng.Float64()
			}
			d.Y[i] = math.Sin(3*row[0]) + row[1]*row[2] + math.Sqrt(noise)*rng.NormFloat64()
		}
		p, err := gp.Model{Exact: 120}.Fit(t.Context(), d, rng)
		require.NoError(t, err)
		require.InEpsilon(t, noise, p.Noise(), 0.5, "seed %d", seed)
		stated, err := gp.Model{Spec: prior.Spec{Noise: new(0.01)}, Exact: 120}.Fit(t.Context(), d, rng)
		require.NoError(t, err)
		require.Equal(t, 0.01, stated.Noise(), "seed %d", seed)
	}
}
