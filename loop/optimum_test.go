package loop

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

func beliefSpace(t *testing.T) *space.Space {
	s, err := space.New(space.LogFloat("lr", 1e-5, 1), space.Int("layers", 1, 8), space.Categorical("opt", "adam", "sgd", "lion"), space.Bool("nesterov"))
	require.NoError(t, err)
	return s
}

var trainingBeliefs = map[string]Belief{
	"lr": {Around: 1e-3, Factor: 3}, "layers": {Around: 4, Within: 1}, "opt": {Values: map[string]float64{"adam": 0.7}}, "nesterov": {Values: map[string]float64{"true": 0.9, "false": 0.1}},
}

func TestOptimumIsADensity(t *testing.T) {
	s := beliefSpace(t)
	o, err := newOptimum(s, trainingBeliefs)
	require.NoError(t, err)
	n := 1 << 15
	x := space.Sobol(n, s.Dim(), random.New(1, "x", 0))
	for i := range n {
		x.SetRow(i, s.Encode(s.Decode(x.RawRowView(i))))
	}
	value := make([]float64, n)
	o.Eval(value, nil, x)
	var sum float64
	for _, v := range value {
		sum += math.Exp(v) / float64(n)
	}
	require.InDelta(t, 1, sum, 0.05)

	at := mat.NewDense(1, s.Dim(), []float64{0.3, 0.6, 0.2, 0.5, 0.3, 0.4})
	grad := mat.NewDense(1, s.Dim(), nil)
	tempered{o, 0.5}.Eval(value[:1], grad, at)
	for j := range s.Dim() {
		const h = 1e-6
		up, down := mat.DenseCopyOf(at), mat.DenseCopyOf(at)
		up.Set(0, j, at.At(0, j)+h)
		down.Set(0, j, at.At(0, j)-h)
		var a, b [1]float64
		tempered{o, 0.5}.Eval(a[:], nil, up)
		tempered{o, 0.5}.Eval(b[:], nil, down)
		require.InDelta(t, (a[0]-b[0])/(2*h), grad.At(0, j), 1e-5)
	}
}

func TestOptimumErrors(t *testing.T) {
	s := beliefSpace(t)
	for name, c := range map[string]struct {
		belief Belief
		want   string
	}{
		"lrr":      {Belief{}, `"lrr" is not a parameter: did you mean lr?`},
		"lr":       {Belief{Around: 1e-3, Within: 1}, "needs a factor above 1"},
		"layers":   {Belief{Around: 9, Within: 1}, "around is 9, want 1 to 8"},
		"opt":      {Belief{Values: map[string]float64{"adm": 1}}, `"adm" is not a value: did you mean adam?`},
		"nesterov": {Belief{Values: map[string]float64{"true": 0.5, "false": 0.1}}, "the probabilities sum to 0.6, want 1"},
	} {
		_, err := New(s, Options{Optimum: map[string]Belief{name: c.belief}})
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, c.want)
	}
	_, err := New(s, Options{Optimum: trainingBeliefs, Acquisition: acquisition.EI{}})
	require.ErrorContains(t, err, "want auto, logei, lognei, qlogei, pi, lognehvi or lognparego")
}

// braninValue has minima at (-π, 12.275), (π, 2.275) and (9.42478, 2.475) with the value 0.397887.
func braninValue(_ context.Context, p space.Point) (float64, error) {
	x, y := p.Float("x"), p.Float("y")
	return math.Pow(y-5.1/(4*math.Pi*math.Pi)*x*x+5/math.Pi*x-6, 2) + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10, nil
}

// A true belief helps, and the search recovers from a false one.
func TestBeliefsAboutTheOptimum(t *testing.T) {
	racetest.SkipNumerical(t)
	s, err := space.New(space.Float("x", -5, 10), space.Float("y", 0, 15))
	require.NoError(t, err)
	regret := func(beliefs map[string]Belief, budget int) float64 {
		var out []float64
		for seed := range uint64(10) {
			r, err := Minimize(t.Context(), braninValue, s, Options{Budget: budget, Seed: seed, NoiseFree: true, Optimum: beliefs})
			require.NoError(t, err)
			out = append(out, r.Best.Value-0.397887)
		}
		slices.Sort(out)
		return (out[4] + out[5]) / 2
	}
	right := map[string]Belief{"x": {Around: 3, Within: 1.5}, "y": {Around: 2.5, Within: 1.5}}
	wrong := map[string]Belief{"x": {Around: -4, Within: 1.5}, "y": {Around: 1, Within: 1.5}}
	require.Less(t, regret(right, 10), regret(nil, 10))
	require.Less(t, regret(wrong, 30), 0.1)
}

func TestResumeWithBeliefs(t *testing.T) {
	s := beliefSpace(t)
	o := Options{Optimum: trainingBeliefs}
	study, err := New(s, o)
	require.NoError(t, err)
	first, err := study.Ask(t.Context(), 3)
	require.NoError(t, err)
	require.Len(t, first, 3)
	var file bytes.Buffer
	require.NoError(t, study.Save(&file))
	text := file.Bytes()
	_, err = Resume(bytes.NewReader(text), o)
	require.NoError(t, err)
	_, err = Resume(bytes.NewReader(text), Options{})
	require.ErrorIs(t, err, ErrMismatch)
}
