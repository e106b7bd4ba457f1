package loop

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/auto"
	"github.com/functionspace/bo/surrogate/gp"
)

func meanSpace(t *testing.T) *space.Space {
	s, err := space.New(space.LogFloat("rate", 1e-3, 1), space.Float("x", -2, 2), space.Int("n", 1, 5))
	require.NoError(t, err)
	return s
}

var trend = Mean{Text: "trend", At: func(p space.Point) float64 {
	return 3 + 2*math.Log(p.Float("rate")) + p.Float("x") + math.Pow(p.Float("n"), 2)
}}

// A study of y with mean m has the posterior of a study of y - m, plus m.
func TestMeanIsAShift(t *testing.T) {
	s := meanSpace(t)
	rng := random.New(1, "points", 0)
	x := space.Sobol(12, s.Dim(), rng)
	at := space.Sobol(6, s.Dim(), rng)
	for _, maximize := range []bool{false, true} {
		o := Options{Maximize: maximize, Warp: WarpNone, Initial: 4}
		with := o
		with.PriorMean = trend
		a, err := New(s, with)
		require.NoError(t, err)
		b, err := New(s, o)
		require.NoError(t, err)
		for i := range 12 {
			p := s.Decode(x.RawRowView(i))
			y := math.Sin(3*p.Float("x")) + 0.1*p.Float("n")
			if i == 5 {
				y += 40 // winsorised
			}
			_, err := a.Add(p, y+trend.At(p))
			require.NoError(t, err)
			_, err = b.Add(p, y)
			require.NoError(t, err)
		}
		va, err := a.Inspect(t.Context())
		require.NoError(t, err)
		vb, err := b.Inspect(t.Context())
		require.NoError(t, err)
		m, v, n, w := make([]float64, 6), make([]float64, 6), make([]float64, 6), make([]float64, 6)
		for i := range 6 {
			s.Project(at.RawRowView(i))
		}
		va.Posterior.Predict(m, v, at)
		vb.Posterior.Predict(n, w, at)
		for i := range m {
			p := s.Decode(at.RawRowView(i))
			require.InDelta(t, vb.Units.Value(n[i])+trend.At(p), va.Units.Value(m[i]), 1e-9)
			require.InDelta(t, math.Sqrt(w[i])*vb.Units.warp.scale.SD, math.Sqrt(v[i])*va.Units.warp.scale.SD, 1e-9)
		}
		var file bytes.Buffer
		require.NoError(t, a.Save(&file))
		text := file.Bytes()
		_, err = Resume(bytes.NewReader(text), with)
		require.NoError(t, err)
		_, err = Resume(bytes.NewReader(text), o)
		require.ErrorIs(t, err, ErrMismatch)
	}
}

func TestMeanGradient(t *testing.T) {
	s := meanSpace(t)
	m := meanPath{s, trend, -1, 2}
	x := mat.NewDense(2, 3, []float64{0.3, 1, 0.5, 0, 0.4, 0.1})
	value, grad := make([]float64, 2), mat.NewDense(2, 3, nil)
	m.Eval(value, grad, x)
	for i := range 2 {
		require.InDelta(t, -trend.At(s.Decode(x.RawRowView(i)))/2, value[i], 1e-12)
		require.InDelta(t, -math.Log(1000), grad.At(i, 0), 1e-6)
		require.InDelta(t, -2, grad.At(i, 1), 1e-6)
		require.Zero(t, grad.At(i, 2))
	}
}

func TestMeanErrors(t *testing.T) {
	s := meanSpace(t)
	for want, o := range map[string]Options{
		"text without a function":  {PriorMean: Mean{Text: "x"}},
		"want a finite number":     {PriorMean: Mean{Text: "1/(rate-1)", At: func(p space.Point) float64 { return 1 / (p.Float("rate") - 1) }}},
		"belongs to one objective": {PriorMean: trend, Objectives: []Goal{{Name: "a"}, {Name: "b"}}},
	} {
		_, err := New(s, o)
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, want)
	}
}

// Acquisition functions with samples, conditioning and drawn functions take a mean function.
func TestMeanWithAcquisitions(t *testing.T) {
	racetest.SkipNumerical(t)
	s := meanSpace(t)
	for _, a := range []acquisition.Acquisition{acquisition.LogNEI{}, acquisition.QLogEI{}, acquisition.MES{}, acquisition.Thompson{}} {
		study, err := New(s, Options{PriorMean: trend, Acquisition: a, Initial: 4, Surrogate: gp.Model{Spec: prior.Spec{Restarts: 1}}})
		require.NoError(t, err)
		for range 2 {
			trials, err := study.Ask(t.Context(), 4)
			require.NoError(t, err)
			for _, q := range trials[:3] {
				require.NoError(t, study.Tell(q.ID, trend.At(q.Point)+math.Sin(q.Point.Float("x"))))
			}
			require.NoError(t, study.Fail(trials[3].ID, "broken"))
		}
	}
}

// steep is a mean function whose range is much larger than the differences from it.
var steep = Mean{Text: "steep", At: func(p space.Point) float64 { return 1000 * p.Float("x") }}

// steepHistory returns trials of steep plus a wave of height 0.5 and noise of standard deviation sd. With failed, one
// trial in five fails.
func steepHistory(s *space.Space, sd float64, failed bool) History {
	var h History
	rng := random.New(3, "steep", 0)
	for i := range 20 {
		p := s.Decode([]float64{rng.Float64(), rng.Float64()})
		trial := Trial{ID: i + 1, Point: p, State: Complete, Value: steep.At(p) + 0.5*math.Sin(5*p.Float("z")) + sd*rng.NormFloat64()}
		if failed && i%5 == 0 {
			trial.State = Failed
		}
		h.Trials = append(h.Trials, trial)
	}
	return h
}

// A known noise has the unit of the values for any mean function.
func TestMeanKeepsNoiseSD(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	for name, o := range map[string]Options{
		"gp":       {},
		"maximize": {Maximize: true},
		"auto":     {Surrogate: auto.Model{}},
		"imputed":  {Acquisition: acquisition.Thompson{}},
		"scaled":   {Surrogate: surrogate.Scaled{Model: gp.Model{}, Inputs: surrogate.Raw}},
	} {
		o.NoiseSD, o.PriorMean = 0.2, steep
		if name == "imputed" {
			o.NoiseSD = 2 // a smaller share of the variance than leastNoise has no effect
		}
		v, err := Inspect(t.Context(), s, o, steepHistory(s, o.NoiseSD, name == "imputed"))
		require.NoError(t, err, name)
		require.InEpsilon(t, o.NoiseSD, v.Units.SD(math.Sqrt(v.Posterior.Noise())), 1e-9, name)
	}
}

// Fixed hyperparameters are shares of the variance of the differences from the mean function.
func TestMeanOfFixedHyperparameters(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	h := steepHistory(s, 0.2, false)
	var rest []float64
	for _, trial := range h.Trials {
		rest = append(rest, trial.Value-steep.At(trial.Point))
	}
	o := Options{PriorMean: steep, Surrogate: gp.Model{Spec: prior.Spec{Noise: new(0.09)}}}
	v, err := Inspect(t.Context(), s, o, h)
	require.NoError(t, err)
	require.InEpsilon(t, 0.3*surrogate.Standardize(rest).SD, v.Units.SD(math.Sqrt(v.Posterior.Noise())), 1e-9)
}

// Noise that is small beside the range of the mean function is noise: auto selects lognei.
func TestMeanAndNoiseOfAuto(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	h := steepHistory(s, 0.3, false)
	o := Options{Initial: 4, PriorMean: steep}
	got, err := Propose(t.Context(), s, o, h, 1)
	require.NoError(t, err)
	o.Acquisition = acquisition.LogNEI{}
	want, err := Propose(t.Context(), s, o, h, 1)
	require.NoError(t, err)
	require.Equal(t, want.Points[0].Prediction.Acquisition, got.Points[0].Prediction.Acquisition)
	require.Equal(t, want.Points[0].Point.Key(), got.Points[0].Point.Key())
}

// An objective that equals its mean function has differences of rounding errors alone.
func TestMeanWithoutDifferences(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	for _, sd := range []float64{0, 0.2} {
		for _, offset := range []float64{0, 1. / 3} {
			h := steepHistory(s, 0, false)
			for i := range h.Trials {
				h.Trials[i].Value = steep.At(h.Trials[i].Point) + offset
			}
			o := Options{Initial: 4, PriorMean: steep, NoiseSD: sd}
			v, err := Inspect(t.Context(), s, o, h)
			require.NoError(t, err)
			require.Greater(t, v.Units.SD(1), 1.)
			out, err := Propose(t.Context(), s, o, h, 2)
			require.NoError(t, err)
			for _, p := range out.Points {
				require.InDelta(t, steep.At(p.Point)+offset, p.Prediction.Mean, 1e-4)
			}
		}
	}
}
