package loop

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/hmc"
	"github.com/functionspace/bo/surrogate/ibnn"
	"github.com/functionspace/bo/surrogate/mfvi"
)

// tailed has positive values with a long tail.
var tailed = []float64{3, 0.02, 0.4, 11, 0.7, 0.05}

// warps are maps of all forms, standardised for tailed.
var warps = map[string]warp{
	"plain":  warp{}.standardized(tailed),
	"narrow": warp{form: above, origin: 0.02, width: 0.1}.standardized(tailed),
	"wide":   warp{form: above, origin: 0.02, width: 5}.standardized(tailed),
	"around": warp{form: around, origin: 0.6, width: 0.2}.standardized(tailed),
	"ratio":  warp{form: ratio, width: 0.6}.standardized(tailed),
}

func TestWarpIsStandardised(t *testing.T) {
	for name, w := range warps {
		z := w.apply(tailed)
		var sum, squares float64
		for _, v := range z {
			sum += v
			squares += v * v
		}
		require.InDelta(t, 0, sum, 1e-12, name)
		require.InDelta(t, float64(len(z)-1), squares, 1e-12, name)
		for i := range tailed {
			m, s := w.user(z[i], 0)
			require.InDelta(t, tailed[i], m, 1e-12, name)
			require.Zero(t, s, name)
			require.InDelta(t, z[i], w.target(tailed[i]), 1e-12, name)
		}
	}
}

func TestWarpLogSlope(t *testing.T) {
	for name, w := range warps {
		var slope float64
		for _, v := range tailed {
			v += 1 // away from the least value, below which apply is undefined
			one := []float64{v}
			g := []float64{math.Exp(w.logSlope(one))}
			require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return w.apply(v)[0] }, one, g, 1e-6), name)
			slope += w.logSlope(one)
		}
		shifted := make([]float64, len(tailed))
		for i, v := range tailed {
			shifted[i] = v + 1
		}
		require.InDelta(t, slope, w.logSlope(shifted), 1e-12, name)
	}
}

// The form around maps distances on both sides of the bound alike, and small ones linearly.
func TestWarpAroundABound(t *testing.T) {
	w := logAround(2, []float64{-1e6, -3, 1, 2, 5, 7, 1e4})
	require.Equal(t, 5.0, w.width)
	for _, d := range []float64{1e-3, 1, 300, 1e12} {
		require.InDelta(t, -w.h(2-d), w.h(2+d), 1e-12*(1+d))
		require.InEpsilon(t, d, w.distance(w.h(2+d)), 1e-9)
	}
	require.Zero(t, w.h(2))
	require.InEpsilon(t, 1e-3/5, w.h(2+1e-3), 1e-3)
}

// The form ratio is for values with the sign of the bound. It increases for both signs.
func TestWarpByRatio(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		v := []float64{sign * 1e-3, sign * 2, sign * 1e6}
		w := logRatio(sign*2, v)
		require.Equal(t, ratio, w.form)
		require.InDelta(t, math.Log(0.0005+floor), sign*w.h(v[0]), 1e-12)
		require.InDelta(t, math.Log(1+floor), sign*w.h(v[1]), 1e-12)
		for _, v := range v {
			require.InEpsilon(t, v, w.distance(w.h(v)), 1e-12)
		}
		require.Zero(t, w.distance(-sign*9)) // no value of the other sign
		require.Equal(t, ratio, logRatio(sign*2, append(v, 0)).form)
		require.Equal(t, plain, logRatio(sign*2, append(v, -sign)).form)
		require.Equal(t, plain, logRatio(-sign, v).form)
		require.Equal(t, plain, logRatio(0, v).form)
	}
}

// user maps the median and the ends of the central interval.
func TestWarpUsesUnits(t *testing.T) {
	for _, w := range warps {
		at := func(z float64) float64 { m, _ := w.user(z, 0); return m }
		m, s := w.user(-0.3, 0.4)
		require.InDelta(t, at(-0.3), m, 1e-12)
		require.InDelta(t, (at(0.1)-at(-0.7))/2, s, 1e-12)
	}
	huge := []float64{1e-100, 1, 1e300}
	for _, mean := range []float64{-1e3, 0, 1e3} {
		for _, sd := range []float64{0, 1, 1e3} {
			for _, w := range []warp{{form: above, origin: 1e-100, width: 1}, {form: around, origin: 1, width: 1}, {form: ratio, width: 1}} {
				m, s := w.standardized(huge).user(mean, sd)
				require.False(t, math.IsInf(m, 0) || math.IsNaN(m) || math.IsInf(s, 0) || math.IsNaN(s), "%v %v", m, s)
			}
		}
	}
}

// sampled returns n points of the unit square and the values of f there.
func sampled(n int, f func(x []float64) float64) (*mat.Dense, []float64) {
	x := space.Sobol(n, 2, random.New(3, "sampled", 0))
	v := make([]float64, n)
	for i := range v {
		v[i] = f(x.RawRowView(i))
	}
	return x, v
}

func choice(t *testing.T, o Options, x *mat.Dense, v []float64) warp {
	t.Helper()
	task, err := newTask(box(t), o, History{})
	require.NoError(t, err)
	w, err := task.chooseWarp(context.Background(), x, v, "warp", logAbove(v))
	require.NoError(t, err)
	return w
}

func TestWarpChoice(t *testing.T) {
	smooth := func(x []float64) float64 { return math.Sin(5*x[0]) + math.Cos(4*x[1]) }
	multiplied := func(x []float64) float64 { return math.Exp(3 * smooth(x)) }
	for _, noiseFree := range []bool{false, true} {
		o := Options{NoiseFree: noiseFree}
		x, v := sampled(30, smooth)
		require.Zero(t, choice(t, o, x, v).width)

		x, v = sampled(30, multiplied)
		w := choice(t, o, x, v)
		require.Positive(t, w.width)
		moved := make([]float64, len(v))
		for i := range v {
			moved[i] = 1e3*v[i] - 1e4
		}
		require.InEpsilon(t, 1e3*w.width, choice(t, o, x, moved).width, 1e-9)

		o.Warp = WarpNone
		require.Zero(t, choice(t, o, x, v).width)
	}
}

// Values are not transformed if the prior is stated explicitly.
func TestWarpLeavesTheValuesOfAStatedPrior(t *testing.T) {
	x, v := sampled(30, func(x []float64) float64 { return math.Exp(3*math.Sin(5*x[0]) + 3*math.Cos(4*x[1])) })
	half := 0.5
	for _, c := range []struct {
		model  surrogate.Model
		stated bool
	}{
		{nil, false},
		{gp.Model{}, false},
		{&gp.Model{}, false},
		{gp.Model{Spec: prior.Spec{Isotropic: new(true), Restarts: 4}}, false},
		{gp.Model{Spec: prior.Spec{Mean: prior.MeanConstant}}, false},
		{fvi.Model{}, false},
		{fvi.Model{Prior: "piecewise-linear"}, true},
		{ibnn.Model{Weight: 5}, false},
		{ibnn.Model{Noise: &half}, true},
		{gp.Model{Spec: prior.Spec{Kernel: "rbf"}}, true},
		{&gp.Model{Spec: prior.Spec{Kernel: "rbf"}}, true},
		{gp.Model{Spec: prior.Spec{Lengthscale: []float64{1}}}, true},
		{gp.Model{Spec: prior.Spec{Variance: &half}}, true},
		{gp.Model{Spec: prior.Spec{Noise: &half}}, true},
		{gp.Model{Spec: prior.Spec{Mean: prior.MeanZero}}, true},
		{surrogate.Scaled{Model: gp.Model{}}, false},
		{surrogate.Scaled{Model: gp.Model{Spec: prior.Spec{Mean: prior.MeanZero}}}, true},
		{mfvi.Model{}, false},
		{hmc.Model{Noise: &half}, true},
	} {
		require.Equal(t, c.stated, choice(t, Options{Surrogate: c.model}, x, v).width == 0, "%+v", c.model)
	}
}

// Values censored at a bound and independent of x are not transformed.
func TestWarpOfCutValues(t *testing.T) {
	for seed := range uint64(20) {
		x := space.Sobol(60, 2, random.New(seed+1, "cut", 0))
		v, rng := make([]float64, 60), random.New(seed+1, "v", 0)
		for i := range v {
			if rng.Float64() > 0.45 {
				v[i] = 1 + rng.Float64()
			}
		}
		require.Zero(t, choice(t, Options{NoiseFree: true}, x, v).width, "seed %d", seed)
	}
	require.Equal(t, []float64{3, 1, 2}, withoutTies([]float64{3, 1, 2, 1, 1}, 1))
}

func TestWarpIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, v := sampled(30, func(x []float64) float64 { return math.Exp(5 * x[0]) })
	task, err := newTask(box(t), Options{}, History{})
	require.NoError(t, err)
	_, err = task.chooseWarp(ctx, x, v, "warp", logAbove(v))
	require.ErrorIs(t, err, context.Canceled)
}

func TestWarpOfFewAndEqualValues(t *testing.T) {
	for _, v := range [][]float64{{1}, {1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2}, {1e12, 1e12 + 1e-3, 1e12 + 2e-3}, {-1e300, 0, 1e300}} {
		x, _ := sampled(len(v), func([]float64) float64 { return 0 })
		require.Zero(t, choice(t, Options{}, x, v).width, "%v", v)
	}
}

// A study of log-transformed values predicts and recommends in the user's units.
func TestWarpedStudyUsesUnits(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		sign := 1.0
		if maximize {
			sign = -1
		}
		f := func(_ context.Context, p space.Point) (float64, error) {
			x, y := p.Float("x"), p.Float("y")
			return sign * 1e4 * math.Exp(x/2+math.Sin(y)), nil
		}
		o := options(5)
		o.Initial, o.Maximize, o.Local = 12, maximize, LocalNone
		s := newStudy(t, box(t), o)
		result := run(t, s, f, 16, 1)
		var told bool
		s.opts.OnEvent = func(e Event) { told = told || e.Kind == FitFinished && e.Warped }
		for _, trial := range result.Trials {
			if p := trial.Prediction; p != nil && trial.ID > 12 {
				require.Less(t, math.Abs(p.Mean-trial.Value), 5*p.SD+1e3)
			}
		}
		rec, err := s.Recommend(context.Background())
		require.NoError(t, err)
		require.InEpsilon(t, rec.Model.Trial.Value, rec.Model.Mean, 0.3)
		require.Positive(t, rec.Model.SD)
		require.True(t, rec.Fit.Warped)
		require.True(t, told)
	}
}

// The interval of a prediction of log transformed values has the ends of the normal interval of the targets. Files keep
// it, and files without it are read.
func TestWarpedPredictionHasInterval(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		sign := 1.0
		if maximize {
			sign = -1
		}
		o := options(5)
		o.Initial, o.Maximize, o.Local = 12, maximize, LocalNone
		s := newStudy(t, box(t), o)
		run(t, s, func(_ context.Context, p space.Point) (float64, error) {
			return sign * 1e4 * math.Exp(p.Float("x")/2+math.Sin(p.Float("y"))), nil
		}, 12, 1)
		v, err := s.Inspect(t.Context())
		require.NoError(t, err)
		require.True(t, v.Fit.Warped)
		next, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		p := next[0].Prediction
		mean, variance := make([]float64, 1), make([]float64, 1)
		surrogate.Averaged(v.Posterior).Predict(mean, variance, mat.NewDense(1, 2, v.Space.Encode(next[0].Point)))
		ends := []float64{v.Units.Value(mean[0] - half95*math.Sqrt(variance[0])), v.Units.Value(mean[0] + half95*math.Sqrt(variance[0]))}
		slices.Sort(ends)
		low, high := p.Interval95()
		require.InEpsilon(t, ends[0], low, 1e-9)
		require.InEpsilon(t, ends[1], high, 1e-9)
		require.Greater(t, math.Abs(high+low-2*p.Mean), 1e-3*p.SD) // skewed

		text := string(savedText(t, s))
		resumed, err := Resume(strings.NewReader(text), o)
		require.NoError(t, err)
		require.Equal(t, p, resumed.Trials()[12].Prediction)

		older := regexp.MustCompile(`,"interval":\[[^]]*\]`).ReplaceAllString(text, "")
		require.NotEqual(t, text, older)
		resumed, err = Resume(strings.NewReader(older), o)
		require.NoError(t, err)
		low, high = resumed.Trials()[12].Prediction.Interval95()
		require.InEpsilon(t, p.Mean-half95*p.SD, low, 1e-12)
		require.InEpsilon(t, p.Mean+half95*p.SD, high, 1e-12)
	}
}

// A prediction of values without a logarithm has the interval of a normal variable.
func TestPlainPredictionHasNoInterval(t *testing.T) {
	w := warp{}.standardized([]float64{1, 2, 5})
	require.Zero(t, w.interval(0.5, 0.2, 1))
	low, high := (&Prediction{Mean: 3, SD: 2}).Interval95()
	require.InDelta(t, 3-2*half95, low, 1e-12)
	require.InDelta(t, 3+2*half95, high, 1e-12)
	require.Zero(t, warp{form: above, origin: 1, width: 1}.standardized([]float64{1, 2, 5}).interval(math.NaN(), 0.2, 1))
}

func TestWarpOption(t *testing.T) {
	_, err := New(box(t), Options{Warp: "log"})
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, `warp is "log", want auto or none`)

	saved := string(savedText(t, newStudy(t, box(t), options(1))))
	none := options(1)
	none.Warp = WarpNone
	_, err = Resume(strings.NewReader(saved), none)
	require.ErrorIs(t, err, ErrMismatch)

	older := strings.Replace(saved, `,"warp":"auto"`, "", 1)
	require.NotEqual(t, saved, older)
	for _, o := range []Options{none, options(1)} {
		_, err = Resume(strings.NewReader(older), o)
		require.NoError(t, err)
	}
}
