package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// byColumn hides the inputs of the space from a model: its kernel has one lengthscale per column.
type byColumn struct{ model surrogate.WarmStarter }

func (m byColumn) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.model.Fit(ctx, d, rng)
}

func (m byColumn) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.model.FitFrom(ctx, start, d, rng)
}

// table is a problem of n categoricals of k values and floats in [0,1].
type table struct {
	categoricals, values, floats int
	draw                         func(t table, rng *rand.Rand) (f func(v []int, x []float64) float64, minimum float64)
}

var tables = []struct {
	name string
	table
}{
	{"clusters 3x200+1", table{3, 200, 1, clusters}},
	{"additive 3x200", table{3, 200, 0, additive}},
	{"pairs 3x64", table{3, 64, 0, pairs}},
	{"centres 1x64+2", table{1, 64, 2, centres}},
	{"pairs 3x20", table{3, 20, 0, pairs}},
	{"centres 2x20+2", table{2, 20, 2, centres}},
}

// categories are problems with categoricals, with one lengthscale per categorical and per column.
// Every seed has other tables of effects.
func categories() []variant {
	var all []variant
	for _, t := range tables {
		for _, m := range []struct {
			name  string
			model surrogate.Model
		}{{"per categorical", gp.Model{}}, {"per column", byColumn{gp.Model{}}}} {
			all = append(all, variant{problem: t.name, name: m.name, space: t.space(), options: loop.Options{Surrogate: m.model, NoiseFree: true, Budget: 45}, draw: t.objective})
		}
	}
	return all
}

func (t table) space() *space.Space {
	values := make([]any, t.values)
	for i := range values {
		values[i] = fmt.Sprint("v", i)
	}
	var params []space.Parameter
	for i := range t.categoricals {
		params = append(params, space.Categorical(fmt.Sprint("c", i), values...))
	}
	for i := range t.floats {
		params = append(params, space.Float(fmt.Sprint("x", i), 0, 1))
	}
	s, err := space.New(params...)
	if err != nil {
		panic(err)
	}
	return s
}

// objective returns the problem of a seed and its minimum.
func (t table) objective(seed uint64) (loop.Objective, float64) {
	f, minimum := t.draw(t, rand.New(rand.NewPCG(seed, 21)))
	return func(_ context.Context, p space.Point) (float64, error) {
		v, x := make([]int, t.categoricals), make([]float64, t.floats)
		for i := range v {
			v[i] = int(p.Code(i))
		}
		for i := range x {
			x[i] = p.Code(t.categoricals + i)
		}
		return f(v, x), nil
	}, minimum
}

// normals returns standard normal numbers for each value of each categorical.
func (t table) normals(rng *rand.Rand) [][]float64 {
	out := make([][]float64, t.categoricals)
	for i := range out {
		for range t.values {
			out[i] = append(out[i], rng.NormFloat64())
		}
	}
	return out
}

// sum returns Σ_i e_i(v_i).
func sum(e [][]float64, v []int) float64 {
	var s float64
	for i, at := range v {
		s += e[i][at]
	}
	return s
}

// lowest returns the minimum of f over all values.
func (t table) lowest(f func(v []int) float64) float64 {
	best, v := math.Inf(1), make([]int, t.categoricals)
	for code := range int(math.Pow(float64(t.values), float64(t.categoricals))) {
		for i := range v {
			v[i], code = code%t.values, code/t.values
		}
		best = min(best, f(v))
	}
	return best
}

// additive is Σ_i e_i(v_i) with normal effects e.
func additive(t table, rng *rand.Rand) (func(v []int, x []float64) float64, float64) {
	e := t.normals(rng)
	return func(v []int, _ []float64) float64 { return sum(e, v) }, t.lowest(func(v []int) float64 { return sum(e, v) })
}

// clusters is additive with effects near four centres, and a parabola in each float.
func clusters(t table, rng *rand.Rand) (func(v []int, x []float64) float64, float64) {
	e := t.normals(rng)
	for i := range e {
		centre := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		for j := range e[i] {
			e[i][j] = centre[rng.IntN(4)] + 0.2*e[i][j]
		}
	}
	return func(v []int, x []float64) float64 {
		f := sum(e, v)
		for _, x := range x {
			f += 4 * (x - 0.3) * (x - 0.3)
		}
		return f
	}, t.lowest(func(v []int) float64 { return sum(e, v) })
}

// pairs is additive plus products a_i(v_i)·b_j(v_j) of neighbours i and j.
func pairs(t table, rng *rand.Rand) (func(v []int, x []float64) float64, float64) {
	e, a, b := t.normals(rng), t.normals(rng), t.normals(rng)
	f := func(v []int) float64 {
		s := sum(e, v)
		for i := range v {
			j := (i + 1) % len(v)
			s += a[i][v[i]] * b[j][v[j]]
		}
		return s
	}
	return func(v []int, _ []float64) float64 { return f(v) }, t.lowest(f)
}

// centres is additive plus a parabola in each float, whose centre is the mean of uniform numbers of
// the values.
func centres(t table, rng *rand.Rand) (func(v []int, x []float64) float64, float64) {
	e := t.normals(rng)
	at := make([][][]float64, t.floats)
	for k := range at {
		at[k] = t.normals(rng)
		for _, row := range at[k] {
			for j := range row {
				row[j] = rng.Float64() / float64(t.categoricals)
			}
		}
	}
	return func(v []int, x []float64) float64 {
		f := sum(e, v)
		for k, x := range x {
			z := x - sum(at[k], v)
			f += 10 * z * z
		}
		return f
	}, t.lowest(func(v []int) float64 { return sum(e, v) })
}
