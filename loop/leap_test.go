package loop

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// valued returns a task on s whose complete trials have the given values.
func valued(t *testing.T, s *space.Space, o Options, values ...float64) *task {
	t.Helper()
	var h History
	for i, v := range values {
		u := make([]float64, s.Dim())
		u[0] = float64(i%97) / 97
		h.Trials = append(h.Trials, Trial{ID: i + 1, Point: s.Decode(u), State: Complete, Value: v})
	}
	task, err := newTask(s, o, h)
	require.NoError(t, err)
	return task
}

func TestStalled(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Categorical("c", "a", "b", "c")) // four columns
	patience := stallTrials + s.Dim()
	start := []float64{9, 3, 5, 1, 7, 2, 8, 4, 6} // least 1, median 5
	require.Len(t, start, patience)
	for name, c := range map[string]struct {
		after []float64
		want  bool
	}{
		"too few":          {slices.Repeat([]float64{2}, patience-6-1), false},
		"no gain":          {slices.Repeat([]float64{2}, patience-5), true},
		"equal values":     {slices.Repeat([]float64{1}, patience-5), true},
		"a gain":           {append(slices.Repeat([]float64{2}, patience-5), 0.99), false},
		"a negligible one": {append(slices.Repeat([]float64{2}, patience-5), 1-1e-8), true},
		"many that add up": {[]float64{1 - 2e-8, 1 - 4e-8, 1 - 6e-8, 1 - 8e-8, 1 - 1e-7, 1 - 1.2e-7}, false},
		"long after":       {append([]float64{0.5}, slices.Repeat([]float64{0.7}, patience)...), true},
	} {
		for _, maximize := range []bool{false, true} {
			o := options(1)
			o.Maximize = maximize
			values := append(slices.Clone(start), c.after...)
			for i := range values {
				values[i] *= o.sign()
			}
			require.Equal(t, c.want, valued(t, s, o, values...).stalled(), "%s, maximize %v", name, maximize)
		}
	}
	require.False(t, valued(t, s, options(1)).stalled())
	require.True(t, valued(t, s, options(1), make([]float64, patience+1)...).stalled(), "all values are equal")
}

// After a search has converged in one category, every second suggestion is elsewhere.
func TestSearchLeavesACategoryWithoutGain(t *testing.T) {
	s := newSpace(t, space.Float("x", 0, 1), space.Categorical("c", "a", "b", "c"))
	for _, exact := range []bool{true, false} {
		o := options(1)
		o.NoiseFree = exact
		var h History
		add := func(c string, x, v float64) {
			p, err := s.PointOf(map[string]any{"x": x, "c": c})
			require.NoError(t, err)
			h.Trials = append(h.Trials, Trial{ID: len(h.Trials) + 1, Point: p, State: Complete, Value: v})
		}
		for _, c := range []string{"b", "c"} {
			for i := range 3 {
				add(c, 0.2+0.3*float64(i), 5+float64(i)/5)
			}
		}
		for i := range 18 {
			x := 0.5 + 0.4*math.Pow(-0.6, float64(i))
			add("a", x, 10*(x-0.5)*(x-0.5))
		}
		for i := range 8 {
			add("a", 0.5+1e-5*float64(i), 1e-9*float64(i*i))
		}
		next := func() space.Point {
			p, err := Propose(t.Context(), s, o, h, 1)
			require.NoError(t, err)
			return p.Points[0].Point
		}
		require.Equal(t, 1, (len(h.Trials)+1)%2, "the next ID is odd")
		x := next()
		require.True(t, x.Value("c") != "a" || math.Abs(x.Float("x")-0.5) > 0.05, "%v, exact %v", x, exact)
		add("a", 0.5, 0)
		require.Equal(t, "a", next().Value("c"), "the local model keeps the category; exact %v", exact)
	}
}

// The rule applies where no statement describes the whole space, and with categories alone.
func TestLeaps(t *testing.T) {
	with := newSpace(t, space.Float("x", 0, 1), space.Bool("b"))
	for name, c := range map[string]struct {
		space  *space.Space
		change func(o *Options)
		want   bool
	}{
		"default":     {with, func(*Options) {}, true},
		"finite":      {newSpace(t, space.Categorical("b", "x", "y", "z")), func(*Options) {}, true},
		"many values": {newSpace(t, values("a", 17), space.Float("x", 0, 1)), func(*Options) {}, true},
		"no category": {newSpace(t, space.Float("x", 0, 1), space.Int("n", 1, 3), space.Ordinal("o", 1.0, 2.0)), func(*Options) {}, false},
		"none":        {with, func(o *Options) { o.Local = LocalNone }, false},
		"belief":      {with, func(o *Options) { o.Optimum = map[string]Belief{"x": {Around: 0.5, Within: 0.1}} }, false},
		"require":     {with, func(o *Options) { o.Require = []Requirement{{Name: "size", Bound: 1}} }, false},
	} {
		o := options(1)
		c.change(&o)
		task, err := newTask(c.space, o, History{})
		require.NoError(t, err)
		require.Equal(t, c.want, task.leaps(1), name)
	}
}
