package surrogate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func ptr(v float64) *float64 { return &v }

// userUnits is data on [-5,10]×[0,300], far from standardised.
func userUnits() surrogate.Dataset {
	rng := random.New(1, "scaled", 0)
	d := surrogate.Dataset{X: mat.NewDense(9, 2, nil), Y: make([]float64, 9), Lo: []float64{-5, 0}, Hi: []float64{10, 300}}
	for i := range d.Y {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{-5 + 15*a, 300 * b})
		d.Y[i] = 1000 + 50*math.Sin(4*a)*b
	}
	return d
}

// A Gaussian process with fixed hyperparameters has the same posterior in other
// units if the hyperparameters are converted.
func TestScaledIsTheSamePosterior(t *testing.T) {
	d := userUnits()
	s := surrogate.Standardize(d.Y)
	column := func(j int) surrogate.Standardization {
		return surrogate.Standardize(mat.Col(nil, j, d.X))
	}
	for _, c := range []struct {
		inputs surrogate.Scaling
		units  []float64 // a unit of the model, in the user's units
	}{
		{"", []float64{15, 300}},
		{surrogate.Unit, []float64{15, 300}},
		{surrogate.ZScore, []float64{column(0).SD, column(1).SD}},
		{surrogate.Raw, []float64{1, 1}},
	} {
		t.Run(string(c.inputs), func(t *testing.T) {
			l := []float64{6, 200}
			model := surrogate.Scaled{Inputs: c.inputs, Model: gp.Model{Spec: prior.Spec{
				Kernel: "rbf", Lengthscale: []float64{l[0] / c.units[0], l[1] / c.units[1]}, Variance: ptr(1.5), Noise: ptr(0.01), Mean: prior.MeanZero,
			}}}
			got, err := model.Fit(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			kernel, err := prior.Parse(fmt.Sprintf("%v*rbf(lengthscale=[6,200])", 1.5*s.SD*s.SD), 2)
			require.NoError(t, err)
			want, err := gp.New(prior.Process{Kernel: kernel, Mean: s.Mean, Noise: 0.01 * s.SD * s.SD}, d)
			require.NoError(t, err)
			sameMoments(t, want, got)

			x, y := mat.NewDense(1, 2, []float64{1, 222}), []float64{1010}
			got, err = got.(surrogate.Conditioner).Condition(x, y)
			require.NoError(t, err)
			want, err = want.(surrogate.Conditioner).Condition(x, y)
			require.NoError(t, err)
			sameMoments(t, want, got)
		})
	}
}

func sameMoments(t *testing.T, want, got surrogate.Posterior) {
	t.Helper()
	const tol = 1e-9
	near := func(a, b []float64) {
		t.Helper()
		for i := range a {
			require.InDelta(t, a[i], b[i], tol*(1+math.Abs(a[i])))
		}
	}
	x := mat.NewDense(3, 2, []float64{-5, 10, 0, 150, 12, 290})
	require.InEpsilon(t, want.Noise(), got.Noise(), tol)
	require.Equal(t, want.Dim(), got.Dim())
	type all struct {
		mean, variance, jointMean []float64
		dmean, dvariance, dx      *mat.Dense
		cov                       *mat.SymDense
	}
	ask := func(p surrogate.Posterior) all {
		v, g := func() []float64 { return make([]float64, 3) }, func() *mat.Dense { return mat.NewDense(3, 2, nil) }
		a := all{v(), v(), v(), g(), g(), g(), mat.NewSymDense(3, nil)}
		p.Predict(a.mean, a.variance, x)
		p.PredictGrad(v(), v(), a.dmean, a.dvariance, x)
		p.Joint(a.jointMean, a.cov, x)
		p.JointVJP(a.dx, []float64{1, -2, 3}, mat.NewSymDense(3, []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}), x)
		return a
	}
	a, b := ask(want), ask(got)
	near(a.mean, b.mean)
	near(a.variance, b.variance)
	near(a.jointMean, b.jointMean)
	near(a.cov.RawSymmetric().Data, b.cov.RawSymmetric().Data)
	near(a.dmean.RawMatrix().Data, b.dmean.RawMatrix().Data)
	near(a.dvariance.RawMatrix().Data, b.dvariance.RawMatrix().Data)
	near(a.dx.RawMatrix().Data, b.dx.RawMatrix().Data)

	require.InDelta(t, want.(surrogate.Evidence).LogMarginalLikelihood(), got.(surrogate.Evidence).LogMarginalLikelihood(), 1e-7)
}

func TestScaledLeaveOneOut(t *testing.T) {
	d := userUnits()
	spec := prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.4}, Variance: ptr(1.5), Noise: ptr(0.01), Mean: prior.MeanZero}
	p, err := surrogate.Scaled{Model: gp.Model{Spec: spec}}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	s := surrogate.Standardize(d.Y)
	inner := surrogate.Dataset{X: mat.NewDense(9, 2, nil), Y: s.Apply(nil, d.Y)}
	for i := range 9 {
		inner.X.SetRow(i, []float64{(d.X.At(i, 0) + 5) / 15, d.X.At(i, 1) / 300})
	}
	q, err := gp.Model{Spec: spec}.Fit(context.Background(), inner, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance, z, v := make([]float64, 9), make([]float64, 9), make([]float64, 9), make([]float64, 9)
	p.(surrogate.LeaveOneOut).LeaveOneOut(mean, variance)
	q.(surrogate.LeaveOneOut).LeaveOneOut(z, v)
	for i := range 9 {
		require.InEpsilon(t, s.Invert(z[i]), mean[i], 1e-12)
		require.InEpsilon(t, v[i]*s.SD*s.SD, variance[i], 1e-9)
	}
}

func TestScaledConforms(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	m := gp.Model{Spec: prior.Spec{Restarts: 1}}
	fast.Run(t, surrogate.Scaled{Model: m, Inputs: surrogate.Raw, Outputs: surrogate.Raw})
}

// watcher records the dataset that the model is fitted to.
type watcher struct {
	seen *surrogate.Dataset
	post surrogate.Posterior
}

func (w watcher) Fit(_ context.Context, d surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
	*w.seen = d
	return w.post, nil
}

func TestScaledDataset(t *testing.T) {
	d := userUnits()
	d.NoiseFree = true
	var seen surrogate.Dataset
	fit := func(s surrogate.Scaled) {
		s.Model = watcher{&seen, bare{}}
		_, err := s.Fit(context.Background(), d, nil)
		require.NoError(t, err)
	}
	fit(surrogate.Scaled{})
	assert.True(t, seen.NoiseFree)
	assert.Equal(t, []float64{0, 0}, seen.Lo)
	assert.Equal(t, []float64{1, 1}, seen.Hi)
	assert.InDelta(t, (d.X.At(3, 0)+5)/15, seen.X.At(3, 0), 1e-15)
	assert.Equal(t, 1.0, surrogate.Standardize(seen.Y).SD)

	fit(surrogate.Scaled{Inputs: surrogate.Raw, Outputs: surrogate.Raw})
	assert.True(t, mat.Equal(d.X, seen.X))
	assert.Equal(t, d.Y, seen.Y)
	assert.Equal(t, d.Hi, seen.Hi)

	// Without a box the bounding box of the data is used; a constant input keeps
	// its scale.
	d.Lo, d.Hi = nil, nil
	for i := range d.Y {
		d.X.Set(i, 1, 42)
	}
	fit(surrogate.Scaled{})
	assert.Nil(t, seen.Lo)
	column := mat.Col(nil, 0, seen.X)
	lo, hi := column[0], column[0]
	for _, v := range column {
		lo, hi = min(lo, v), max(hi, v)
	}
	assert.Equal(t, [2]float64{0, 1}, [2]float64{lo, hi})
	assert.Zero(t, mat.Sum(seen.X.ColView(1)))
	fit(surrogate.Scaled{Inputs: surrogate.ZScore})
	assert.Zero(t, mat.Sum(seen.X.ColView(1)))
}

// Noise variances of targets are in their squared unit.
func TestScaledNoise(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(4, 1, []float64{0, 1, 2, 3}), Y: []float64{100, 140, 90, 170}, Noise: []float64{100, math.NaN(), 400, 1}}
	fixed := func(noise float64) gp.Model {
		return gp.Model{Spec: prior.Spec{Lengthscale: []float64{0.3}, Variance: new(1.0), Noise: &noise, Mean: prior.MeanZero}}
	}
	p, err := surrogate.Scaled{Model: fixed(0.1)}.Fit(t.Context(), d, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	scale := surrogate.StandardizeNoisy(d.Y, d.Noise)
	own := surrogate.Dataset{X: mat.NewDense(4, 1, []float64{0, 1. / 3, 2. / 3, 1}), Y: scale.Apply(nil, d.Y)}
	for _, v := range d.Noise {
		own.Noise = append(own.Noise, v/scale.SD/scale.SD)
	}
	want, err := fixed(0.1).Fit(t.Context(), own, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.Predict(mean, variance, mat.NewDense(1, 1, []float64{1.2}))
	wantMean, wantVariance := make([]float64, 1), make([]float64, 1)
	want.Predict(wantMean, wantVariance, mat.NewDense(1, 1, []float64{0.4}))
	require.InDelta(t, scale.Mean+scale.SD*wantMean[0], mean[0], 1e-9)
	require.InDelta(t, scale.SD*scale.SD*wantVariance[0], variance[0], 1e-9)
}

func TestScaledErrors(t *testing.T) {
	fit := func(s surrogate.Scaled, d surrogate.Dataset) error {
		s.Model = gp.Model{}
		_, err := s.Fit(context.Background(), d, random.New(1, "fit", 0))
		return err
	}
	require.ErrorIs(t, fit(surrogate.Scaled{}, surrogate.Dataset{}), surrogate.ErrNoData)
	require.ErrorContains(t, fit(surrogate.Scaled{Inputs: "zcore"}, userUnits()), `input scaling "zcore", want raw, unit or zscore`)
	require.ErrorContains(t, fit(surrogate.Scaled{Outputs: surrogate.Unit}, userUnits()), `output scaling "unit", want raw or zscore`)
	d := userUnits()
	d.Hi[1] = -1
	require.ErrorIs(t, fit(surrogate.Scaled{}, d), surrogate.ErrBox)
	d.Lo[1], d.Hi[1] = -1e308, 1e308
	require.ErrorContains(t, fit(surrogate.Scaled{}, d), "input 2 cannot be scaled, its range is +Inf")

	noModel := "surrogate: Scaled without a Model, want the model to fit in scaled units"
	_, err := surrogate.Scaled{}.Fit(t.Context(), userUnits(), random.New(1, "fit", 0))
	require.EqualError(t, err, noModel)
	require.EqualError(t, surrogate.Check(surrogate.Scaled{}, 2), noModel)
	failing := failer{errors.New("no luck")}
	_, err = surrogate.Scaled{Model: failing}.Fit(context.Background(), userUnits(), nil)
	require.ErrorIs(t, err, failing.err)

	p, err := surrogate.Scaled{Model: gp.Model{Spec: prior.Spec{Restarts: 1}}}.Fit(context.Background(), userUnits(), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.PanicsWithValue(t, "surrogate: points have 3 columns, want 2", func() { p.Predict(nil, nil, mat.NewDense(1, 3, nil)) })
}

type failer struct{ err error }

func (f failer) Fit(context.Context, surrogate.Dataset, *rand.Rand) (surrogate.Posterior, error) {
	return nil, f.err
}

// bare is a posterior without optional methods; the others add them.
type (
	bare        struct{ surrogate.Posterior }
	conditioner struct{}
	leaveOneOut struct{}
	evidence    struct{}
)

func (conditioner) Condition(*mat.Dense, []float64) (surrogate.Posterior, error) { return bare{}, nil }
func (leaveOneOut) LeaveOneOut(mean, variance []float64)                         {}
func (evidence) LogMarginalLikelihood() float64                                  { return -3 }

func TestScaledForwardsWhatThereIs(t *testing.T) {
	type (
		c  = conditioner
		l  = leaveOneOut
		e  = evidence
		cl struct {
			bare
			c
			l
		}
		ce struct {
			bare
			c
			e
		}
		le struct {
			bare
			l
			e
		}
		cle struct {
			bare
			c
			l
			e
		}
	)
	for _, inner := range []surrogate.Posterior{
		bare{},
		struct {
			bare
			c
		}{}, struct {
			bare
			l
		}{}, struct {
			bare
			e
		}{},
		cl{}, ce{}, le{}, cle{},
	} {
		outer, err := surrogate.Scaled{Model: watcher{new(surrogate.Dataset), inner}}.Fit(context.Background(), userUnits(), nil)
		require.NoError(t, err)
		_, has := inner.(surrogate.Conditioner)
		_, got := outer.(surrogate.Conditioner)
		assert.Equal(t, has, got, "Conditioner of %T", inner)
		_, has = inner.(surrogate.LeaveOneOut)
		_, got = outer.(surrogate.LeaveOneOut)
		assert.Equal(t, has, got, "LeaveOneOut of %T", inner)
		_, has = inner.(surrogate.Evidence)
		_, got = outer.(surrogate.Evidence)
		assert.Equal(t, has, got, "Evidence of %T", inner)
		require.Implements(t, (*surrogate.Stater)(nil), outer)
		require.Implements(t, (*surrogate.Describer)(nil), outer)
		assert.Empty(t, outer.(surrogate.Stater).State())
		assert.Empty(t, outer.(surrogate.Describer).Hypers())
		if c, ok := outer.(surrogate.Conditioner); ok {
			next, err := c.Condition(mat.NewDense(1, 2, nil), []float64{1})
			require.NoError(t, err)
			_, got = next.(surrogate.Conditioner)
			assert.False(t, got, "the posterior that Condition gave has no Condition")
		}
	}
}

func TestScaledWarmStart(t *testing.T) {
	model := surrogate.Scaled{Model: gp.Model{Spec: prior.Spec{Restarts: 1}}}
	p, err := model.Fit(context.Background(), userUnits(), random.New(1, "fit", 0))
	require.NoError(t, err)
	state := p.(surrogate.Stater).State()
	require.NotEmpty(t, state)
	require.NotEmpty(t, p.(surrogate.Describer).Hypers())
	again, err := model.FitFrom(context.Background(), state, userUnits(), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Len(t, again.(surrogate.Stater).State(), len(state))
}
