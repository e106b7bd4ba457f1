package families

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/space"
)

func latent(o benchmarks.Objective) func(x []float64) float64 {
	if o.Latent != nil {
		return o.Latent
	}
	return o.Func
}

// every calls f with all problems of the suites.
func every(t *testing.T, f func(t *testing.T, family Family, dim int)) {
	for _, family := range All() {
		for _, dim := range family.Dims {
			t.Run(family.Problem(dim), func(t *testing.T) { t.Parallel(); f(t, family, dim) })
		}
	}
}

// The value at the stated minimiser is the minimum. Neither points of a Sobol sequence nor a
// local search from the minimiser find a lower value.
func TestMinima(t *testing.T) {
	instances, points := uint64(8), 4096
	if testing.Short() {
		instances, points = 3, 512
	}
	every(t, func(t *testing.T, family Family, dim int) {
		for number := range instances {
			o := family.Instance(number, dim)
			f, x := latent(o), o.Minimizers[0]
			require.Equal(t, o.Minimum, f(x), number)
			for j, v := range x {
				require.True(t, o.Lo[j] <= v && v <= o.Hi[j], "instance %d: %v outside the box", number, x)
			}
			median := sample(t, o, points)
			slack := 1e-12 * (1 + math.Abs(o.Minimum) + median)
			require.GreaterOrEqual(t, local(o, x, f), o.Minimum-slack, "instance %d: a local search improves", number)
			require.Greater(t, median, slack, "instance %d is constant", number)
		}
	})
}

// sample returns the median regret at points of a Sobol sequence, all of which it checks.
func sample(t *testing.T, o benchmarks.Objective, n int) float64 {
	t.Helper()
	f, u := latent(o), space.Sobol(n, o.Space.Dim(), rand.New(rand.NewPCG(1, 2)))
	regrets := make([]float64, n)
	for i := range n {
		x := o.Coordinates(o.Space.Decode(u.RawRowView(i)))
		v := f(x)
		if math.IsNaN(v) || math.Abs(v) > 1e100 { // a call of require would cost more than f
			require.Fail(t, "not finite or too large", "%v at %v", v, x)
		}
		regrets[i] = v - o.Minimum
	}
	slices.Sort(regrets)
	require.GreaterOrEqual(t, regrets[0], -1e-12*(1+math.Abs(o.Minimum)))
	return regrets[n/2]
}

// local returns the lowest value of a random search with shrinking steps around x, which
// also changes integers and choices.
func local(o benchmarks.Objective, x []float64, f func([]float64) float64) float64 {
	rng, params := rand.New(rand.NewPCG(3, 4)), o.Space.Parameters()
	best, y := f(x), make([]float64, len(x))
	for step := 0.3; step > 1e-9; step /= 2 {
		for range 10 * len(x) {
			one := rng.IntN(2 * len(x)) // only this coordinate, or all
			for j := range y {
				y[j] = x[j]
				if one < len(x) && one != j {
					continue
				}
				y[j] += step * rng.NormFloat64() * (o.Hi[j] - o.Lo[j])
				if params[j].Kind != space.KindFloat {
					y[j] = math.Round(y[j])
				}
				y[j] = min(max(y[j], o.Lo[j]), o.Hi[j])
			}
			best = min(best, f(y))
		}
	}
	return best
}

// An instance is a function of family, number and dimension, in any order of calls.
func TestInstancesAreDeterministic(t *testing.T) {
	every(t, func(t *testing.T, family Family, dim int) {
		first, other := family.Instance(1, dim), family.Instance(2, dim)
		again := family.Instance(1, dim)
		u := space.Sobol(16, first.Space.Dim(), rand.New(rand.NewPCG(5, 6)))
		var differs bool
		for i := range 16 {
			x := first.Coordinates(first.Space.Decode(u.RawRowView(15 - i)))
			v := latent(first)(x)
			require.Equal(t, v, latent(again)(x))
			differs = differs || other.Space.Dim() != first.Space.Dim() || v != latent(other)(other.Coordinates(other.Space.Decode(u.RawRowView(15-i))))
		}
		require.True(t, differs, "two instances are equal")
	})
}

func TestNoise(t *testing.T) {
	for _, family := range noisy() {
		o, again := family.Instance(1, 3), family.Instance(1, 3)
		require.False(t, o.NoiseFree)
		x := []float64{1, -2, 3}
		first, second := o.Func(x), o.Func(x)
		require.NotEqual(t, first, second)
		again.Func([]float64{0, 0, 0})
		require.Equal(t, []float64{first, second}, []float64{again.Func(x), again.Func(x)}, "order of other points")
		var values []float64
		for range 2000 {
			values = append(values, o.Func(x)-o.Latent(x))
		}
		slices.Sort(values)
		spread := values[1500] - values[500]
		require.Positive(t, spread)
		require.Less(t, math.Abs(values[1000]), 0.5*spread+1e-12, "%s: the median is near the noise-free value", family.Name)
	}
}

// Every class has families in both halves, and each family is in one of them. The
// halves are fixed: records refer to them.
func TestSplit(t *testing.T) {
	names := func(list []Family) (names []string) {
		for _, f := range list {
			names = append(names, f.Name)
		}
		return names
	}
	development, confirmation := Split()
	require.Len(t, All(), len(development)+len(confirmation))
	both := names(slices.Concat(development, confirmation))
	slices.Sort(both)
	require.Len(t, slices.Compact(both), len(All()))
	count := map[Class][2]int{}
	for half, list := range [][]Family{development, confirmation} {
		for _, f := range list {
			c := count[f.Class]
			c[half] += len(f.Dims)
			count[f.Class] = c
		}
	}
	require.Len(t, count, 13)
	for class, c := range count {
		require.GreaterOrEqual(t, min(c[0], c[1]), 2, class)
	}
	assert.Equal(t, []string{
		"ripples", "two-wells", "banana", "cone", "mixed-powers", "sharp-ridge",
		"walls", "cliff", "saturated", "nested-boxes", "rings", "rippled-bowl",
		"deceptive", "peaks", "chirp", "canyon", "subspace", "decay",
		"noise-side", "noise-level", "integers", "bits", "svm-digits", "classifiers-cancer",
		"boosting-concrete", "kernel-yacht", "mlp-digits", "wide-valley", "wide-sparse",
	}, names(development))
}

// Values at the centre and a further point, and minima, of instance 1. Records of other
// programs rest on them.
func TestGolden(t *testing.T) {
	const file = "testdata/golden.json"
	type values struct{ Minimum, Centre, Quarter float64 }
	found := map[string]values{}
	for _, family := range All() {
		for _, dim := range family.Dims {
			o := family.Instance(1, dim)
			at := func(u float64) float64 {
				point := make([]float64, o.Space.Dim())
				for i := range point {
					point[i] = u
				}
				return latent(o)(o.Coordinates(o.Space.Decode(point)))
			}
			found[o.Name] = values{o.Minimum, at(0.5), at(0.26)}
		}
	}
	if os.Getenv("WRITE_GOLDEN") != "" {
		text, err := json.MarshalIndent(found, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var want map[string]values
	require.NoError(t, json.Unmarshal(text, &want))
	require.Len(t, found, len(want))
	for name, w := range want {
		f := found[name]
		for i, v := range []float64{f.Minimum, f.Centre, f.Quarter} {
			expected := []float64{w.Minimum, w.Centre, w.Quarter}[i]
			assert.InDelta(t, expected, v, 1e-9*(1+math.Abs(expected)), name)
		}
	}
}

// The interpolation returns the table at levels, and lies between neighbouring levels
// elsewhere.
func TestTable(t *testing.T) {
	d := &drawing{rng: rand.New(rand.NewPCG(1, 1)), dim: 5}
	c := d.cut("kernel-yacht", false)
	levels := func(i int) float64 { return c.Parameters[3].level(i) }
	x := []float64{1, 0, 3, levels(c.from[3]), c.Parameters[4].level(c.from[4])}
	index := func(i int) float64 { return c.values[(((1*2+0)*4+1)*13+i)*15+c.from[4]] }
	lo, hi := index(c.from[3]), index(c.from[3]+1)
	require.Equal(t, lo, c.at(x))
	x[3] = math.Sqrt(levels(c.from[3]) * levels(c.from[3]+1))
	require.InDelta(t, (lo+hi)/2, c.at(x), 1e-9)
	x[3] = levels(c.from[3] + 1)
	require.Equal(t, hi, c.at(x))
	c.rounded = true
	x[3] *= 1.01
	require.Equal(t, hi, c.at(x))
}

func TestUnknownFamily(t *testing.T) {
	_, err := Lookup("elipsoid")
	require.ErrorIs(t, err, benchmarks.ErrUnknown)
	f, err := Lookup("ellipsoid")
	require.NoError(t, err)
	require.Equal(t, "ellipsoid-7", f.Instance(3, 7).Name)
}

// The page of the families has a row for each.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/families.md")
	require.NoError(t, err)
	development, _ := Split()
	table := "| class | family | half | inputs | function |\n|---|---|---|---|---|\n"
	for _, f := range All() {
		half := "confirmation"
		if slices.ContainsFunc(development, func(d Family) bool { return d.Name == f.Name }) {
			half = "development"
		}
		dims := strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Dims), " ", ", "), "[]")
		table += fmt.Sprintf("| %s | `%s` | %s | %s | %s |\n", f.Class, f.Name, half, dims, f.Summary)
	}
	require.Contains(t, string(text), table)
}

// All lists the classes one after another, in the order of their constants.
func TestClasses(t *testing.T) {
	var classes []Class
	for _, f := range All() {
		classes = append(classes, f.Class)
	}
	require.Equal(t, []Class{
		Separable, Moderate, Ill, OneSided, Plateaus, Global, Weak, NonStationary, FewActive, Noise, Mixed, Tuning, Wide,
	}, slices.Compact(classes))
}

// A conditional instance has the values of its family, and its inactive coordinates are NaN.
func TestConditional(t *testing.T) {
	for _, name := range []string{"classifiers-digits", "classifiers-cancer"} {
		o := Conditional(name, 3)
		require.Equal(t, o.Minimum, o.Func(o.Minimizers[0]))
		f, err := Lookup(name)
		require.NoError(t, err)
		flat := f.Instance(3, 10)
		u := space.Sobol(50, o.Space.Dim(), rand.New(rand.NewPCG(1, 2)))
		for i := range 50 {
			x, all := o.Coordinates(o.Space.Decode(u.RawRowView(i))), flat.Coordinates(flat.Space.Decode(u.RawRowView(i)))
			inactive := 0
			for j := range x {
				if math.IsNaN(x[j]) {
					inactive++
				} else {
					require.Equal(t, all[j], x[j])
				}
			}
			require.Equal(t, 9-[]int{2, 3, 4}[int(x[0])], inactive)
			require.Equal(t, flat.Func(all), o.Func(x))
		}
	}
}
