package space_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

func mixed(t testing.TB) *space.Space {
	s, err := space.New(
		space.LogFloat("lr", 1e-5, 0.1),
		space.Float("x", -3, 7),
		space.Int("layers", 1, 8),
		space.LogInt("width", 1, 4096),
		space.Ordinal("bits", 2, 4, 8),
		space.Categorical("opt", "adam", "sgd", "lion"),
		space.Categorical("bias", false, true),
		space.Fixed("epochs", 10),
	)
	require.NoError(t, err)
	return s
}

func TestLayout(t *testing.T) {
	s := mixed(t)
	assert.Equal(t, 9, s.Dim())
	assert.True(t, s.Discrete())
	assert.Equal(t, []bool{true, true, false, false, false, false, false, false, false}, s.Free())
	n, finite := s.Size()
	assert.False(t, finite)
	assert.Zero(t, n)

	d, err := space.New(space.Int("a", -1, 3), space.Categorical("b", "x", "y", "z"), space.Fixed("c", true))
	require.NoError(t, err)
	n, finite = d.Size()
	assert.True(t, finite)
	assert.Equal(t, 15, n)

	huge, err := space.New(space.Int("a", 0, 1<<49), space.Int("b", 0, 1<<49))
	require.NoError(t, err)
	n, finite = huge.Size()
	assert.True(t, finite)
	assert.Equal(t, math.MaxInt, n)
}

func TestEncoding(t *testing.T) {
	s := mixed(t)
	p, err := s.PointOf(map[string]any{
		"lr": 1e-3, "x": 2, "layers": 1, "width": 4096, "bits": 8.0, "opt": "sgd", "bias": true, "epochs": 10,
	})
	require.NoError(t, err)
	last := math.Log(4096.5 / 0.5)
	want := []float64{0.5, 0.5, 1.0 / 16, (math.Log(4096/0.5) + math.Log1p(-1.0/8/4096/4096)) / last, 5.0 / 6, 0, 1, 0, 1}
	assert.InDeltaSlice(t, want, s.Encode(p), 1e-9)

	q := s.Decode(s.Encode(p))
	assert.InDelta(t, 1e-3, q.Float("lr"), 1e-17)
	assert.Equal(t, 1, q.Int("layers"))
	assert.Equal(t, 4096, q.Value("width"))
	assert.Equal(t, 8.0, q.Value("bits"))
	assert.Equal(t, 8, q.Int("bits"))
	assert.Equal(t, "sgd", q.Text("opt"))
	assert.True(t, q.Bool("bias"))
	assert.Equal(t, "10", q.Text("epochs"))
	text, err := json.Marshal(p)
	require.NoError(t, err)
	assert.Equal(t, `{"lr":0.001,"x":2,"layers":1,"width":4096,"bits":8,"opt":"sgd","bias":true,"epochs":10}`, string(text))
	assert.Equal(t, "lr=0.001 x=2 layers=1 width=4096 bits=8 opt=sgd bias=true epochs=10", p.String())
}

// Decode returns a valid point for any numbers, including NaN and infinities.
func TestDecodeIsTotal(t *testing.T) {
	s := mixed(t)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 2, math.Nextafter(1, 0), 5e-324, math.Copysign(0, -1)} {
		u := make([]float64, s.Dim())
		for i := range u {
			u[i] = v
		}
		p := s.Decode(u)
		_, err := s.PointOf(p.Map())
		require.NoError(t, err)
		s.Project(u)
		assert.Equal(t, p.Key(), s.Decode(u).Key())
		if !(v > 0) {
			assert.Equal(t, 1e-5, p.Float("lr"))
			assert.Equal(t, -3.0, p.Float("x"))
			assert.Equal(t, "adam", p.Text("opt"))
		}
		if v >= 1 {
			assert.Equal(t, 0.1, p.Float("lr"))
			assert.Equal(t, 7.0, p.Float("x"))
			assert.Equal(t, 8, p.Int("layers"))
		}
	}
}

// Every value of a discrete parameter survives the round trip. Uniform coordinates give all values of a linear
// int, ordinal or categorical the same probability.
func TestDiscreteValues(t *testing.T) {
	for _, c := range []struct {
		name string
		p    space.Parameter
		n    int
	}{
		{"int", space.Int("k", -5, 5), 11},
		{"ordinal", space.Ordinal("k", "low", "mid", "high", "top"), 4},
		{"categorical", space.Categorical("k", "a", "b", "c", "d", "e"), 5},
		{"two", space.Categorical("k", "a", "b"), 2},
	} {
		s, err := space.New(c.p)
		require.NoError(t, err)
		rng, counts := rand.New(rand.NewPCG(1, 2)), map[any]int{}
		const draws = 20000
		u := make([]float64, s.Dim())
		for range draws {
			for i := range u {
				u[i] = rng.Float64()
			}
			p := s.Decode(u)
			counts[p.Value("k")]++
			require.Equal(t, p, s.Decode(s.Encode(p)))
		}
		require.Len(t, counts, c.n, c.name)
		for v, k := range counts {
			share := 1 / float64(c.n)
			assert.InDelta(t, share, float64(k)/draws, 5*math.Sqrt(share/draws), "%s: %v", c.name, v)
		}
	}
}

func TestEveryIntSurvives(t *testing.T) {
	for _, p := range []space.Parameter{
		space.LogInt("k", 1, 5000), space.LogInt("k", 7, 9), space.Int("k", -2500, 2500),
	} {
		s, err := space.New(p)
		require.NoError(t, err)
		last := -1.0
		for k := p.Min; k <= p.Max; k++ {
			q, err := s.PointOf(map[string]any{"k": k})
			require.NoError(t, err)
			u := s.Encode(q)
			require.Greater(t, u[0], last)
			last = u[0]
			require.Equal(t, int(k), s.Decode(u).Int("k"))
		}
		require.Less(t, last, 1.0)
	}
}

func TestLargestInts(t *testing.T) {
	for _, p := range []space.Parameter{
		space.LogInt("k", 1, 1<<40), space.Int("k", 0, 1<<50-1), space.Int("k", 1<<53-1<<49, 1<<53), space.Int("k", -1<<53, -1<<53+7),
	} {
		s, err := space.New(p)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range 3000 {
			k := p.Min + math.Floor(rng.Float64()*(p.Max-p.Min))
			switch i {
			case 0:
				k = p.Min
			case 1:
				k = p.Max
			case 2:
				k = p.Max - 1
			}
			q, err := s.PointOf(map[string]any{"k": k})
			require.NoError(t, err)
			require.Equal(t, k, s.Decode(s.Encode(q)).Float("k"))
		}
	}
}

func TestFloatRange(t *testing.T) {
	for _, p := range []space.Parameter{
		space.Float("x", -1e300, 1e300), space.Float("x", 1e15, 1e15+1), space.Float("x", 0, 5e-324),
		space.LogFloat("x", 0x1p-1022, math.MaxFloat64), space.LogFloat("x", 1, math.Nextafter(1, 2)), space.LogFloat("x", 1e-5, 0.1),
		space.Float("x", -5, 10),
	} {
		s, err := space.New(p)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(5, 6))
		for range 3000 {
			x := s.Decode([]float64{rng.Float64()}).Float("x")
			require.True(t, x >= p.Min && x <= p.Max)
			q, err := s.PointOf(map[string]any{"x": x})
			require.NoError(t, err)
			back := s.Decode(s.Encode(q)).Float("x")
			tol := 4e-16 * (p.Max - p.Min)
			if p.Log {
				tol = 4e-16 * x * (2 + math.Abs(math.Log(p.Min)) + math.Abs(math.Log(p.Max)))
			} else {
				tol += 4e-16 * math.Abs(x)
			}
			require.InDelta(t, x, back, tol)
		}
		for u, end := range map[float64]float64{0: p.Min, 1: p.Max} {
			q := s.Decode([]float64{u})
			assert.Equal(t, end, q.Float("x"))
			assert.Equal(t, []float64{u}, s.Encode(q))
		}
	}
}

func TestNeighbors(t *testing.T) {
	s := mixed(t)
	rng := rand.New(rand.NewPCG(1, 1))
	u := make([]float64, s.Dim())
	for range 50 {
		for i := range u {
			u[i] = rng.Float64()
		}
		n := s.Neighbors(u)
		rows, cols := n.Dims()
		require.Equal(t, s.Dim(), cols)
		s.Project(u)
		at, seen := s.Decode(u).Map(), map[string]bool{}
		for i := range rows {
			row := append([]float64(nil), n.RawRowView(i)...)
			other := s.Decode(row)
			require.False(t, seen[other.Key()], "twice")
			seen[other.Key()] = true
			changed := 0
			for name, v := range other.Map() {
				if v != at[name] {
					changed++
				}
			}
			require.Equal(t, 1, changed)
			projected := append([]float64(nil), row...)
			s.Project(projected)
			require.Equal(t, projected, row, "not an encoded point")
		}
	}
	continuous, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	assert.Nil(t, continuous.Neighbors([]float64{0.3}))
	assert.False(t, continuous.Discrete())
}

// Repeated moves to neighbours reach every point.
func TestNeighborsConnect(t *testing.T) {
	s, err := space.New(space.Int("a", 0, 9), space.Categorical("b", "x", "y", "z"), space.Ordinal("c", 1, 2))
	require.NoError(t, err)
	size, _ := s.Size()
	assert.Equal(t, size, reached(s, make([]float64, s.Dim())))
}

// Moves to neighbours reach every mixture too: a move of one number is balanced by a move of another.
func TestNeighborsOfMixtures(t *testing.T) {
	number := func(name string) space.Parameter { return space.StepFloat(name, 0, 1, 0.05) }
	for text, params := range map[string][]space.Parameter{
		"a + b + c == 1":             {number("a"), space.StepFloat("b", 0.1, 0.7, 0.05), space.StepFloat("c", 0.1, 0.3, 0.05), space.Bool("d")},
		"100 - a - b - c == 0":       {space.Int("a", 0, 60), space.Int("b", 20, 60), space.StepInt("c", 10, 40, 2)},
		"2 * a + b == 1.5":           {number("a"), number("b")},
		"a + b <= 0.1 and a + b > 0": {number("a"), number("b")},
		"a + b >= 1.9":               {number("a"), number("b")},
	} {
		s, err := space.New(params...)
		require.NoError(t, err)
		constraint, err := expression.Compile(text, s.Parameters())
		require.NoError(t, err)
		s, err = s.Constrain(constraint)
		require.NoError(t, err)
		start := s.Encode(s.At(0))
		assert.Equal(t, s.Count(), reached(s, start), text)
	}
}

// reached returns the number of points that moves to neighbours reach from the projected start.
func reached(s *space.Space, start []float64) int {
	s.Project(start)
	queue, seen := [][]float64{start}, map[string]bool{s.Decode(start).Key(): true}
	for len(queue) > 0 {
		n := s.Neighbors(queue[0])
		if queue = queue[1:]; n == nil {
			continue
		}
		rows, _ := n.Dims()
		for i := range rows {
			if key := s.Decode(n.RawRowView(i)).Key(); !seen[key] {
				seen[key] = true
				queue = append(queue, n.RawRowView(i))
			}
		}
	}
	return len(seen)
}

func TestProjectIsIdempotentAndKeepsThePoint(t *testing.T) {
	s := mixed(t)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		u := make([]float64, s.Dim())
		for i := range u {
			u[i] = 3*rng.Float64() - 1
		}
		p := s.Decode(u)
		s.Project(u)
		require.Equal(t, p.Key(), s.Decode(u).Key())
		again := append([]float64(nil), u...)
		s.Project(again)
		require.Equal(t, u, again)
		require.InDeltaSlice(t, s.Encode(p), u, 1e-14)
	}
}

func TestPointFaults(t *testing.T) {
	s := mixed(t)
	_, err := s.PointOf(map[string]any{
		"lr": 1.0, "x": "two", "layers": 2.5, "width": nil, "bits": 3, "opt": "adamw", "bias": true, "epochs": 11, "layer": 3,
	})
	require.ErrorIs(t, err, space.ErrPoint)
	assert.Equal(t, `invalid point: parameter "lr": 1 is outside [1e-05, 0.1]; `+
		`parameter "x": "two" is not a finite number; `+
		`parameter "layers": 2.5 is not an integer; `+
		`parameter "width": missing; `+
		`parameter "bits": 3 is not one of 2, 4, 8; `+
		`parameter "opt": "adamw" is not one of "adam", "sgd", "lion"; `+
		`parameter "epochs": 11 is not one of 10; `+
		`unknown parameter "layer": did you mean layers?`, err.Error())
	_, err = s.PointOf(nil)
	assert.ErrorContains(t, err, `parameter "lr": missing`)
	_, err = s.PointOf(map[string]any{"lr": math.NaN()})
	assert.ErrorContains(t, err, `parameter "lr": NaN is not a finite number`)
}

func TestKeys(t *testing.T) {
	s, err := space.New(space.Float("x", -1, 1), space.Categorical("c", "1", "2"))
	require.NoError(t, err)
	point := func(x float64, c string) space.Point {
		p, err := s.PointOf(map[string]any{"x": x, "c": c})
		require.NoError(t, err)
		return p
	}
	assert.Equal(t, point(0, "1").Key(), point(math.Copysign(0, -1), "1").Key())
	assert.NotEqual(t, point(0, "1").Key(), point(5e-324, "1").Key())
	assert.NotEqual(t, point(0, "1").Key(), point(0, "2").Key())
}

func TestMisusePanics(t *testing.T) {
	s := mixed(t)
	other, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	p := s.Decode(make([]float64, 9))
	assert.PanicsWithValue(t, "space: point with 2 coordinates, want 9", func() { s.Decode(make([]float64, 2)) })
	assert.PanicsWithValue(t, `space: unknown parameter "layer": did you mean layers?`, func() { p.Int("layer") })
	assert.PanicsWithValue(t, `space: parameter "opt" is "adam", not a number`, func() { p.Float("opt") })
	assert.PanicsWithValue(t, `space: parameter "x" is 0.5, not an integer`, func() { other.Decode([]float64{0.5}).Int("x") })
	assert.PanicsWithValue(t, "space: point of another space", func() { other.Encode(p) })
	assert.PanicsWithValue(t, "space: zero Point", func() { space.Point{}.Value("x") })
	assert.NotPanics(t, func() { mixed(t).Encode(p) }, "an equal space is the same space")
}

// A space does not share the caller's slices.
func TestSpaceOwnsItsValues(t *testing.T) {
	values := []any{"a", "b"}
	s, err := space.New(space.Categorical("c", values...))
	require.NoError(t, err)
	values[0] = "z"
	s.Parameters()[0].Values[1] = "z"
	assert.Equal(t, []any{"a", "b"}, s.Parameters()[0].Values)
}

func BenchmarkDecode(b *testing.B) {
	s, u := mixed(b), []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9}
	b.ReportAllocs()
	for b.Loop() {
		s.Decode(u)
	}
}

func BenchmarkProject(b *testing.B) {
	s, from := mixed(b), []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9}
	u := make([]float64, len(from))
	b.ReportAllocs()
	for b.Loop() {
		copy(u, from)
		s.Project(u)
	}
}
