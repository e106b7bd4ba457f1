package loop

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
)

func TestFirstPoints(t *testing.T) {
	s := beliefSpace(t)
	o := Options{Initial: 6, First: []map[string]any{
		{"lr": 0.01}, {"lr": 0.1, "layers": 2, "opt": "sgd", "nesterov": true}, {"lr": 0.01, "nesterov": false},
	}}
	study, err := New(s, o)
	require.NoError(t, err)
	require.NoError(t, study.Enqueue(mustPoint(t, s, map[string]any{"lr": 0.5, "layers": 1, "opt": "adam", "nesterov": false})))
	_, err = study.Add(mustPoint(t, s, o.First[1]), 3) // has a trial: left out
	require.NoError(t, err)
	one, err := study.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 0.01, one[0].Point.Float("lr"))
	var file bytes.Buffer
	require.NoError(t, study.Save(&file))
	_, err = Resume(bytes.NewReader(file.Bytes()), Options{Initial: 6})
	require.ErrorIs(t, err, ErrMismatch)
	study, err = Resume(bytes.NewReader(file.Bytes()), o)
	require.NoError(t, err)
	more, err := study.Ask(t.Context(), 5) // the interrupted trial comes first
	require.NoError(t, err)
	var sources []Source
	for _, q := range more {
		sources = append(sources, q.Source)
	}
	require.Equal(t, []Source{First, First, Enqueued, Design, Design}, sources)
	require.False(t, more[1].Point.Bool("nesterov"))

	for want, values := range map[string]map[string]any{
		`first point 1: invalid point: unknown parameter "layer": did you mean layers?`: {"layer": 1},
		`first point 1: invalid point: parameter "layers": 0 is outside`:                {"layers": 0},
		`first point 1: invalid point: parameter "opt": "rmsprop" is not one of`:        {"opt": "rmsprop"},
	} {
		_, err := New(s, Options{First: []map[string]any{values}})
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, want)
	}
}

// The design that completes the points is made once.
func TestFirstPointsShareADesign(t *testing.T) {
	made := 0
	const counted InitialDesign = "counted"
	designs[counted] = func(n, dim int, rng *rand.Rand) *mat.Dense {
		made++
		return space.LatinHypercube(n, dim, rng)
	}
	defer delete(designs, counted)
	o := Options{Design: counted, First: []map[string]any{{"x": 1.0}, {"y": 2.0}, {"x": 100.0}}}
	var failed []bool
	for p, err := range o.FirstPoints(box(t)) {
		if failed = append(failed, err != nil); len(failed) == 1 {
			require.Equal(t, 1.0, p.Float("x"))
		}
	}
	require.Equal(t, []bool{false, false, true}, failed)
	require.Equal(t, 1, made)
}

func mustPoint(t *testing.T, s *space.Space, values map[string]any) space.Point {
	p, err := s.PointOf(values)
	require.NoError(t, err)
	return p
}
