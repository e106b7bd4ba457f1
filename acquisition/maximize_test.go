package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// pointwise is a Function defined by the value and gradient at one point.
type pointwise struct {
	d    int
	eval func(x, grad []float64) float64
	hook func(m int)
}

func (p pointwise) Dim() int { return p.d }
func (p pointwise) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(p, value, grad, x)
	if p.hook != nil {
		p.hook(len(value))
	}
	scratch := make([]float64, p.d)
	for i := range value {
		g := scratch
		if grad != nil {
			g = grad.RawRowView(i)
		}
		value[i] = p.eval(x.RawRowView(i), g)
	}
}

// peak is a narrow bump at c above a broad one at the centre of the cube.
func peak(c []float64) pointwise {
	return pointwise{d: len(c), eval: func(x, g []float64) float64 {
		clear(g)
		var f float64
		for _, b := range []struct {
			at            func(i int) float64
			height, width float64
		}{{func(i int) float64 { return c[i] }, 2, 0.15}, {func(int) float64 { return 0.5 }, 1, 0.6}} {
			var r2 float64
			for i, v := range x {
				r2 += (v - b.at(i)) * (v - b.at(i))
			}
			e := b.height * math.Exp(-r2/(2*b.width*b.width))
			f += e
			for i, v := range x {
				g[i] -= e * (v - b.at(i)) / (b.width * b.width)
			}
		}
		return f
	}}
}

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

func newSpace(t testing.TB, ps ...space.Parameter) *space.Space {
	s, err := space.New(ps...)
	require.NoError(t, err)
	return s
}

func cube(t testing.TB, d int) *space.Space {
	var ps []space.Parameter
	for i := range d {
		ps = append(ps, space.Float(string(rune('a'+i)), 0, 1))
	}
	return newSpace(t, ps...)
}

var _ Domain = (*space.Space)(nil)

func TestMaximizeFindsTheNarrowPeak(t *testing.T) {
	c := []float64{0.81, 0.13, 0.77}
	for seed := range uint64(10) {
		x, v, err := Maximize(t.Context(), peak(c), cube(t, 3), nil, MaximizeOptions{}, rng(seed))
		require.NoError(t, err)
		got := make([]float64, 1)
		peak(c).Eval(got, nil, mat.NewDense(1, 3, x))
		assert.Equal(t, got[0], v)
		assert.InDeltaSlice(t, c, x, 0.02)
		again, w, err := Maximize(t.Context(), peak(c), cube(t, 3), nil, MaximizeOptions{}, rng(seed))
		require.NoError(t, err)
		assert.Equal(t, x, again)
		assert.Equal(t, v, w)
	}
}

// needle has a hill at the point at, too narrow for raw points, on a smooth slope whose
// maximum lies elsewhere.
func needle(at []float64) pointwise {
	return pointwise{d: len(at), eval: func(x, g []float64) float64 {
		var r2 float64
		for i := range x {
			r2 += (x[i] - at[i]) * (x[i] - at[i])
		}
		e := math.Exp(-r2 / 2e-4)
		for i := range x {
			g[i] = -(2 + 5*e/1e-4) * (x[i] - at[i])
		}
		g[0] += 3
		return 5*e - r2 + 3*x[0]
	}}
}

// Maximize finds a peak too narrow for raw points from a given start near it.
func TestMaximizeUsesStarts(t *testing.T) {
	at := []float64{0.31, 0.62, 0.44, 0.9, 0.1, 0.77}
	f := needle(at)
	near := slices.Clone(at)
	near[2] += 0.01
	x, v, err := Maximize(t.Context(), f, cube(t, 6), mat.NewDense(1, 6, near), MaximizeOptions{}, rng(1))
	require.NoError(t, err)
	assert.InDeltaSlice(t, at, x, 0.01)
	assert.Greater(t, v, 5.0)
}

func TestMaximizeAtACorner(t *testing.T) {
	f := pointwise{d: 2, eval: func(x, g []float64) float64 {
		g[0], g[1] = 1, -2
		return x[0] - 2*x[1]
	}}
	x, v, err := Maximize(t.Context(), f, cube(t, 2), nil, MaximizeOptions{}, rng(1))
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 0}, x)
	assert.Equal(t, 1.0, v)
}

// In mixed spaces the result is a point of the space, and the best one by exhaustive
// search.
func TestMaximizeMixed(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 40), space.Categorical("c", "a", "b", "e", "g"), space.Ordinal("o", 1, 2, 4, 8), space.Float("y", 0, 1))
	for seed := range uint64(5) {
		r := rng(seed)
		c := make([]float64, s.Dim())
		for i := range c {
			c[i] = r.Float64()
		}
		f := peak(c)
		x, v, err := Maximize(t.Context(), f, s, nil, MaximizeOptions{}, r)
		require.NoError(t, err)
		projected := slices.Clone(x)
		s.Project(projected)
		require.Equal(t, projected, x)

		// Exhaustive search of the discrete part; the continuous optimum lies between the
		// centres of the two bumps, close to the higher one.
		best := math.Inf(-1)
		walk(s, x, math.MaxInt, func(u []float64) bool {
			for _, x0 := range []float64{x[0], c[0], 0.5} {
				for _, y0 := range []float64{x[len(x)-1], c[len(c)-1], 0.5} {
					u[0], u[len(u)-1] = x0, y0
					best = max(best, f.eval(u, make([]float64, len(u))))
				}
			}
			return true
		})
		assert.GreaterOrEqual(t, v, best-1e-6, "seed %d", seed)
	}
}

// Maximize evaluates every point of a small finite space once.
func TestMaximizeEnumerates(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 20), space.Categorical("c", "a", "b", "e"), space.Ordinal("o", 1, 2, 4, 8))
	asked := 0
	f := peak([]float64{0.9, 0, 1, 0, 0.34})
	f.hook = func(m int) { asked += m }
	x, v, err := Maximize(t.Context(), f, s, nil, MaximizeOptions{}, rng(1))
	require.NoError(t, err)
	assert.Equal(t, 20*3*4, asked)
	all := enumerate(s, make([]float64, s.Dim()))
	require.Equal(t, 240, rowCount(all))
	values := make([]float64, 240)
	f.Eval(values, nil, all)
	assert.Equal(t, slices.Max(values), v)
	assert.Equal(t, all.RawRowView(slices.Index(values, v)), x)
}

// counted counts the rows of neighbours of a space.
type counted struct {
	Domain
	rows *int
}

func (c counted) Neighbors(u []float64) *mat.Dense {
	x := c.Domain.Neighbors(u)
	*c.rows += rowCount(x)
	return x
}

// enumerate returns the points of an unbounded walk in the same order. The number of neighbours does not
// grow with the square of the number of categories.
func TestEnumerateStopsAtAllPoints(t *testing.T) {
	racetest.SkipNumerical(t)
	categories := func(name string, n int) space.Parameter {
		values := make([]any, n)
		for i := range values {
			values[i] = fmt.Sprint("v", i)
		}
		return space.Categorical(name, values...)
	}
	for _, c := range []struct {
		name       string
		dom        Domain
		size, most int // points, rows of neighbours
	}{
		{"one categorical", newSpace(t, categories("c", 1000)), 1000, 1000},
		{"two categoricals", newSpace(t, categories("c", 20), categories("d", 30)), 600, 30 * 48},
		{"three kinds", newSpace(t, categories("c", 30), space.Int("n", 1, 9), space.Bool("b")), 540, 540 * 36},
		{"ordinal", newSpace(t, space.Ordinal("o", 1, 2, 4, 8, 16), space.StepFloat("x", 0, 1, 0.1)), 55, 55 * 11},
		{"batches", power{newSpace(t, categories("c", 9)), 3}, 729, 729 * 24},
	} {
		u := make([]float64, c.dom.Dim())
		for j := range u {
			u[j] = float64(j%3) / 2
		}
		var rows int
		all := enumerate(counted{c.dom, &rows}, u)
		require.Equal(t, c.size, rowCount(all), c.name)
		require.Less(t, rows, c.most, c.name)
		i := 0
		walk(c.dom, u, math.MaxInt, func(x []float64) bool {
			require.True(t, slices.Equal(x, all.RawRowView(i)), "%s: row %d", c.name, i)
			i++
			return true
		})
		require.Equal(t, c.size, i, c.name)
	}
}

func TestMaximizeSkips(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 30))
	f := pointwise{d: 1, eval: func(x, g []float64) float64 { g[0] = 1; return x[0] }}
	c, err := newClimb(f, s, MaximizeOptions{})
	require.NoError(t, err)
	x, _, err := c.maximize(t.Context(), nil, rng(1), func(x []float64) bool { return s.Decode(x).Int("n") > 12 })
	require.NoError(t, err)
	assert.Equal(t, 12, s.Decode(x).Int("n"))
}

// A climb with the ends of an earlier climb starts at the best of them and keeps the others among its ends. It
// needs a tenth of the evaluations.
func TestMaximizeFromEnds(t *testing.T) {
	at := []float64{0.31, 0.62, 0.44, 0.9, 0.1, 0.77}
	near, far := slices.Clone(at), slices.Repeat([]float64{0.5}, 6)
	near[2] += 0.01
	f, asked := needle(at), 0
	f.hook = func(m int) { asked += m }
	climb := func(before *mat.Dense) (c *climb, x []float64, value float64, evaluations int) {
		c, err := newClimb(f, cube(t, 6), MaximizeOptions{})
		require.NoError(t, err)
		if asked = 0; before != nil {
			c.follow(before)
		}
		x, value, err = c.maximize(t.Context(), nil, rng(1), func([]float64) bool { return false })
		require.NoError(t, err)
		return c, x, value, asked
	}
	c, x, high, few := climb(mat.NewDense(2, 6, slices.Concat(far, near)))
	assert.InDeltaSlice(t, at, x, 0.01)
	assert.Contains(t, rowsOf(c.ends), far)
	_, _, low, all := climb(nil)
	assert.Greater(t, high, low)
	assert.Less(t, few, all/10)
}

func rowsOf(m *mat.Dense) (rows [][]float64) {
	for i := range rowCount(m) {
		rows = append(rows, m.RawRowView(i))
	}
	return rows
}

func TestApart(t *testing.T) {
	vs := []visited{{[]float64{0.5}, 1}, {[]float64{0.5005}, 2}, {[]float64{0.9}, math.NaN()}, {[]float64{0.1}, 0}, {[]float64{0.3}, 3}}
	got := apart(vs, 3)
	require.Len(t, got, 3)
	assert.Equal(t, []float64{3, 2, 0}, []float64{got[0].value, got[1].value, got[2].value})
	assert.Len(t, apart(vs, 1), 1)
}

func TestMaximizeFlat(t *testing.T) {
	for _, v := range []float64{0, math.Inf(-1), math.NaN(), math.Inf(1)} {
		for _, s := range []*space.Space{cube(t, 3), newSpace(t, space.Int("n", 1, 30))} {
			f := pointwise{d: s.Dim(), eval: func(_, g []float64) float64 { clear(g); return v }}
			x, _, err := Maximize(t.Context(), f, s, nil, MaximizeOptions{}, rng(1))
			require.ErrorIs(t, err, ErrFlat)
			require.Len(t, x, s.Dim())
		}
	}
}

// If most of the cube is infeasible, or one value is +Inf or NaN, the finite part is
// searched.
func TestMaximizeInfeasibleRegion(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		f := pointwise{d: 2, eval: func(x, g []float64) float64 {
			g[0], g[1] = 1, 1
			if x[0] > 0.2 || x[1] > 0.3 {
				return bad
			}
			return x[0] + x[1]
		}}
		x, v, err := Maximize(t.Context(), f, cube(t, 2), nil, MaximizeOptions{}, rng(1))
		require.NoError(t, err)
		assert.InDelta(t, 0.5, v, 1e-2)
		assert.LessOrEqual(t, x[0], 0.2)
	}
}

func TestMaximizeCancellation(t *testing.T) {
	f := peak([]float64{0.8, 0.1, 0.8, 0.3})
	for _, after := range []int{0, 2, 8} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		f.hook = func(int) {
			if calls++; calls == after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		x, v, err := Maximize(ctx, f, cube(t, 4), nil, MaximizeOptions{}, rng(1))
		require.ErrorIs(t, err, context.Canceled)
		assert.LessOrEqual(t, calls, after+2)
		if after == 0 {
			assert.Nil(t, x)
			assert.Equal(t, math.Inf(-1), v)
		} else {
			assert.Len(t, x, 4)
		}
	}
	// With a slow function, Maximize returns within a second of the deadline.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	f.hook = func(m int) { time.Sleep(time.Duration(m) * 100 * time.Microsecond) }
	began := time.Now()
	_, _, err := Maximize(ctx, f, cube(t, 4), nil, MaximizeOptions{}, rng(1))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), time.Second)
}

func TestMaximizeOptionsChecked(t *testing.T) {
	_, _, err := Maximize(t.Context(), peak([]float64{1}), cube(t, 1), nil, MaximizeOptions{Raw: -1}, rng(1))
	require.ErrorIs(t, err, surrogate.ErrSetting)
	x, _, err := Maximize(t.Context(), peak([]float64{0.4}), cube(t, 1), nil, MaximizeOptions{Raw: 1, Starts: 1, Iterations: 1}, rng(1))
	assert.ErrorIs(t, err, ErrFlat) // a single value counts as flat
	assert.Len(t, x, 1)
	assert.Panics(t, func() {
		_, _, _ = Maximize(t.Context(), peak([]float64{1}), cube(t, 2), nil, MaximizeOptions{}, rng(1))
	})
}

// power is the product of q equal domains.
func TestPower(t *testing.T) {
	s := newSpace(t, space.Int("n", 1, 5), space.Float("x", 0, 1))
	p := power{s, 3}
	assert.Equal(t, 6, p.Dim())
	assert.Equal(t, []bool{false, true, false, true, false, true}, p.Free())
	_, finite := p.Size()
	assert.False(t, finite)
	u := []float64{0.1, 0.2, 0.5, 0.6, 0.9, 1}
	near := p.Neighbors(u)
	one := rowCount(s.Neighbors(u[:2])) + rowCount(s.Neighbors(u[2:4])) + rowCount(s.Neighbors(u[4:]))
	assert.Equal(t, one, rowCount(near))
	p.Project(u)
	for i := range rowCount(near) {
		changed := 0
		for j, v := range near.RawRowView(i) {
			if v != u[j] {
				changed++
			}
		}
		assert.Equal(t, 1, changed)
	}
	n, finite := power{newSpace(t, space.Int("n", 1, 5)), 3}.Size()
	assert.True(t, finite)
	assert.Equal(t, 125, n)
	n, _ = power{newSpace(t, space.Int("n", 1, 1<<40)), 3}.Size()
	assert.Equal(t, math.MaxInt, n)
	assert.Nil(t, power{cube(t, 2), 2}.Neighbors([]float64{1, 1, 1, 1}))
}

// Maximize finds the best mixture: moves from one component to another lead to it.
func TestMaximizeOverMixtures(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	var parameters []space.Parameter
	for _, name := range names {
		parameters = append(parameters, space.StepFloat(name, 0, 1, 0.005))
	}
	s, err := space.New(parameters...)
	require.NoError(t, err)
	excess := func(p space.Point) float64 {
		sum := -1.0
		for _, name := range names {
			sum += p.Float(name)
		}
		return max(0, math.Abs(sum)-1e-9)
	}
	s, err = s.Constrain(space.Condition{Text: "mixture", On: names, Holds: func(p space.Point) bool { return excess(p) == 0 }, Excess: excess})
	require.NoError(t, err)
	for seed := range uint64(5) {
		best := s.Sample(1, rand.New(rand.NewPCG(seed, 1))).RawRowView(0)
		f := pointwise{d: 4, eval: func(x, g []float64) (value float64) {
			for i, v := range x {
				value -= float64(i+1) * (v - best[i]) * (v - best[i])
				g[i] = -2 * float64(i+1) * (v - best[i])
			}
			return value
		}}
		x, _, err := Maximize(t.Context(), f, s, nil, MaximizeOptions{Raw: 64}, rand.New(rand.NewPCG(seed, 2)))
		require.NoError(t, err)
		assert.Equal(t, s.Decode(best).Key(), s.Decode(x).Key())
	}
}
