package main

import (
	"encoding/json"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// The next point of bo study show is the next point of bo ask: their fits begin at the same warm start.
func TestShownNextPointIsAskedNext(t *testing.T) {
	var d study.Definition
	require.NoError(t, json.Unmarshal([]byte(`{"version": 1, "name": "next", "objectives": [{"name": "value"}], "budget": 50, "parameters": [
		{"name": "x", "type": "float", "min": -5, "max": 10}, {"name": "y", "type": "float", "min": 0, "max": 15}]}`), &d))
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(t.Context(), &d)
	require.NoError(t, err)
	for i := range 16 {
		shown := ""
		if i >= 8 {
			v, err := u.View(t.Context())
			require.NoError(t, err)
			m, err := showModel(&env{t.Context(), nil, io.Discard, io.Discard}, u, v, false)
			require.NoError(t, err)
			shown = string(m.Next.Params)
		}
		asked, err := u.AskFor(t.Context(), 1, "test", 0)
		require.NoError(t, err)
		if i >= 8 {
			require.JSONEq(t, shown, string(asked[0].Params), "trial %d", i+1)
		}
		var p struct{ X, Y float64 }
		require.NoError(t, json.Unmarshal(asked[0].Params, &p))
		value := math.Pow(p.Y-0.13*p.X*p.X+1.6*p.X-6, 2) + 10*math.Cos(p.X)
		_, err = u.Tell(t.Context(), store.Report{Trial: asked[0].Number, Token: asked[0].Token, Numbers: map[string]float64{"value": value}})
		require.NoError(t, err)
	}
}

// Five suggestions in a row that break a constraint are a warning.
func TestBrokenConstraints(t *testing.T) {
	in := &inspection{options: loop.Options{Require: []loop.Requirement{{Name: "load", Bound: 1}, {Name: "heat", Bound: 1}}}}
	for i := range 6 {
		in.history.Trials = append(in.history.Trials, loop.Trial{ID: i + 1, State: loop.Complete, Source: loop.Suggested, Numbers: map[string]float64{"load": float64(i), "heat": float64(i % 2)}})
	}
	require.Empty(t, in.broken(), "trial 2 meets both")
	in.history.Trials[1].Numbers["load"] = 2
	require.Equal(t, "the last 5 suggestions break load <= 1: if equal points have equal results, set noise_free, which searches closer to feasible trials", in.broken())
	in.options.NoiseFree = true
	require.Equal(t, "the last 5 suggestions break load <= 1", in.broken())
	in.history.Trials[3].Source = loop.Enqueued
	require.Empty(t, in.broken())
	in.history.Trials = nil
	require.Empty(t, in.broken())
}

// A suggested point without reasons has an empty list of them in JSON.
func TestShownNextWithoutReasons(t *testing.T) {
	v := &store.View{Trials: []store.Trial{{Number: 1, State: store.Pending, Source: loop.Suggested}}, Points: make([]space.Point, 1)}
	m := &shownModel{}
	m.leaveOut(waiting(v), "fits take longer than a second")
	text, err := json.Marshal(m.Next)
	require.NoError(t, err)
	require.JSONEq(t, `{"trial": 1, "source": "suggested", "reasons": []}`, string(text))
}
