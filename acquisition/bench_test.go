package acquisition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// bowl is smooth, with its minimum inside the unit cube.
func bowl(x []float64) float64 {
	var f float64
	for i, v := range x {
		u := v - 0.3 - 0.05*float64(i)
		f += u*u + 0.1*math.Cos(7*v)
	}
	return f
}

// fitted returns the posterior of a model fitted to n values of f with d inputs.
func fitted(t testing.TB, model surrogate.Model, f func([]float64) float64, n, d int) acquisition.Problem {
	x, y := space.Sobol(n, d, rng(1)), make([]float64, n)
	for i := range y {
		y[i] = f(x.RawRowView(i))
	}
	z := surrogate.Standardize(y).Apply(nil, y)
	p, err := model.Fit(t.Context(), surrogate.Dataset{X: x, Y: z, NoiseFree: true}, rng(2))
	require.NoError(t, err)
	return acquisition.Problem{Posterior: p, Best: slices.Min(z), Observed: x}
}

func unitBox(t testing.TB, d int) *space.Space {
	var ps []space.Parameter
	for i := range d {
		ps = append(ps, space.Float(fmt.Sprint("x", i), 0, 1))
	}
	s, err := space.New(ps...)
	require.NoError(t, err)
	return s
}

func BenchmarkEval(b *testing.B) {
	p := fitted(b, gp.Model{}, bowl, 100, 6)
	for _, c := range []struct {
		name string
		a    acquisition.Acquisition
		q, m int
	}{
		{"LogEI", acquisition.LogEI{}, 1, 1024},
		{"MES", acquisition.MES{}, 1, 1024},
		{"QLogEI1", acquisition.QLogEI{}, 1, 64},
		{"QLogEI4", acquisition.QLogEI{}, 4, 64},
		{"LogNEI", acquisition.LogNEI{}, 1, 64},
	} {
		f, err := c.a.Build(b.Context(), p, c.q, rng(3))
		require.NoError(b, err)
		x := space.Sobol(c.m, f.Dim(), rng(4))
		value, grad := make([]float64, c.m), mat.NewDense(c.m, f.Dim(), nil)
		for _, g := range []*mat.Dense{nil, grad} {
			b.Run(fmt.Sprintf("%s/points=%d/gradient=%v", c.name, c.m, g != nil), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f.Eval(value, g, x)
				}
			})
		}
	}
}

func BenchmarkMaximize(b *testing.B) {
	p := fitted(b, gp.Model{}, bowl, 100, 6)
	s := unitBox(b, 6)
	for _, a := range []acquisition.Acquisition{acquisition.LogEI{}, acquisition.QLogEI{}} {
		f, err := a.Build(b.Context(), p, 1, rng(3))
		require.NoError(b, err)
		b.Run(fmt.Sprintf("%T", a), func(b *testing.B) {
			for b.Loop() {
				_, _, err := acquisition.Maximize(b.Context(), f, s, nil, acquisition.MaximizeOptions{}, rng(5))
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkSuggest(b *testing.B) {
	p := fitted(b, gp.Model{}, bowl, 100, 6)
	s := unitBox(b, 6)
	for _, c := range []struct {
		a acquisition.Acquisition
		q int
	}{
		{acquisition.LogEI{}, 1}, {acquisition.LogEI{}, 4}, {acquisition.MES{}, 1}, {acquisition.Thompson{}, 1},
		{acquisition.QLogEI{}, 4}, {acquisition.QLogEI{Joint: true}, 4}, {acquisition.LogNEI{}, 1},
	} {
		b.Run(fmt.Sprintf("%T/q=%d", c.a, c.q), func(b *testing.B) {
			for b.Loop() {
				_, err := acquisition.Suggest(b.Context(), c.a, p, s, c.q, acquisition.MaximizeOptions{}, rng(5))
				require.NoError(b, err)
			}
		})
	}
}

// Spaces of few parameters with many categories.
func BenchmarkSuggestCategories(b *testing.B) {
	for _, sizes := range [][]int{{1000}, {3000}, {50, 60}, {5000}} {
		var ps []space.Parameter
		for i, n := range sizes {
			values := make([]any, n)
			for k := range values {
				values[k] = k
			}
			ps = append(ps, space.Categorical(fmt.Sprint("c", i), values...))
		}
		s, err := space.New(ps...)
		require.NoError(b, err)
		p := fitted(b, gp.Model{}, bowl, 30, s.Dim())
		for i := range 30 {
			s.Project(p.Observed.RawRowView(i))
		}
		b.Run(fmt.Sprint(sizes), func(b *testing.B) {
			for b.Loop() {
				_, err := acquisition.Suggest(b.Context(), acquisition.LogEI{}, p, s, 1, acquisition.MaximizeOptions{}, rng(5))
				require.NoError(b, err)
			}
		})
	}
}
