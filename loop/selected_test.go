package loop

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/auto"
	"github.com/functionspace/bo/surrogate/gp"
)

// A surrogate model that selects another one acts as the selected one: while auto selects gp, every second
// suggestion is local. Predictions, fits and views have the selection, also of a saved study.
func TestSelectedModel(t *testing.T) {
	sp, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	require.NoError(t, err)
	var events []Event
	o := Options{Surrogate: auto.Model{}, NoiseFree: true, Seed: 2, OnEvent: func(e Event) { events = append(events, e) }}
	s, err := New(sp, o)
	require.NoError(t, err)
	locals := 0
	for range 10 {
		p, err := Propose(t.Context(), sp, s.Options(), s.history(), 1)
		require.NoError(t, err)
		if p.Points[0].Local {
			locals++
		}
		trials, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		x := sp.Encode(trials[0].Point)
		require.NoError(t, s.Tell(trials[0].ID, (x[0]-0.3)*(x[0]-0.3)+x[1]))
	}
	require.Equal(t, 2, locals, "trials 8 and 10 of 10, six of them initial")
	last := s.Trials()[9].Prediction.Selection
	require.Equal(t, "gp", last.Surrogate)
	var fits []*surrogate.Selection
	for _, e := range events {
		if e.Kind == FitFinished {
			fits = append(fits, e.Selection)
		}
	}
	require.Equal(t, last, fits[len(fits)-1])
	v, err := s.Inspect(t.Context())
	require.NoError(t, err)
	require.IsType(t, gp.Model{}, v.Options.Surrogate)
	require.Equal(t, "gp", v.Fit.Selection.Surrogate)

	var file bytes.Buffer
	require.NoError(t, s.Save(&file))
	o.OnEvent = nil
	again, err := Resume(&file, o)
	require.NoError(t, err)
	require.Equal(t, last.Reason, again.Trials()[9].Prediction.Selection.Reason)
}

// Each of several objectives selects a model of its own, and a fit has all selections.
func TestSelectedModelsOfObjectives(t *testing.T) {
	racetest.SkipNumerical(t)
	sp, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	o := Options{Surrogate: auto.Model{}, Objectives: []Goal{{Name: "yield", Maximize: true}, {Name: "cost"}}, Seed: 2, Maximizer: quick}
	s, err := New(sp, o)
	require.NoError(t, err)
	for range 17 {
		trials, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		x := sp.Encode(trials[0].Point)[0]
		require.NoError(t, s.TellOutcome(trials[0].ID, Outcome{Numbers: map[string]float64{"yield": x, "cost": x * x}}))
	}
	selection := s.Trials()[16].Prediction.Selection
	require.Regexp(t, `^(gp|fsp-laplace) for yield, (gp|fsp-laplace) for cost$`, selection.Surrogate)
	require.Regexp(t, `^yield: .* nats.*; cost: .* nats`, selection.Reason)
}
