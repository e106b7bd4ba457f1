package loop

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/check"
	"github.com/functionspace/bo/internal/stream"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/gp"
)

// positive values with a long tail
var tailed = []float64{3, 0.02, 0.4, 11, 0.7, 0.05}

func TestWarpIsStandardised(t *testing.T) {
	for _, width := range []float64{0, 0.1, 5} {
		w := newWarp(tailed, width)
		z := w.apply(tailed)
		var sum, squares float64
		for _, v := range z {
			sum += v
			squares += v * v
		}
		require.InDelta(t, 0, sum, 1e-12)
		require.InDelta(t, float64(len(z)-1), squares, 1e-12)
		for i := range tailed {
			m, s := w.moments(z[i], 0)
			require.InDelta(t, tailed[i], m, 1e-12)
			require.Zero(t, s)
		}
	}
}

func TestWarpLogSlope(t *testing.T) {
	for _, width := range []float64{0, 0.1, 5} {
		w := newWarp(tailed, width)
		var slope float64
		for _, v := range tailed {
			v += 1 // clear of the least value, where the difference would leave the domain
			one := []float64{v}
			g := []float64{math.Exp(w.logSlope(one))}
			require.NoError(t, check.Gradient(func(v []float64) float64 { return w.apply(v)[0] }, one, g, 1e-6))
			slope += w.logSlope(one)
		}
		shifted := make([]float64, len(tailed))
		for i, v := range tailed {
			shifted[i] = v + 1
		}
		require.InDelta(t, slope, w.logSlope(shifted), 1e-12)
	}
}

// The moments are those of the values that normal draws stand for.
func TestWarpMoments(t *testing.T) {
	const draws = 400000
	rng := stream.New(1, "moments", 0)
	for _, width := range []float64{0, 0.5} {
		w := newWarp(tailed, width)
		mean, sd := -0.3, 0.4
		var sum, squares float64
		for range draws {
			v, _ := w.moments(mean+sd*rng.NormFloat64(), 0)
			sum += v
			squares += v * v
		}
		m, s := w.moments(mean, sd)
		require.InDelta(t, m, sum/draws, 4*s/math.Sqrt(draws))
		require.InEpsilon(t, s, math.Sqrt(squares/draws-m*m), 0.02)
	}
}

// sampled returns f at n points of the unit square.
func sampled(n int, f func(x []float64) float64) (*mat.Dense, []float64) {
	x := space.Sobol(n, 2, stream.New(3, "sampled", 0))
	v := make([]float64, n)
	for i := range v {
		v[i] = f(x.RawRowView(i))
	}
	return x, v
}

func choice(t *testing.T, o Options, x *mat.Dense, v []float64) warp {
	t.Helper()
	w, err := newStudy(t, box(t), o).chooseWarp(context.Background(), x, v, stream.New(1, "warp", 0))
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

// The likelihood is that of the process that the user states: a square is a
// polynomial, and no plane, to which its logarithm is nearer.
func TestWarpAsksTheStatedPrior(t *testing.T) {
	x, v := sampled(30, func(x []float64) float64 { return (1 + x[0] + x[1]) * (1 + x[0] + x[1]) })
	require.Zero(t, choice(t, Options{Surrogate: gp.Model{Spec: prior.Spec{Kernel: "polynomial"}}}, x, v).width)
	planes := prior.Spec{Kernel: "linear"}
	require.Positive(t, choice(t, Options{Surrogate: gp.Model{Spec: planes}}, x, v).width)
	require.Positive(t, choice(t, Options{Surrogate: &gp.Model{Spec: planes}}, x, v).width)
}

func TestWarpOfFewAndEqualValues(t *testing.T) {
	for _, v := range [][]float64{{1}, {1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2}, {1e12, 1e12 + 1e-3, 1e12 + 2e-3}, {-1e300, 0, 1e300}} {
		x, _ := sampled(len(v), func([]float64) float64 { return 0 })
		require.Zero(t, choice(t, Options{}, x, v).width, "%v", v)
	}
}

// A study of values that the surrogate sees as logarithms predicts and recommends in
// the user's units.
func TestWarpedStudySpeaksInUnits(t *testing.T) {
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
		o.Initial, o.Maximize = 12, maximize
		s := newStudy(t, box(t), o)
		result := run(t, s, f, 16, 1)
		snap := s.snapshot()
		fit, err := s.fit(context.Background(), &snap, stream.New(1, "fit", 0))
		require.NoError(t, err)
		require.Positive(t, fit.width)
		for _, trial := range result.Trials {
			if p := trial.Prediction; p != nil && trial.ID > 12 {
				require.Less(t, math.Abs(p.Mean-trial.Value), 5*p.SD+1e3)
			}
		}
		rec, err := s.Recommend(context.Background())
		require.NoError(t, err)
		require.InEpsilon(t, rec.Model.Trial.Value, rec.Model.Mean, 0.3)
		require.Positive(t, rec.Model.SD)
	}
}

func TestWarpOption(t *testing.T) {
	_, err := New(box(t), Options{Warp: "log"})
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, `Warp is "log", want auto or none`)

	saved := string(savedText(t, newStudy(t, box(t), options(1))))
	o := options(1)
	o.Warp = WarpNone
	_, err = Resume(strings.NewReader(saved), o)
	require.ErrorIs(t, err, ErrMismatch)

	older := strings.Replace(saved, `,"warp":"auto"`, "", 1)
	require.NotEqual(t, saved, older)
	_, err = Resume(bytes.NewReader([]byte(older)), options(1))
	require.NoError(t, err)
}
