package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/space"
)

// Labels of ticks never overlap, lie on the axis and read back as their values.
func TestTicksDoNotOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		scale := math.Pow(10, rng.Float64()*40-20)
		a := axis{lo: scale * (rng.Float64() - 0.5), log: rng.IntN(2) == 0}
		if a.log {
			a.lo = scale
			a.hi = scale * math.Pow(10, rng.Float64()*math.Pow(10, rng.Float64()*2-1))
		} else {
			a.hi = a.lo + scale*math.Pow(10, -3*rng.Float64())
		}
		length := vg.Length(30 + 500*rng.Float64())
		for _, extent := range []func(string) vg.Length{wide, tall} {
			end, labels := math.Inf(-1), 0
			for _, tick := range a.ticks(length, extent) {
				p := a.place(tick.at)
				require.True(t, p > -1e-6 && p < 1+1e-6, "%v %v", a, tick)
				if tick.label == "" {
					continue
				}
				labels++
				half := float64(extent(tick.label)) / 2
				require.GreaterOrEqual(t, p*float64(length)-half, end-1e-9, "%v", a)
				end = p*float64(length) + half
			}
			if length > 250 {
				require.GreaterOrEqual(t, labels, 2, "%v over %v", a, length)
			}
		}
	}
}

// Labels of a linear axis differ and, with its base, read back as their values: for any size, and
// for lengths down to the resolution of numbers.
func TestTicksReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		size := math.Pow(10, rng.Float64()*590-300)
		lo := size * (2*rng.Float64() - 1)
		a := valueAxis("y", false, lo, lo+size*math.Pow(10, -14*rng.Float64()))
		a.integer = rng.IntN(4) == 0 && a.hi-a.lo > 3 && a.size() < 1e15
		base := 0.0
		if text := a.relative(); text != "" {
			var err error
			base, err = strconv.ParseFloat(strings.NewReplacer(" − ", "", " + ", "-", "−", "-").Replace(text), 64)
			require.NoError(t, err)
			require.Equal(t, a.base(), base, text)
		}
		seen := map[string]bool{}
		ticks := a.ticks(400, wide)
		require.Greater(t, len(ticks), 1, "%v", a)
		step := ticks[1].at - ticks[0].at
		for _, tick := range ticks {
			require.False(t, seen[tick.label], "%v twice on %v", tick.label, a)
			seen[tick.label] = true
			v, err := strconv.ParseFloat(strings.ReplaceAll(tick.label, "−", "-"), 64)
			require.NoError(t, err)
			require.InDelta(t, 0, (base+v-tick.at)/step, 1e-3, "%v of %v", tick, a)
			require.False(t, a.integer && v != math.Round(v), "%v", tick)
		}
	}
	require.Equal(t, " − 1e15", (&axis{lo: 1e15, hi: 1e15 + 100}).relative())
	require.Equal(t, " + 1e12", (&axis{lo: -1e12, hi: -1e12 + 5}).relative())
	require.Equal(t, " − 0.5", (&axis{lo: 0.5, hi: 0.5 + 1e-7}).relative())
	require.Empty(t, (&axis{lo: 1000, hi: 1001}).relative())
}

// Names keep their differences when they are cut, and fit.
func TestAbbreviate(t *testing.T) {
	long := strings.Repeat(" and so on", 5)
	for _, test := range []struct{ names, want []string }{
		{nil, nil},
		{[]string{"adam", "sgd"}, []string{"adam", "sgd"}},
		{[]string{"a" + long, "b" + long}, []string{"a and s…", "b and s…"}},
		{[]string{"with the end 1", "with the end 2"}, []string{"wit…d 1", "wit…d 2"}},
		{[]string{"category 1" + long, "category 2" + long}, []string{"…1 and…", "…2 and…"}},
	} {
		got := abbreviate(test.names, tickSize, 40)
		require.Equal(t, test.want, got)
		for _, s := range got {
			require.LessOrEqual(t, widthOf(s, tickSize), vg.Length(40))
		}
	}
}

// Labels of names never overlap: horizontal ones have gaps, and tilted and vertical ones are a line apart.
func TestNamesDoNotOverlap(t *testing.T) {
	for _, n := range []int{2, 12, 40, 200} {
		for _, length := range []int{3, 12, 60} {
			a := axis{lo: -0.5, hi: float64(n) - 0.5}
			for i := range n {
				a.names = append(a.names, fmt.Sprintf("%0*d", length, i))
			}
			for _, width := range []vg.Length{60, 150, 500} {
				const left = 40
				labels := a.nameLabels(width, 200, left)
				ticks := a.ticks(width, labels.extent)
				require.NotEmpty(t, ticks)
				for i, tick := range ticks {
					w := widthOf(labels.of(tick.at), tickSize)
					at := vg.Length(a.place(tick.at)) * width
					require.GreaterOrEqual(t, at+left, w*vg.Length(math.Cos(labels.angle))-1, "passes the left margin")
					if i == 0 {
						continue
					}
					apart := at - vg.Length(a.place(ticks[i-1].at))*width
					if labels.angle == 0 {
						require.Greater(t, apart, w)
					} else {
						require.GreaterOrEqual(t, apart*vg.Length(math.Sin(labels.angle)), tickSize*1.19)
					}
				}
			}
		}
	}
}

// The interval of Wilson solves (p - q)² = z² q (1 - q) / n for q.
func TestWilson(t *testing.T) {
	for _, b := range []bin{{n: 1}, {n: 10, right: 10}, {n: 50, right: 20}} {
		n, p := float64(b.n), float64(b.right)/float64(b.n)
		low, high := b.wilson()
		require.Less(t, low, high)
		for _, q := range []float64{low, high} {
			require.InDelta(t, (p-q)*(p-q), 1.959963984540054*1.959963984540054*q*(1-q)/n, 1e-12)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "−2.5", 1e-5: "1e−5", 0.001: "0.001", 123456: "123456", 1.5e7: "1.5e7", 0.12345: "0.1235", math.Inf(1): "+Inf",
	} {
		require.Equal(t, want, number(v))
	}
	require.Equal(t, []string{"0.99", "1.00", "1.01"}, labels(axis{lo: 0.985, hi: 1.012}, 3))
	require.Equal(t, []string{"−1e8", "0", "1e8"}, labels(axis{lo: -1.2e8, hi: 1.2e8}, 3))
	require.Equal(t, []string{"1.00001e8", "1.00002e8"}, labels(axis{lo: 1.000009e8, hi: 1.000021e8}, 2))
}

func labels(a axis, n int) []string {
	var out []string
	for _, t := range a.linear(n) {
		out = append(out, t.label)
	}
	return out
}

// An isoline of a plane is straight and exact, and a saddle is split by its centre.
func TestCrossings(t *testing.T) {
	f := func(x, y float64) float64 { return 2*x + y }
	for _, segment := range crossings([4]float64{f(0, 0), f(1, 0), f(1, 1), f(0, 1)}, 1.25) {
		for _, p := range segment {
			require.InDelta(t, 1.25, f(p[0], p[1]), 1e-12)
		}
	}
	require.Len(t, crossings([4]float64{1, 0, 1, 0}, 0.4), 2)
	require.Len(t, crossings([4]float64{1, 0, 1, 0}, 0.6), 2)
	require.Empty(t, crossings([4]float64{1, 1, 1, 1}, 0.4))
	require.Empty(t, crossings([4]float64{math.NaN(), 0, 1, 1}, 2))
}

// Maps interpolate between the values of floats and have cells for the values of others.
func TestLocate(t *testing.T) {
	s := newScale(insight.Axis{Name: "x", Kind: space.KindFloat, Log: true, Min: 1, Max: 100}, []any{1.0, 10.0, 100.0})
	b := s.locate(0.25)
	require.Equal(t, []int{0, 1}, []int{b.low, b.high})
	require.InDelta(t, 0.5, b.weight, 1e-12)
	s = newScale(insight.Axis{Name: "n", Kind: space.KindInt, Min: 1, Max: 3}, []any{1, 2, 3})
	require.Equal(t, []float64{0.5, 3.5}, []float64{s.lo, s.hi})
	for at, want := range map[float64]int{0: 0, 0.32: 0, 0.35: 1, 0.66: 1, 0.68: 2, 1: 2} {
		b := s.locate(at)
		require.Equal(t, []int{want, want}, []int{b.low, b.high}, "%v", at)
	}
	s = newScale(insight.Axis{Name: "o", Kind: space.KindCategorical, Ticks: []any{"a", "b"}}, []any{"a", "b"})
	require.Equal(t, 1, s.locate(0.7).low)
}
