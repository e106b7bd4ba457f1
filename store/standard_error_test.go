package store_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A negative standard error is no result, in every way to record one. After an edit that names a number, older trials
// with a negative one are left out of fits.
func TestNegativeStandardErrors(t *testing.T) {
	ctx := t.Context()
	s := store.New(store.NewMemory(), store.Options{})
	parse := func(objective string) *study.Definition {
		d, err := study.Parse([]byte(`{"version": 1, "name": "bread", "initial": 2, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [` + objective + `]}`))
		require.NoError(t, err)
		return d
	}
	u, err := s.Create(ctx, parse(`{"name": "rise", "standard_error": "se"}`))
	require.NoError(t, err)
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	numbers := func(se float64) map[string]float64 { return map[string]float64{"rise": 1, "se": se} }
	const text = "the standard error se is -1, want a number of at least 0"
	_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Numbers: numbers(-1)})
	require.ErrorIs(t, err, loop.ErrNotFinite)
	require.ErrorContains(t, err, text)
	_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Numbers: numbers(0.5)})
	require.NoError(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Numbers: numbers(-1), Correct: true})
	require.ErrorContains(t, err, text)
	_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.5}, Numbers: numbers(-1)})
	require.ErrorContains(t, err, text)
	_, err = u.Tell(ctx, store.Report{Trial: trials[1].Number, Numbers: map[string]float64{"rise": 2, "se": math.NaN()}})
	require.NoError(t, err, "the number is left out")
	view, err := u.View(ctx)
	require.NoError(t, err)
	require.NotContains(t, view.Trials[1].Numbers, "se")

	edit := func(objective string) {
		require.NoError(t, u.Edit(ctx, func(study.Definition) (*study.Definition, error) { return parse(objective), nil }))
	}
	edit(`{"name": "rise"}`)
	_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.3}, Numbers: numbers(-1)})
	require.NoError(t, err)
	edit(`{"name": "rise", "standard_error": "se"}`)
	view, err = u.View(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, view.Unfit)
	require.ErrorContains(t, view.Fault(2), text)
	require.NoError(t, view.Fault(0))
	_, err = u.Ask(ctx, 1)
	require.NoError(t, err)
}
