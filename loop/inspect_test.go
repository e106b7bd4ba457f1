package loop_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// A view has the posterior and the acquisition function of the next suggestion.
func TestInspectIsTheFitOfTheNextSuggestion(t *testing.T) {
	s, err := space.New(space.Float("x", -5, 10), space.Float("y", 0, 15))
	require.NoError(t, err)
	beliefs := map[string]loop.Belief{"x": {Around: 3, Within: 2}}
	for _, o := range []loop.Options{{}, {Maximize: true}, {Optimum: beliefs}} {
		study, err := loop.New(s, o)
		require.NoError(t, err)
		_, err = study.Inspect(t.Context())
		require.ErrorIs(t, err, loop.ErrNoValue)
		sign := 1.0
		if o.Maximize {
			sign = -1
		}
		for i := range 12 {
			trials, err := study.Ask(t.Context(), 1)
			require.NoError(t, err)
			if i == 5 {
				require.NoError(t, study.Fail(trials[0].ID, "crash"))
				continue
			}
			x, y := trials[0].Point.Float("x"), trials[0].Point.Float("y")
			require.NoError(t, study.Tell(trials[0].ID, sign*math.Exp(0.3*x)+math.Sin(y)))
		}
		v, err := study.Inspect(t.Context())
		require.NoError(t, err)
		require.Len(t, v.Rows, 11) // the failed trial has a model of its own
		require.Len(t, v.Data.Y, 11)
		next, err := study.Ask(t.Context(), 1)
		require.NoError(t, err)
		p := next[0].Prediction
		u := mat.NewDense(1, 2, s.Encode(next[0].Point))
		value, mean, variance := make([]float64, 1), make([]float64, 1), make([]float64, 1)
		v.Acquisition.Eval(value, nil, u)
		surrogate.Averaged(v.Posterior).Predict(mean, variance, u)
		require.InDelta(t, p.Acquisition, value[0], 1e-9*(1+math.Abs(value[0])))
		require.InEpsilon(t, p.Mean, v.Units.Value(mean[0]), 1e-9)
		for _, z := range []float64{-0.5, 0, 2} {
			require.InDelta(t, z, v.Units.Target(v.Units.Value(z)), 1e-9)
		}
	}
}

// A view proposes what Propose proposes, for one objective, for several, with outcome constraints, failures and
// a scalarisation.
func TestViewProposesWithItsFit(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1), space.Int("k", 0, 9))
	require.NoError(t, err)
	both := []loop.Goal{{Name: "loss"}, {Name: "gain", Maximize: true}}
	for name, o := range map[string]loop.Options{
		"one":         {},
		"constrained": {Require: []loop.Requirement{{Name: "load", AtLeast: true, Bound: 1}}},
		"several":     {Objectives: both, Require: []loop.Requirement{{Name: "load", Bound: 12}}},
		"scalarised":  {Objectives: both, Acquisition: acquisition.LogEI{}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Initial, o.Maximizer = 4, acquisition.MaximizeOptions{Raw: 64, Starts: 3, Iterations: 20}
			study, err := loop.New(s, o)
			require.NoError(t, err)
			for i := range 11 {
				trials, err := study.Ask(t.Context(), 1)
				require.NoError(t, err)
				x, k := trials[0].Point.Float("x"), float64(trials[0].Point.Int("k"))
				numbers := map[string]float64{"loss": (x - 0.3) * (x - 0.3), "gain": x + k, "load": x * k}
				if i%5 == 3 {
					require.NoError(t, study.Fail(trials[0].ID, "crash"))
				} else {
					require.NoError(t, study.TellOutcome(trials[0].ID, loop.Outcome{Value: numbers["loss"] + k/9, Numbers: numbers}))
				}
			}
			h := loop.History{Trials: study.Trials()}
			views, err := loop.InspectAll(t.Context(), s, o, h)
			require.NoError(t, err)
			require.Len(t, views, max(1, len(o.Objectives))+len(o.Require))
			want, err := loop.Propose(t.Context(), s, o, h, 3)
			require.NoError(t, err)
			for _, v := range views {
				require.Equal(t, v.Requirement != nil, v.Objective == "load")
				got, err := v.Propose(t.Context(), 3)
				require.NoError(t, err)
				require.Len(t, got.Points, len(want.Points))
				for i, p := range got.Points {
					require.Equal(t, want.Points[i].Point.Map(), p.Point.Map())
				}
				require.Equal(t, want.Warm, got.Warm)
				if v.Requirement == nil {
					continue
				}
				mean, variance := make([]float64, len(v.Rows)), make([]float64, len(v.Rows))
				v.Posterior.Predict(mean, variance, v.Data.X)
				for i, row := range v.Rows {
					require.InDelta(t, v.Trials[row].Numbers["load"], v.Units.Value(mean[i]), 0.5)
					require.Equal(t, v.Trials[row].Numbers["load"], v.Trials[row].Value)
				}
			}
		})
	}
}

// Rows are the trials of the data, also of stopped trials and of failed ones with the worst value.
func TestRowsOfAViewMatchItsData(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	states := []loop.State{loop.Complete, loop.Stopped, loop.Failed, loop.Complete, loop.Pending, loop.Lost, loop.Complete}
	for rows, o := range map[int]loop.Options{4: {}, 5: {Acquisition: acquisition.LCB{}}} {
		var h loop.History
		for i, state := range states {
			p, err := s.PointOf(map[string]any{"x": float64(i) / 7})
			require.NoError(t, err)
			h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: state, Value: float64(i)})
		}
		v, err := loop.Inspect(t.Context(), s, o, h)
		require.NoError(t, err)
		require.Len(t, v.Rows, rows)
		require.Len(t, v.Data.Y, rows)
		for i, row := range v.Rows {
			require.Equal(t, s.Encode(v.Trials[row].Point), v.Data.X.RawRowView(i))
			if v.Trials[row].State == loop.Complete {
				require.InDelta(t, v.Trials[row].Value, v.Units.Value(v.Data.Y[i]), 1e-9)
			}
		}
	}
}
