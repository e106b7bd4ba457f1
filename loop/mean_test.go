package loop

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/gp"
)

// Without observations nearby a prediction is near the prior mean.
func ExampleMean() {
	s, err := space.New(space.Float("x", 0, 10))
	if err != nil {
		log.Fatal(err)
	}
	study, err := New(s, Options{Initial: 3, PriorMean: Mean{Text: "3 + 2*x", At: func(p space.Point) float64 { return 3 + 2*p.Float("x") }}})
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range []float64{4, 5, 6} {
		p, err := s.PointOf(map[string]any{"x": x})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := study.Add(p, 3+2*x); err != nil {
			log.Fatal(err)
		}
	}
	trials, err := study.Ask(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	t := trials[0]
	fmt.Printf("%.2f\n", t.Prediction.Mean-3-2*t.Point.Float("x"))
	// Output:
	// 0.00
}

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
	m := meanPath{space: s, mean: trend, sign: -1}
	m.scale.SD = 2
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
