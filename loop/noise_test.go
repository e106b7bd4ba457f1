package loop

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/auto"
	"github.com/functionspace/bo/surrogate/gp"
)

func noiseSpace(t *testing.T, names ...string) *space.Space {
	var parameters []space.Parameter
	for _, name := range names {
		parameters = append(parameters, space.Float(name, 0, 1))
	}
	s, err := space.New(parameters...)
	require.NoError(t, err)
	return s
}

// A known noise is the noise of the fitted model, in the unit of the values, for any scale of them and in
// every model.
func TestNoiseSD(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	for _, unit := range []float64{1, 1000} {
		o := Options{Initial: 4, NoiseSD: 0.2 * unit}
		study, err := New(s, o)
		require.NoError(t, err)
		rng := random.New(3, "noise", 0)
		for range 20 {
			p := s.Decode([]float64{rng.Float64(), rng.Float64()})
			_, err := study.Add(p, unit*(math.Sin(5*p.Float("x"))+0.2*rng.NormFloat64()))
			require.NoError(t, err)
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		require.Equal(t, WarpNone, v.Options.Warp)
		require.InEpsilon(t, 0.2*unit, math.Sqrt(v.Posterior.Noise())*v.Units.warp.scale.SD, 1e-9)
		require.InEpsilon(t, v.Posterior.Noise(), *v.Options.Surrogate.(gp.Model).Noise, 1e-9)

		var file bytes.Buffer
		require.NoError(t, study.Save(&file))
		text := file.Bytes()
		_, err = Resume(bytes.NewReader(text), o)
		require.NoError(t, err)
		o.NoiseSD *= 2
		_, err = Resume(bytes.NewReader(text), o)
		require.ErrorIs(t, err, ErrMismatch)
		require.ErrorContains(t, err, "noise sd is")

	}
}

// The search stays local with a known noise, also if the surrogate model is selected.
func TestNoiseSDKeepsLocalSearch(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	for name, m := range map[string]surrogate.Model{"gp": gp.Model{}, "auto": auto.Model{}} {
		for _, sd := range []float64{0, 0.2} {
			var h History
			rng := random.New(3, "noise", 0)
			for i := range 20 {
				p := s.Decode([]float64{rng.Float64(), rng.Float64()})
				h.Trials = append(h.Trials, Trial{ID: i + 1, Point: p, State: Complete, Value: math.Sin(5*p.Float("x")) + 0.2*rng.NormFloat64()})
			}
			out, err := Propose(t.Context(), s, Options{Initial: 4, Surrogate: m, NoiseSD: sd}, h, 4)
			require.NoError(t, err)
			locals := 0
			for _, p := range out.Points {
				if p.Local {
					locals++
				}
			}
			require.Equal(t, 2, locals, "%s, noise %v", name, sd)
		}
	}
}

// A random sum of several objectives does not use the noise of one.
func TestNoiseSDOfASum(t *testing.T) {
	s := noiseSpace(t, "x")
	points := func(sd, whole float64) []string {
		o := Options{Initial: 2, Acquisition: acquisition.LogNEI{}, NoiseSD: whole, Objectives: []Goal{{Name: "a", NoiseSD: sd}, {Name: "b"}}}
		study, err := New(s, o)
		require.NoError(t, err)
		for i := range 12 {
			x := float64(i) / 11
			_, err := study.AddOutcome(s.Decode([]float64{x}), Outcome{Numbers: map[string]float64{"a": 1000 * x, "b": math.Sin(7 * x)}})
			require.NoError(t, err)
		}
		proposals, err := study.Ask(t.Context(), 3)
		require.NoError(t, err)
		var out []string
		for _, p := range proposals {
			out = append(out, p.Point.Key())
		}
		return out
	}
	require.Equal(t, points(0, 0), points(30, 0))
	require.Equal(t, points(0, 0), points(0, 30))
}

// Each of several objectives has its own noise.
func TestNoiseSDOfSeveral(t *testing.T) {
	s := noiseSpace(t, "x")
	study, err := New(s, Options{Initial: 2, Objectives: []Goal{{Name: "a", NoiseSD: 0.1}, {Name: "b"}, {Name: "c", NoiseSD: 30}}})
	require.NoError(t, err)
	rng := random.New(3, "noise", 0)
	for i := range 15 {
		p := s.Decode([]float64{float64(i) / 14})
		x := p.Float("x")
		_, err := study.AddOutcome(p, Outcome{Numbers: map[string]float64{"a": x + 0.1*rng.NormFloat64(), "b": math.Sin(4 * x), "c": 100*x*x + 30*rng.NormFloat64()}})
		require.NoError(t, err)
	}
	for name, want := range map[string]float64{"a": 0.1, "c": 30} {
		v, err := study.InspectObjective(t.Context(), name)
		require.NoError(t, err)
		require.InEpsilon(t, want, math.Sqrt(v.Posterior.Noise())*v.Units.warp.scale.SD, 1e-9)
		require.InEpsilon(t, v.Posterior.Noise(), *v.Options.Surrogate.(gp.Model).Noise, 1e-9)
	}
	v, err := study.InspectObjective(t.Context(), "b")
	require.NoError(t, err)
	require.Nil(t, v.Options.Surrogate.(gp.Model).Noise)
	require.Less(t, v.Posterior.Noise(), 0.01)
}

func TestNoiseSDFaults(t *testing.T) {
	s := noiseSpace(t, "x")
	for text, o := range map[string]Options{
		"noise sd is -1, want a positive number":                 {NoiseSD: -1},
		"noise sd is NaN, want a positive number":                {NoiseSD: math.NaN()},
		"noise sd is 1, and the objective is declared exact":     {NoiseSD: 1, NoiseFree: true},
		"options: objective b: noise sd is 1, and the objective": {Objectives: []Goal{{Name: "a"}, {Name: "b", NoiseSD: 1, NoiseFree: true}}},
	} {
		_, err := New(s, o)
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, text)
	}
}
