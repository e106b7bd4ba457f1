package loop

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/auto"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/svgp"
)

// uneven adds n trials to study whose noise differs, with a standard error in each but every k-th; k = 0 is in all.
func uneven(t *testing.T, study *Study, s *space.Space, n, k int, unit float64) {
	rng := random.New(5, "uneven", 0)
	for i := range n {
		p := s.Decode([]float64{float64(i) / float64(n-1)})
		sd := unit * math.Pow(10, -2+2*rng.Float64())
		out := Outcome{Value: unit*math.Sin(6*p.Float("x")) + sd*rng.NormFloat64(), Numbers: map[string]float64{"se": sd}}
		if k > 0 && i%k == 0 {
			out.Numbers = nil
		}
		_, err := study.AddOutcome(p, out)
		require.NoError(t, err)
	}
}

// The standard error of a value is the noise of its trial in the fit, in any unit.
func TestStandardError(t *testing.T) {
	s := noiseSpace(t, "x")
	for _, unit := range []float64{1, 1000} {
		o := Options{Initial: 4, StandardError: "se"}
		study, err := New(s, o)
		require.NoError(t, err)
		uneven(t, study, s, 15, 0, unit)
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		require.Equal(t, WarpNone, v.Options.Warp)
		scale := v.Units.warp.scale
		var variances []float64
		for i, row := range v.Rows {
			require.InEpsilon(t, v.Trials[row].Numbers["se"], math.Sqrt(v.Data.Noise[i])*scale.SD, 1e-9)
			variances = append(variances, v.Data.Noise[i])
		}
		require.Equal(t, middle(variances), v.Posterior.Noise(), "a later value has the median")

		want, err := gp.Model{Spec: v.Options.Surrogate.(gp.Model).Spec}.Fit(t.Context(), v.Data, random.New(0, "other", 0))
		require.NoError(t, err)
		mean, variance := make([]float64, 2), make([]float64, 2)
		wantMean, wantVariance := make([]float64, 2), make([]float64, 2)
		at := mat.NewDense(2, 1, []float64{0.31, 0.77})
		v.Posterior.Predict(mean, variance, at)
		want.Predict(wantMean, wantVariance, at)
		require.InDeltaSlice(t, wantMean, mean, 1e-3)
		require.InDeltaSlice(t, wantVariance, variance, 1e-3)

		var file bytes.Buffer
		require.NoError(t, study.Save(&file))
		text := file.Bytes()
		_, err = Resume(bytes.NewReader(text), o)
		require.NoError(t, err)
		_, err = Resume(bytes.NewReader(text), Options{Initial: 4})
		require.ErrorContains(t, err, "standard error is")
	}
}

// Trials without a standard error have the median, or a learned noise if they are the majority.
func TestStandardErrorOfSomeTrials(t *testing.T) {
	s := noiseSpace(t, "x")
	for k, learned := range map[int]bool{3: false, 1: true} { // 10 of 15, none
		study, err := New(s, Options{Initial: 4, StandardError: "se"})
		require.NoError(t, err)
		uneven(t, study, s, 15, k, 1)
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		require.Equal(t, learned, v.Options.Surrogate.(gp.Model).Noise == nil)
		if learned {
			require.Nil(t, v.Data.Noise)
			continue
		}
		for i, row := range v.Rows {
			_, given := v.Trials[row].Numbers["se"]
			require.Equal(t, !given, math.IsNaN(v.Data.Noise[i]))
		}
	}
	// With noise_sd the others have it.
	study, err := New(s, Options{Initial: 4, StandardError: "se", NoiseSD: 0.3})
	require.NoError(t, err)
	uneven(t, study, s, 15, 2, 1)
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	require.InEpsilon(t, 0.3, math.Sqrt(v.Posterior.Noise())*v.Units.warp.scale.SD, 1e-9)
}

// Failed trials without a model of failures are imputed, and have no standard error.
func TestStandardErrorBesideFailures(t *testing.T) {
	s := noiseSpace(t, "x")
	study, err := New(s, Options{Initial: 2, StandardError: "se"})
	require.NoError(t, err)
	uneven(t, study, s, 8, 0, 1)
	proposals, err := study.Ask(t.Context(), 2)
	require.NoError(t, err)
	require.NoError(t, study.Fail(proposals[0].ID, "no result"))
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Data.Noise, len(v.Data.Y))
	_, err = study.Ask(t.Context(), 2)
	require.NoError(t, err)
}

// A few poor measurements do not set the scale of the values: 90 % intervals of the function contain 90 % of it.
func TestStandardErrorOfPoorMeasurements(t *testing.T) {
	s := noiseSpace(t, "x")
	inside, all := 0, 0
	for seed := range uint64(30) {
		rng := random.New(seed, "poor", 0)
		k, err := prior.Parse("rbf", 1)
		require.NoError(t, err)
		x := mat.NewDense(45, 1, nil)
		for i := range 45 {
			x.Set(i, 0, rng.Float64())
		}
		f, err := prior.Process{Kernel: k.WithParams([]float64{1, 0.25}), Noise: 1e-9}.Sample(1, x, rng)
		require.NoError(t, err)
		study, err := New(s, Options{Initial: 4, StandardError: "se"})
		require.NoError(t, err)
		for i := range 20 {
			sd := 0.1
			if i%4 == 0 {
				sd = 100
			}
			_, err := study.AddOutcome(s.Decode(x.RawRowView(i)), Outcome{Value: f.At(0, i) + sd*rng.NormFloat64(), Numbers: map[string]float64{"se": sd}})
			require.NoError(t, err)
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		mean, variance := make([]float64, 25), make([]float64, 25)
		v.Posterior.Predict(mean, variance, x.Slice(20, 45, 0, 1).(*mat.Dense))
		for i := range 25 {
			z := v.Units.Target(f.At(0, 20+i))
			all++
			if math.Abs(z-mean[i]) <= 1.645*math.Sqrt(variance[i]) {
				inside++
			}
		}
	}
	t.Logf("%d of %d", inside, all)
	require.InDelta(t, 0.9, float64(inside)/float64(all), 0.04)
}

// With a prior mean the poor measurements do not set the scale of the differences from it either.
func TestStandardErrorWithAPriorMean(t *testing.T) {
	s := noiseSpace(t, "x")
	scale := func(poor float64) float64 {
		study, err := New(s, Options{Initial: 2, StandardError: "se", PriorMean: Mean{Text: "3", At: func(space.Point) float64 { return 3 }}})
		require.NoError(t, err)
		for i := range 9 {
			x := float64(i) / 8
			value, se := 3+math.Sin(6*x), 0.1
			if i%4 == 1 {
				value, se = value+poor, 1000
			}
			_, err := study.AddOutcome(s.Decode([]float64{x}), Outcome{Value: value, Numbers: map[string]float64{"se": se}})
			require.NoError(t, err)
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		return v.Units.warp.scale.SD
	}
	require.InEpsilon(t, scale(0), scale(500), 1e-9)
}

// Each of several objectives has its own standard errors.
func TestStandardErrorOfSeveral(t *testing.T) {
	s := noiseSpace(t, "x")
	study, err := New(s, Options{Initial: 2, Objectives: []Goal{{Name: "a", StandardError: "a_se"}, {Name: "b"}}})
	require.NoError(t, err)
	for i := range 9 {
		x := float64(i) / 8
		_, err := study.AddOutcome(s.Decode([]float64{x}), Outcome{Numbers: map[string]float64{"a": x, "b": math.Sin(4 * x), "a_se": 0.1 + 0.1*x}})
		require.NoError(t, err)
	}
	v, err := study.InspectObjective(t.Context(), "a")
	require.NoError(t, err)
	for i, row := range v.Rows {
		require.InEpsilon(t, v.Trials[row].Numbers["a_se"], math.Sqrt(v.Data.Noise[i])*v.Units.warp.scale.SD, 1e-9)
	}
	v, err = study.InspectObjective(t.Context(), "b")
	require.NoError(t, err)
	require.Nil(t, v.Data.Noise)
	_, err = study.Ask(t.Context(), 2)
	require.NoError(t, err)
}

// With standard errors the recommended trial is nearer to the optimum: over seeds, half of the values are good and half
// are bad measurements, and the best values are bad ones.
func TestStandardErrorRecommends(t *testing.T) {
	s := noiseSpace(t, "x")
	better, worse := 0, 0
	for seed := range uint64(20) {
		regret := func(o Options) float64 {
			study, err := New(s, o)
			require.NoError(t, err)
			rng := random.New(seed, "measurements", 0)
			for i := range 24 {
				p := s.Decode([]float64{rng.Float64()})
				sd := []float64{0.05, 1}[i%2]
				x := p.Float("x")
				_, err := study.AddOutcome(p, Outcome{Value: 4*(x-0.3)*(x-0.3) + sd*rng.NormFloat64(), Numbers: map[string]float64{"se": sd}})
				require.NoError(t, err)
			}
			r, err := study.Recommend(t.Context())
			require.NoError(t, err)
			x := r.Model.Trial.Point.Float("x")
			return 4 * (x - 0.3) * (x - 0.3)
		}
		known, plain := regret(Options{Initial: 4, StandardError: "se"}), regret(Options{Initial: 4})
		switch {
		case known < plain:
			better++
		case known > plain:
			worse++
		}
	}
	t.Logf("%d better, %d worse of 20", better, worse)
	require.Greater(t, better, 2*worse)
}

func TestStandardErrorFaults(t *testing.T) {
	s := noiseSpace(t, "x")
	for text, o := range map[string]Options{
		"standard error is se, and the objective is declared exact": {StandardError: "se", NoiseFree: true},
		"objective a: standard error is b, an objective":            {Objectives: []Goal{{Name: "a", StandardError: "b"}, {Name: "b"}}},
		"takes one noise for all values: use gp":                    {StandardError: "se", Surrogate: auto.Model{}},
		"use gp, or state a noise sd":                               {StandardError: "se", Surrogate: svgp.Model{}},
	} {
		_, err := New(s, o)
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, text)
	}
	study, err := New(s, Options{StandardError: "se"})
	require.NoError(t, err)
	_, err = study.AddOutcome(s.Decode([]float64{0.5}), Outcome{Value: 1, Numbers: map[string]float64{"se": -1}})
	require.ErrorIs(t, err, ErrNotFinite)
	require.ErrorContains(t, err, "the standard error se is -1, want a number of at least 0")
	_, err = study.AddOutcome(s.Decode([]float64{0.5}), Outcome{Value: 1, Numbers: map[string]float64{"se": 0}})
	require.NoError(t, err)

	_, err = svgp.Model{}.Fit(t.Context(), surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0}), Y: []float64{0}, Noise: []float64{1}}, random.New(0, "", 0))
	require.ErrorIs(t, err, surrogate.ErrNoise)
}
