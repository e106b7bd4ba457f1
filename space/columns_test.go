package space_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// Columns and coordinates describe where Encode writes a parameter: changing it changes its
// columns alone.
func TestColumnsOfParameters(t *testing.T) {
	s := mixed(t)
	values := map[string]any{"lr": 0.01, "x": 1, "layers": 3, "width": 7, "bits": 4, "opt": "sgd", "bias": false, "epochs": 10}
	other := map[string]any{"lr": 0.02, "x": 2, "layers": 4, "width": 70, "bits": 8, "opt": "lion", "bias": true}
	point := func(change string) []float64 {
		all := map[string]any{}
		for name, v := range values {
			all[name] = v
		}
		if v, ok := other[change]; ok {
			all[change] = v
		}
		p, err := s.PointOf(all)
		require.NoError(t, err)
		return s.Encode(p)
	}
	base, next := point(""), 0
	for _, c := range s.Coordinates() {
		first, end := s.Columns(c.Parameter.Name)
		require.Equal(t, []int{c.First, c.First + c.Columns}, []int{first, end})
		require.Equal(t, next, first)
		next = end
		for j, v := range point(c.Parameter.Name) {
			if j < first || j >= end {
				assert.Equal(t, base[j], v, "%s changes column %d", c.Parameter.Name, j)
			}
		}
		if first < end {
			assert.NotEqual(t, base[first:end], point(c.Parameter.Name)[first:end], c.Parameter.Name)
		}
	}
	require.Equal(t, s.Dim(), next)
	require.Panics(t, func() { s.Columns("none") })
}

func TestRestricted(t *testing.T) {
	free, err := space.New(space.Bool("a"), space.Float("x", 0, 1))
	require.NoError(t, err)
	require.False(t, free.Restricted())
	constrained, err := free.Constrain(space.Condition{Text: "x < 0.5", On: []string{"x"}, Holds: func(p space.Point) bool { return p.Float("x") < 0.5 }})
	require.NoError(t, err)
	require.True(t, constrained.Restricted())
	require.False(t, free.Restricted(), "Constrain returns another space")
	conditional, err := space.New(space.Bool("a"), space.Float("x", 0, 1).If(space.Equal("a", true)))
	require.NoError(t, err)
	require.True(t, conditional.Restricted())
}

// Every fault of a space can be found in the error, with its parameter and key.
func TestFaultsAreFound(t *testing.T) {
	_, err := space.New(space.Float("x", 0, 1), space.Float("y", 2, 1), space.Parameter{Name: "z", Kind: "real"})
	require.ErrorIs(t, err, space.ErrInvalid)
	faults, ok := errors.AsType[space.Faults](err)
	require.True(t, ok)
	require.Len(t, faults, 2)
	for i, fault := range faults {
		f, ok := errors.AsType[*space.Fault](fault)
		require.True(t, ok)
		require.Equal(t, i+1, f.Index)
		require.ErrorIs(t, err, f.Unwrap())
	}
	kind, _ := errors.AsType[*space.Fault](faults[1])
	require.Equal(t, "type", kind.Key)
}

// Index inverts the encoding of a value, and tells an inactive parameter from all values.
func TestIndex(t *testing.T) {
	for _, n := range []int{2, 3, 64, 65, 200} {
		values := make([]any, n)
		for i := range values {
			values[i] = float64(i)
		}
		s, err := space.New(space.Bool("a"), space.Categorical("c", values...), space.Categorical("d", values...).If(space.Equal("a", true)))
		require.NoError(t, err)
		first, end := s.Columns("c")
		lo, hi := s.Columns("d")
		for i := range n {
			p, err := s.PointOf(map[string]any{"a": true, "c": i, "d": n - 1 - i})
			require.NoError(t, err)
			u := s.Encode(p)
			require.Equal(t, []int{i, n - 1 - i}, []int{s.Index(1, u[first:end]), s.Index(2, u[lo:hi])})
		}
		p, err := s.PointOf(map[string]any{"a": false, "c": 1})
		require.NoError(t, err)
		require.Equal(t, n, s.Index(2, s.Encode(p)[lo:hi]))
	}
}
