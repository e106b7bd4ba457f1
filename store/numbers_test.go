package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// An added parameter has the recorded number of its name in finished trials, if it may have the value.
func TestEditTakesNumbers(t *testing.T) {
	ctx := t.Context()
	s := store.New(store.NewMemory(), store.Options{})
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.NoError(t, err)
	numbers := func(press float64) map[string]float64 { return map[string]float64{"value": 1, "press": press, "n": 2} }
	_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.25}, Numbers: numbers(5)},
		store.Evaluated{Params: map[string]any{"x": 0.75}, Numbers: numbers(50)}, store.Evaluated{Params: map[string]any{"x": 0.5}, Numbers: map[string]float64{"value": 1}})
	require.NoError(t, err)
	before, err := u.View(ctx)
	require.NoError(t, err)

	n := space.Int("n", 1, 3).If(space.Equal("x", 0.75))
	edit := func(press space.Parameter) []string {
		require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
			d.Parameters = []space.Parameter{space.Float("x", 0, 1), press, n}
			d.Defaults = map[string]any{"press": 1, "n": 1}
			return &d, nil
		}))
		v, err := u.View(ctx)
		require.NoError(t, err)
		require.Zero(t, v.Unfit)
		var params []string
		for i := range v.Trials {
			params = append(params, string(v.Trials[i].Params))
			require.Equal(t, before.Trials[i].Numbers, v.Trials[i].Numbers)
		}
		return params
	}
	require.Equal(t, []string{`{"x":0.25,"press":5}`, `{"x":0.75,"n":2}`, `{"x":0.5}`}, edit(space.Float("press", 0, 10)))
	require.Equal(t, []string{`{"x":0.25,"press":5}`, `{"x":0.75,"n":2,"press":50}`, `{"x":0.5}`}, edit(space.Float("press", 0, 100)))
}
