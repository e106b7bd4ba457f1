package insight

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/svgp"
)

// simulated is a distribution over studies of 60 trials with 2 inputs: draws of a process at
// scrambled Sobol points.
type simulated struct {
	kernel      string
	lengthscale float64
	noise       float64 // relative to the output variance of 1
}

// check returns the verdict on a simulated study of a model. The lengthscale and the noise variance of the
// model are fixed at the true value times a factor; 0 learns them.
func (c simulated) check(t *testing.T, seed uint64, lengthscale, noise float64) *Health {
	s, err := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1))
	require.NoError(t, err)
	rng := random.New(seed, "simulated study", 0)
	k := prior.Scale(prior.Matern52(2))
	if c.kernel == "rbf" {
		k = prior.Scale(prior.RBF(2))
	}
	process := prior.Process{Kernel: k.WithParams([]float64{1, c.lengthscale, c.lengthscale}), Noise: c.noise}
	x, cov, y := space.Sobol(60, 2, rng), mat.NewSymDense(60, nil), make([]float64, 60)
	process.Covariance(cov, x)
	factor, err := linalg.Factorize(cov)
	require.NoError(t, err)
	random.Normal(y, rng)
	factor.MulLowerVec(y)
	spec := prior.Spec{Kernel: c.kernel}
	if lengthscale > 0 {
		spec.Lengthscale = []float64{c.lengthscale * lengthscale}
	}
	if noise > 0 {
		v := noise * c.noise / stat.Variance(y, nil)
		spec.Noise = &v
	}
	var h loop.History
	for i, v := range y {
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: s.Decode(x.RawRowView(i)), State: loop.Complete, Value: v})
	}
	view, err := loop.Inspect(t.Context(), s, loop.Options{Surrogate: gp.Model{Spec: spec}, Acquisition: acquisition.LCB{}}, h) // LCB is built at once
	require.NoError(t, err)
	health, err := Check(t.Context(), view)
	require.NoError(t, err)
	return health
}

var full = flag.Bool("full", false, "100 simulated studies of each kind; otherwise a fifth")

// At least 95 % of the simulated studies of each kind get the right verdict.
func TestCheckFindsWrongHyperparameters(t *testing.T) {
	studies, least := 20, 19
	switch {
	case *full:
		studies, least = 100, 95
	case testing.Short():
		studies, least = 10, 8
	}
	const start = 120_000 // the thresholds were chosen with seeds up to 91,000
	for _, c := range []simulated{{"rbf", 0.3, 0.01}, {"rbf", 0.6, 0.01}} {
		for _, wrong := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {4, 0}, {0.25, 0}, {0, 4}, {0, 0.25}, {4, 1}, {0.25, 1}, {1, 4}, {1, 0.25}} {
			want := Healthy
			if wrong[0]+wrong[1] > 2 || wrong[0] == 0.25 || wrong[1] == 0.25 {
				want = Miscalibrated
			}
			right := 0
			for k := range studies {
				if c.check(t, uint64(start+k), wrong[0], wrong[1]).Verdict == want {
					right++
				}
			}
			t.Logf("%s, lengthscale %v, noise %v; fixed at %v of the truth: %d of %d %s", c.kernel, c.lengthscale, c.noise, wrong, right, studies, want)
			require.GreaterOrEqual(t, right, least, "%+v fixed at %v of the truth: %d of %d %s", c, wrong, right, studies, want)
		}
	}
}

// Expected numbers are the central 99.9 % of the binomial distribution.
func TestExpectedCoverage(t *testing.T) {
	for _, c := range []struct {
		n         int
		nominal   float64
		low, high int
	}{{24, 0.5, 4, 20}, {24, 0.95, 18, 24}, {500, 0.95, 458, 489}, {10, 0.5, 0, 10}} {
		got := Coverage{Nominal: c.nominal}
		got.expect(c.n, math.Inf(1))
		require.Equal(t, c.low, got.Low, "%+v", c)
		require.Equal(t, c.high, got.High, "%+v", c)
	}
}

// Errors of the right spread of which too many are outside a prediction interval are a finding. More inside than
// expected are none, and the summary explains them.
func TestCoverageOfErrors(t *testing.T) {
	errors := make([]float64, 40)
	for i := range errors {
		errors[i] = 0.9 * math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/40-1)
		if i < 5 || i >= 35 {
			errors[i] = math.Copysign(2, errors[i])
		}
	}
	h := &Health{}
	h.test(errors, math.Inf(1))
	require.Len(t, h.Findings, 1)
	require.Equal(t, "coverage of 95 %", h.Findings[0].Test)
	require.Equal(t, "only 30 of 40 values are inside their 95 % prediction intervals, and 32 to 40 are expected", h.Findings[0].Text)

	for i := range errors {
		errors[i] = 0.5 * math.Sin(float64(i))
		if i%10 == 0 {
			errors[i] = 2.9 * math.Cos(float64(i))
		}
	}
	h = &Health{Errors: make([]Number, len(errors))}
	h.test(errors, math.Inf(1))
	require.Empty(t, h.Findings, "%+v", h.Tests)
	require.Greater(t, h.Coverage[0].Inside, h.Coverage[0].High)
	require.Contains(t, h.agreement(), "they are cautious")
}

// drawn is a study of n trials at random points, with values of a process of output variance 1 and noise sd 0.1.
func drawn(t *testing.T, n, d int, seed uint64) (*space.Space, loop.History) {
	rng := random.New(seed, "drawn study", 0)
	var params []space.Parameter
	lengths := make([]float64, d)
	for j := range d {
		params = append(params, space.Float(fmt.Sprint("x", j), 0, 1))
		lengths[j] = 0.3 * float64(1+j%2) * math.Sqrt(float64(d)/2)
	}
	s, err := space.New(params...)
	require.NoError(t, err)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Float64())
		}
	}
	y, err := prior.Process{Kernel: prior.Matern52(d).WithParams(lengths)}.Sample(1, x, rng)
	require.NoError(t, err)
	var h loop.History
	for i := range n {
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: s.Decode(x.RawRowView(i)), State: loop.Complete, Value: 5 + 3*(y.At(0, i)+0.1*rng.NormFloat64())})
	}
	return s, h
}

// unwhitened is a model whose posteriors are no surrogate.Whitener.
type unwhitened struct{ surrogate.Model }

func (u unwhitened) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	p, err := u.Model.Fit(ctx, d, rng)
	return struct{ surrogate.Posterior }{p}, err
}

// A constant prior mean changes neither the errors nor the profile of a fixed noise.
func TestCheckWithPriorMean(t *testing.T) {
	s, h := drawn(t, 24, 2, 1)
	mean := loop.Mean{Text: "5", At: func(space.Point) float64 { return 5 }}
	for _, sd := range []float64{0, 0.06} {
		check := func(o loop.Options) *Health {
			o.NoiseSD, o.Warp = sd, loop.WarpNone
			v, err := loop.Inspect(t.Context(), s, o, h)
			require.NoError(t, err)
			health, err := Check(t.Context(), v)
			require.NoError(t, err)
			return health
		}
		want, got := check(loop.Options{}), check(loop.Options{PriorMean: mean})
		require.Len(t, got.Errors, 24)
		for i, e := range want.Errors {
			require.InDelta(t, float64(e), float64(got.Errors[i]), 1e-4)
		}
		require.Len(t, got.Profiles, len(want.Profiles))
		for i, p := range want.Profiles {
			require.InDelta(t, p.Best, got.Profiles[i].Best, 1e-9)
			require.InDelta(t, p.Gain, got.Profiles[i].Gain, 1e-3)
		}
		require.Equal(t, want.Verdict, got.Verdict)
	}
}

// Errors of refits do not make a correct model miscalibrated, and a noise that is fixed far too small does. With -full
// the log has the rates of ADR 23.
func TestFalseAlarmsOfFolds(t *testing.T) {
	models := []struct {
		name    string
		model   surrogate.Model
		wrong   float64
		studies int // with -full
	}{
		{"svgp", svgp.Model{}, 0, 100}, {"svgp", svgp.Model{}, 0.1, 100},
		{"gp by folds", unwhitened{gp.Model{}}, 0, 200},
		{"fsp-laplace", fsplaplace.Model{}, 0, 100}, {"fsp-laplace", fsplaplace.Model{}, 0.1, 100},
	}
	type size struct{ n, d int }
	sizes := []size{{20, 2}, {30, 2}, {50, 2}, {100, 2}, {30, 6}, {50, 6}}
	if !*full {
		models, sizes = models[:2], sizes[:3:3]
	}
	for _, m := range models {
		for _, c := range sizes {
			if c.d > 2 && m.wrong > 0 {
				continue
			}
			studies := 30
			if *full {
				studies = m.studies
			}
			bad := 0
			for k := range studies {
				s, h := drawn(t, c.n, c.d, uint64(1000+k))
				v, err := loop.Inspect(t.Context(), s, loop.Options{Surrogate: m.model, NoiseSD: m.wrong * 0.3}, h)
				require.NoError(t, err)
				health, err := Check(t.Context(), v)
				require.NoError(t, err)
				if health.Verdict == Miscalibrated {
					bad++
				}
			}
			t.Logf("%s, %d trials of %d inputs, noise sd times %g: %d of %d miscalibrated", m.name, c.n, c.d, m.wrong, bad, studies)
			switch {
			case m.wrong == 0:
				require.LessOrEqual(t, bad, max(2, studies*5/100))
			case c.n >= 50:
				require.GreaterOrEqual(t, bad, studies*40/100)
			}
		}
	}
}

// With few trials for the number of inputs the errors of refits give no verdict.
func TestTooFewForFolds(t *testing.T) {
	for n, want := range map[int]Verdict{34: TooFew, 35: Healthy} {
		s, h := drawn(t, n, 20, 3)
		v, err := loop.Inspect(t.Context(), s, loop.Options{Surrogate: svgp.Model{}}, h)
		require.NoError(t, err)
		health, err := Check(t.Context(), v)
		require.NoError(t, err)
		require.Equal(t, want, health.Verdict, health.Summary)
		if want == TooFew {
			require.Equal(t, "34 complete trials are too few for a verdict; 35 are needed.", health.Summary)
		}
	}
}

// linear is a study of 40 random points of an exactly linear objective of range 140.
func linear(t *testing.T, noise float64, o loop.Options) *Health {
	s, err := space.New(space.Float("t", 20, 900), space.Float("x", 0, 1))
	require.NoError(t, err)
	rng := random.New(3, "linear", 0)
	var h loop.History
	for i := range 40 {
		p := s.Decode([]float64{rng.Float64(), rng.Float64()})
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: 20 + p.Float("t")/20 + 100*p.Float("x") + noise*rng.NormFloat64()})
	}
	v, err := loop.Inspect(t.Context(), s, o, h)
	require.NoError(t, err)
	health, err := Check(t.Context(), v)
	require.NoError(t, err)
	return health
}

// Errors below the smallest noise that a fit learns are no fault. Intervals that a fixed noise makes too wide are.
func TestNegligibleErrors(t *testing.T) {
	h := linear(t, 0, loop.Options{})
	require.Equal(t, Healthy, h.Verdict, h.Findings)
	require.Empty(t, h.Findings)
	require.Contains(t, h.Summary, "The surrogate model explains the values to 2 digits: predictions from other trials have a root mean square error of 0.00")
	h = linear(t, 0, loop.Options{NoiseFree: true})
	require.Equal(t, Healthy, h.Verdict, h.Findings)
	require.Contains(t, h.Summary, "explains the values to ")
	h = linear(t, 0, loop.Options{Surrogate: svgp.Model{}})
	require.Equal(t, Healthy, h.Verdict, h.Findings)

	for _, noise := range []float64{0, 1} {
		for _, m := range []surrogate.Model{gp.Model{}, svgp.Model{}} {
			h = linear(t, noise, loop.Options{NoiseSD: 20, Surrogate: m})
			require.Equal(t, Miscalibrated, h.Verdict)
			require.Contains(t, h.Findings[0].Text, "prediction intervals are too wide")
		}
	}
}
