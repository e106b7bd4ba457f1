package insight

import (
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/gp"
)

// simulated is a distribution over studies of 60 trials with 2 inputs: draws of a process at
// scrambled Sobol points.
type simulated struct {
	kernel      string
	lengthscale float64
	noise       float64 // relative to the output variance of 1
}

// check returns the verdict on a simulated study of a model with the lengthscale and the
// noise variance fixed at the true value times a factor; 0 learns them.
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
	view, err := loop.Inspect(t.Context(), s, loop.Options{Surrogate: gp.Model{Spec: spec}}, h)
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
		got.expect(c.n)
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
	h.test(errors)
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
	h.test(errors)
	require.Empty(t, h.Findings, "%+v", h.Tests)
	require.Greater(t, h.Coverage[0].Inside, h.Coverage[0].High)
	require.Contains(t, h.agreement(), "they are cautious")
}
