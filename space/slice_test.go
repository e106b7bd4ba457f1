package space_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// all has a parameter of each kind.
func all(t testing.TB, constraints ...string) *space.Space {
	params := []space.Parameter{
		space.Float("x", -5, 5), space.LogFloat("rate", 1e-5, 1), space.StepFloat("dose", 0, 1, 0.1),
		space.Int("n", 1, 8), space.LogInt("width", 8, 512), space.StepInt("even", 2, 10, 2),
		space.Bool("flag"), space.Ordinal("size", 1, 2, 4), space.Categorical("two", "a", "b"), space.Categorical("three", "a", "b", "c"),
		space.Categorical("code", codes()...), space.Fixed("gamma", 2.0),
		space.Float("momentum", 0, 0.99).If(space.Equal("three", "c")),
		space.Int("warm", 1, 4),
	}
	params[len(params)-1].When = compiled(t, params, []string{"momentum > 0.5"})[0]
	s, err := space.Spec{Parameters: params, Constraints: compiled(t, params, constraints)}.Space()
	require.NoError(t, err)
	return s
}

func compiled(t testing.TB, params []space.Parameter, texts []string) (out []space.Condition) {
	for _, text := range texts {
		c, err := expression.Compile(text, params)
		require.NoError(t, err)
		out = append(out, c)
	}
	return out
}

// codes are more values than a categorical with a column per value has.
func codes() (values []any) {
	for i := range 100 {
		values = append(values, i)
	}
	return values
}

// Every point of a slice has the given values, and its encoding is the encoding in the space.
func TestSlice(t *testing.T) {
	for _, given := range []map[string]any{
		{"x": 1.25}, {"x": -5}, {"rate": 0.013}, {"dose": 0.3}, {"n": 3}, {"width": 100}, {"even": 4}, {"flag": true}, {"flag": false},
		{"size": 4}, {"two": "b"}, {"three": "b"}, {"code": 63}, {"gamma": 2}, {"momentum": 0.9}, {"momentum": 0.2}, {"warm": 2},
		{"x": 1, "n": 2, "three": "c"}, {"momentum": 0.6, "warm": 3, "two": "a"}, {"three": "a", "flag": true},
	} {
		for _, constraints := range [][]string{nil, {"x + n <= 6"}, {"x + n <= 6", "width * even <= 1000"}} {
			s := all(t, constraints...)
			slice, err := s.Slice(given)
			require.NoError(t, err, "%v", given)
			rng := rand.New(rand.NewPCG(1, 2))
			require.Same(t, s, slice.Whole())
			require.Len(t, slice.Given(), len(given))
			for name, v := range given {
				require.Equal(t, fmt.Sprint(v), fmt.Sprint(slice.Given()[name]))
			}
			lo, hi := slice.Bounds()
			check := func(u []float64) {
				p := slice.Decode(u)
				require.Same(t, s, p.Space())
				require.True(t, slice.Contains(p), "%v: %v", given, p)
				for name, v := range given {
					want, err := s.Complete(map[string]any{name: v}, u, rng)
					require.NoError(t, err)
					require.Equal(t, want.Value(name), p.Value(name), "%v: %v", given, p)
				}
				require.Equal(t, s.Encode(p), slice.Encode(p))
				projected := append([]float64(nil), u...)
				slice.Project(projected)
				require.InDeltaSlice(t, s.Encode(p), projected, 1e-12, "%v", p)
				for j, v := range projected {
					require.True(t, lo[j] <= v && v <= hi[j])
				}
				require.True(t, s.Feasible(projected))
			}
			x := slice.Sample(8, rng)
			for i := range 8 {
				check(x.RawRowView(i))
				near := slice.Neighbors(x.RawRowView(i))
				for k := range near.RawMatrix().Rows {
					check(near.RawRowView(k))
				}
			}
		}
	}
}

func TestSliceOfContinuousParameters(t *testing.T) {
	s, err := space.New(space.Float("x", 0, 1), space.Float("c", 0, 10), space.Int("n", 1, 3))
	require.NoError(t, err)
	slice, err := s.Slice(map[string]any{"c": 5, "n": 2})
	require.NoError(t, err)
	assert.False(t, slice.Discrete())
	assert.Equal(t, []bool{true, false, false}, slice.Free())
	lo, hi := slice.Bounds()
	assert.Equal(t, []float64{0, 0.5, 0.5}, lo)
	assert.Equal(t, []float64{1, 0.5, 0.5}, hi)
	assert.Nil(t, slice.Neighbors([]float64{0.1, 0.2, 0.3}))
	point := func(x, c float64, n int) space.Point {
		p, err := s.PointOf(map[string]any{"x": x, "c": c, "n": n})
		require.NoError(t, err)
		return p
	}
	assert.True(t, slice.Alike(point(0.3, 1, 1), point(0.3, 9, 3), nil))
	assert.False(t, slice.Alike(point(0.3, 1, 1), point(0.4, 1, 1), nil))
	assert.False(t, s.Alike(point(0.3, 1, 1), point(0.3, 9, 1), nil))
	assert.True(t, s.Alike(point(0.3, 1, 1), point(0.3, 9, 1), []string{"c"}))
	lo, hi = s.Bounds()
	assert.Equal(t, []float64{0, 0, 0}, lo)
	assert.Equal(t, []float64{1, 1, 1}, hi)
}

// A slice counts and lists its own points.
func TestSliceCount(t *testing.T) {
	params := []space.Parameter{space.Int("a", 1, 4), space.Int("b", 1, 4), space.Float("c", 0, 1)}
	for _, tc := range []struct {
		constraints []string
		given       map[string]any
		want        int
	}{
		{nil, map[string]any{"c": 0.5}, 16},
		{nil, map[string]any{"a": 2, "c": 0.5}, 4},
		{[]string{"a + b <= 4"}, map[string]any{"c": 0.5}, 6},
		{[]string{"a + b <= 4"}, map[string]any{"c": 0.5, "a": 2}, 2},
		{nil, map[string]any{"a": 1, "b": 1, "c": 0}, 1},
	} {
		s, err := space.Spec{Parameters: params, Constraints: compiled(t, params, tc.constraints)}.Space()
		require.NoError(t, err)
		slice, err := s.Slice(tc.given)
		require.NoError(t, err)
		n, finite := slice.Size()
		assert.True(t, finite)
		assert.Equal(t, tc.want, n, "%v", tc)
		seen := map[string]bool{}
		for i := range n {
			p := slice.At(i)
			assert.True(t, slice.Contains(p))
			seen[p.Key()] = true
		}
		assert.Len(t, seen, tc.want)
		assert.Equal(t, tc.want, slice.List(100).RawMatrix().Rows)
	}
}

func TestSliceErrors(t *testing.T) {
	s := all(t, "x + n <= 6")
	for _, tc := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"x": 7}, `invalid point: parameter "x": 7 is outside [-5, 5]`},
		{map[string]any{"n": 1.5}, `invalid point: parameter "n": 1.5 is not an integer`},
		{map[string]any{"three": "d"}, `invalid point: parameter "three": "d" is not one of "a", "b", "c"`},
		{map[string]any{"witdh": 9}, `invalid point: unknown parameter "witdh": did you mean width?`},
		{map[string]any{"x": 4, "n": 3}, `invalid point: constraint "x + n <= 6" does not hold at x=4 n=3`},
		{map[string]any{"momentum": 0.4, "three": "b"}, `invalid point: parameter "momentum": it is inactive, because "three == 'c'" does not hold`},
		{map[string]any{"momentum": 0.4, "warm": 3}, `invalid point: parameter "warm": it is inactive, because "momentum > 0.5" does not hold`},
	} {
		_, err := s.Slice(tc.given)
		require.ErrorIs(t, err, space.ErrPoint)
		assert.EqualError(t, err, tc.want)
	}
	few, err := space.New(space.Int("a", 1, 4), space.Int("b", 2, 4))
	require.NoError(t, err)
	few, err = few.Constrain(compiled(t, few.Parameters(), []string{"a + b <= 5"})...)
	require.NoError(t, err)
	_, err = few.Slice(map[string]any{"a": 4})
	require.EqualError(t, err, `invalid point: no point with a=4 is found: constraints: no point of the space satisfies "a + b <= 5"`)
	slice, err := s.Slice(map[string]any{"x": 1})
	require.NoError(t, err)
	_, err = slice.Slice(map[string]any{"n": 1})
	require.ErrorIs(t, err, space.ErrPoint)
	_, err = slice.PointOf(map[string]any{"x": 2})
	require.ErrorContains(t, err, `parameter "x": 2 is not the given 1`)
}

func TestCheckGiven(t *testing.T) {
	humidity, batch := space.Float("humidity", 0, 100), space.Categorical("batch", "A", "B")
	humidity.Given, batch.Given = true, true
	s, err := space.New(humidity, batch, space.Float("x", 0, 1))
	require.NoError(t, err)
	const (
		noHumidity = `parameter "humidity": its value is given, never suggested: state it (bo ask: --given humidity=VALUE, bo enqueue: humidity=VALUE)`
		noBatch    = `parameter "batch": its value is given, never suggested: state it (bo ask: --given batch=VALUE, bo enqueue: batch=VALUE)`
	)
	for _, tc := range []struct {
		values map[string]any
		want   string
	}{
		{nil, noHumidity + "; " + noBatch},
		{map[string]any{"x": 0.5, "humidity": 61}, noBatch},
		{map[string]any{"batch": "A", "humidity": 61}, ""},
	} {
		err := s.CheckGiven(tc.values)
		if tc.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, space.ErrPoint)
		assert.EqualError(t, err, "invalid point: "+tc.want)
	}
}
