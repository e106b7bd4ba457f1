package benchmarks

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
)

// verify checks the stated minimum of o: its value at the minimisers, and no lower
// value at n Sobol points or near the minimisers.
func verify(t *testing.T, o Objective, n int) {
	t.Helper()
	d := o.Dim()
	require.Equal(t, d, o.Space.Dim(), o.Name)
	require.NotEmpty(t, o.Summary, o.Name)
	slack := 1e-12 * (1 + math.Abs(o.Minimum))
	for _, m := range o.Minimizers {
		require.Len(t, m, d, o.Name)
		for j := range m {
			require.True(t, o.Lo[j] <= m[j] && m[j] <= o.Hi[j], "%s: minimiser %v outside its box", o.Name, m)
		}
		require.InDelta(t, o.Minimum, o.Func(m), slack, o.Name)
		require.InDelta(t, o.Minimum, descend(o, m), slack, "%s: a descent from its minimiser improves", o.Name)
	}
	if len(o.Minimizers) == 0 {
		require.True(t, math.IsNaN(o.Minimum), o.Name)
	}
	points := space.Sobol(n, d, rand.New(rand.NewPCG(1, 2)))
	for i := range n {
		x := points.RawRowView(i)
		for j := range x {
			x[j] = o.Lo[j] + (o.Hi[j]-o.Lo[j])*x[j]
		}
		f := o.Func(x)
		if math.IsNaN(f) || math.IsInf(f, 0) || f < o.Minimum-slack { // calls of require would cost more than f
			require.Fail(t, "not finite or below the minimum", "%s: %v at %v, minimum %v", o.Name, f, x, o.Minimum)
		}
	}
}

// descend runs a compass search in the box, along the axes and random directions.
func descend(o Objective, from []float64) float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x, best := append([]float64(nil), from...), o.Func(from)
	y := make([]float64, len(x))
	for step := 0.1; step > 1e-7; step /= 2 {
		for k := range 4 * len(x) {
			for j := range y {
				direction := rng.NormFloat64()
				if k < 2*len(x) {
					direction = 0
					if j == k/2 {
						direction = float64(1 - k%2*2)
					}
				}
				y[j] = min(max(x[j]+step*direction*(o.Hi[j]-o.Lo[j]), o.Lo[j]), o.Hi[j])
			}
			if f := o.Func(y); f < best {
				best = f
				copy(x, y)
			}
		}
	}
	return best
}

func TestObjectives(t *testing.T) {
	for _, name := range append(Names(), "ackley10", "griewank5", "levy-4", "michalewicz10", "rastrigin3", "rosenbrock6", "styblinski-tang4") {
		if name == "brusselator" {
			continue // noisy and without a known minimum
		}
		o, err := Lookup(name)
		require.NoError(t, err)
		assert.True(t, o.NoiseFree)
		if o.Outcomes != nil {
			continue // see TestLargestHypervolumes
		}
		n := 100_000 * min(o.Dim(), 3)
		if racetest.Enabled {
			n /= 30
		}
		verify(t, o, n)
	}
}

// verify rejects wrong objectives.
func TestVerifyFails(t *testing.T) {
	for _, wrong := range []func(o *Objective){
		func(o *Objective) { o.Minimum += 1e-3 },
		func(o *Objective) { o.Minimizers = [][]float64{{-4, 12}} },
		func(o *Objective) { f := o.Func; o.Func = func(x []float64) float64 { return f(x) - 0.01*x[0] } },
	} {
		o := Branin()
		wrong(&o)
		worst := 0.0
		for _, m := range o.Minimizers {
			worst = max(worst, math.Abs(o.Minimum-o.Func(m)), o.Minimum-descend(o, m))
		}
		assert.Greater(t, worst, 1e-4)
	}
}

func TestBoTorch(t *testing.T) {
	text, err := os.ReadFile("../testdata/benchmarks/botorch.json")
	require.NoError(t, err)
	var oracle struct {
		Functions map[string]struct {
			Lo, Hi, F []float64
			X         [][]float64
			Minimum   *float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	require.Len(t, oracle.Functions, 15)
	for name, want := range oracle.Functions {
		o, err := Lookup(name)
		if name == "levy1" {
			o, err = Levy(1), nil
		}
		require.NoError(t, err)
		assert.Equal(t, name, o.Name)
		assert.Equal(t, want.Lo, o.Lo, name)
		assert.Equal(t, want.Hi, o.Hi, name)
		assert.InDelta(t, *want.Minimum, o.Minimum, 5e-5, name) // given to a few digits
		for i, x := range want.X {
			assert.InDelta(t, want.F[i], o.Func(x), 1e-12*(1+math.Abs(want.F[i])), "%s at %v", name, x)
		}
	}
}

// Minima without a closed form agree with Newton's method in 40 digits.
func TestMinima(t *testing.T) {
	text, err := os.ReadFile("../testdata/benchmarks/minima.json")
	require.NoError(t, err)
	var oracle struct {
		Found map[string]struct {
			Minimum   float64
			Minimizer []float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	require.Len(t, oracle.Found, 5)
	for name, want := range oracle.Found {
		o, err := Lookup(name)
		if name == "styblinski-tang1" {
			o, err = StyblinskiTang(1), nil
		}
		require.NoError(t, err)
		assert.InDelta(t, want.Minimum, o.Minimum, 1e-14, name)
		assert.InDeltaSlice(t, want.Minimizer, o.Minimizers[0], 1e-15, name)
	}
}

// Published values: Goldstein and Price give local minima 30, 84 and 840; Michalewicz's
// minima are -1.8013 (d = 2), -4.687658 (5) and -9.66015 (10).
func TestPublishedValues(t *testing.T) {
	g := GoldsteinPrice()
	for _, c := range [][3]float64{{-0.6, -0.4, 30}, {1.8, 0.2, 84}, {1.2, 0.8, 840}} {
		assert.InDelta(t, c[2], g.Func(c[:2]), 1e-9)
	}
	for d, want := range map[int]float64{2: -1.8013034, 5: -4.687658, 10: -9.66015} {
		assert.InDelta(t, want, Michalewicz(d).Minimum, 1e-5)
	}
	assert.InDelta(t, 0.39788735772973816, Branin().Minimum, 1e-15)
}

func TestPolynomial(t *testing.T) {
	o := Polynomial()
	assert.InDelta(t, -5.596456, o.Minimum, 1e-6)
	least, most := math.Inf(1), math.Inf(-1)
	x := make([]float64, 8)
	for vertex := range 256 {
		for j := range x {
			x[j] = float64(vertex >> j & 1)
		}
		least, most = min(least, o.Func(x)), max(most, o.Func(x))
	}
	assert.Equal(t, o.Minimum, least)
	assert.InDelta(t, 7.214484, most, 1e-6)
}

func TestBrusselatorAgainstAnAdaptiveSolver(t *testing.T) {
	text, err := os.ReadFile("../testdata/benchmarks/brusselator.json")
	require.NoError(t, err)
	var oracle struct {
		X [][]float64
		F []float64
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	initial := make([]float64, grid*grid)
	for i := range grid {
		for j := range grid {
			initial[i*grid+j] = math.Sin(12.9898*float64(i) + 78.233*float64(j) + float64(i*j))
		}
	}
	for k, x := range oracle.X {
		dt := timeStep(x)
		if racetest.Enabled && dt < 5e-3 {
			continue
		}
		tol := 1e-6
		if dt < 5e-3 {
			tol = 2e-3 // explicit Euler on a growing pattern or an oscillation
		}
		assert.InEpsilon(t, oracle.F[k], brusselator(x, initial, dt, nil), tol, "at %v", x)
	}
}

// Known values: the best about 0.0086, 0.350 at the centre, and quartiles 0.37, 0.65
// and 1.05 at random points.
func TestBrusselatorReferenceValues(t *testing.T) {
	o := Brusselator(1)
	assert.InDelta(t, 0.0086, o.Func([]float64{0.316, 0.1, 5, 5}), 1e-4)
	assert.InDelta(t, 0.350, o.Func([]float64{2.55, 2.55, 2.505, 2.505}), 1e-3)
	assert.False(t, o.NoiseFree)
}

func TestBrusselatorIsNoisyAndDeterministic(t *testing.T) {
	x := []float64{1, 1.9, 0.1, 0.1}
	a, b := Brusselator(1), Brusselator(1)
	first, second := a.Func(x), a.Func(x)
	assert.NotEqual(t, first, second)
	assert.InEpsilon(t, first, second, 0.05)
	assert.Equal(t, first, b.Func(x))
	assert.NotEqual(t, first, Brusselator(2).Func(x))
}

// Cells that diverge count as large random numbers, so the value stays finite.
func TestBrusselatorBlowUp(t *testing.T) {
	x, rng := []float64{0.1, 5, 5, 5}, rand.New(rand.NewPCG(1, 1))
	initial := make([]float64, grid*grid)
	for i := range initial {
		initial[i] = rng.NormFloat64()
	}
	f := brusselator(x, initial, 2e-2, rng)
	assert.False(t, math.IsNaN(f) || math.IsInf(f, 0))
	assert.Greater(t, f, 1e6)
}

func TestNoisy(t *testing.T) {
	branin, x := Branin(), []float64{1, 2}
	o := Noisy(branin, 0.5, 7)
	assert.Equal(t, "noisy-branin", o.Name)
	assert.False(t, o.NoiseFree)
	assert.Equal(t, branin.Minimum, o.Minimum)

	const n = 4000
	var sum, squares float64
	draws := make([]float64, n)
	for i := range draws {
		e := o.Func(x) - branin.Func(x)
		draws[i] = e
		sum += e
		squares += e * e
	}
	assert.InDelta(t, 0, sum/n, 4*0.5/math.Sqrt(n))
	assert.InDelta(t, 0.25, squares/n, 4*0.25*math.Sqrt(2.0/n))

	// Evaluations at other points, also concurrent evaluations, have no effect.
	again := Noisy(branin, 0.5, 7)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 100 {
				again.Func([]float64{float64(k), float64(i) + 0.5})
			}
		})
	}
	for i := range 100 {
		assert.Equal(t, draws[i], again.Func(x)-branin.Func(x))
	}
	wg.Wait()
}

func TestEmbedded(t *testing.T) {
	o := Embedded(Hartmann6(), 25, 3)
	assert.Equal(t, "hartmann6-in-25", o.Name)
	assert.Equal(t, 25, o.Dim())
	verify(t, o, 10_000)
	m := o.Minimizers[0]
	active := 0
	for j := range m {
		y := append([]float64(nil), m...)
		y[j] = 0.9
		if o.Func(y) != o.Func(m) {
			active++
		}
	}
	assert.Equal(t, 6, active)
	assert.Equal(t, m, Embedded(Hartmann6(), 25, 3).Minimizers[0])
	assert.NotEqual(t, m, Embedded(Hartmann6(), 25, 4).Minimizers[0])
	assert.Panics(t, func() { Embedded(Hartmann6(), 5, 0) })
}

func TestAt(t *testing.T) {
	o := Branin()
	p, err := o.Space.PointOf(map[string]any{"x1": math.Pi, "x2": 2.275})
	require.NoError(t, err)
	assert.Equal(t, o.Func([]float64{math.Pi, 2.275}), o.At(p))
}

func TestLookup(t *testing.T) {
	for name, d := range map[string]int{"ackley": 2, "ackley10": 10, "ackley-10": 10, "styblinski-tang-3": 3, "hartmann6": 6, "brusselator": 4,
		"branin-currin": 2, "zdt1": 2, "zdt1-6": 6, "dtlz2-6": 6, "dtlz2-6-of-3": 6, "dtlz2-of-3": 2, "c2-dtlz2-4": 4} {
		o, err := Lookup(name)
		require.NoError(t, err)
		assert.Equal(t, d, o.Dim(), name)
		again, err := Lookup(o.Name)
		require.NoError(t, err)
		assert.Equal(t, o.Name, again.Name)
	}
	assert.Equal(t, []string{"branin", "ackleyN", "dtlz2-N", "dtlz2-N-of-3"}, []string{Form("branin", "N"), Form("ackley", "N"), Form("dtlz2", "N"), Form("dtlz2-of-3", "N")})
	for name, want := range map[string]string{
		"brannin":                        `unknown objective "brannin": did you mean branin?`,
		"Branin":                         `unknown objective "Branin": did you mean branin?`,
		"hartmann4":                      `unknown objective "hartmann4": did you mean hartmann3?`,
		"ackly10":                        `unknown objective "ackly10": did you mean ackley?`,
		"":                               `unknown objective ""`,
		"ackley1":                        `unknown objective "ackley1": ackley has 2 to 1000 dimensions`,
		"ackley0":                        `unknown objective "ackley0": ackley has 2 to 1000 dimensions`,
		"levy1001":                       `unknown objective "levy1001": levy has 2 to 1000 dimensions`,
		"levy9" + "99999999999999999999": `unknown objective "levy999999999999999999999": levy has 2 to 1000 dimensions`,
	} {
		_, err := Lookup(name)
		require.ErrorIs(t, err, ErrUnknown)
		assert.EqualError(t, err, want)
	}
}

func BenchmarkHartmann6(b *testing.B) {
	o := Hartmann6()
	for b.Loop() {
		o.Func(o.Minimizers[0])
	}
}

func BenchmarkBrusselator(b *testing.B) {
	o := Brusselator(1)
	for b.Loop() {
		o.Func([]float64{2.55, 2.55, 2.505, 2.505})
	}
}

// Every kind of parameter has a coordinate within its bounds.
func TestCoordinates(t *testing.T) {
	s, err := space.New(
		space.LogFloat("rate", 0.1, 10), space.Int("size", 2, 9), space.Bool("fast"),
		space.Ordinal("level", 0.5, 2, 7), space.Categorical("kind", "a", "b"),
	)
	require.NoError(t, err)
	o := Objective{Func: func(x []float64) float64 { return x[0] + x[1] + x[2] + x[3] + x[4] }}.On(s)
	assert.Equal(t, []float64{0.1, 2, 0, 0, 0}, o.Lo)
	assert.Equal(t, []float64{10, 9, 1, 2, 1}, o.Hi)
	p, err := s.PointOf(map[string]any{"rate": 3.0, "size": 4, "fast": true, "level": 7.0, "kind": "b"})
	require.NoError(t, err)
	assert.Equal(t, []float64{3, 4, 1, 2, 1}, o.Coordinates(p))
	assert.Equal(t, 11.0, o.At(p))
}
