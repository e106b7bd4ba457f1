package insight

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// ishigami returns a view of 200 evaluations of the function of Ishigami and Homma (1990).
func ishigami(t *testing.T, seed uint64) *loop.View {
	s, err := space.New(space.Float("x1", -math.Pi, math.Pi), space.Float("x2", -math.Pi, math.Pi), space.Float("x3", -math.Pi, math.Pi))
	require.NoError(t, err)
	x := space.Sobol(200, 3, random.New(seed, "ishigami", 0))
	var h loop.History
	for i := range 200 {
		p := s.Decode(x.RawRowView(i))
		a, b, c := p.Float("x1"), p.Float("x2"), p.Float("x3")
		y := math.Sin(a) + 7*math.Pow(math.Sin(b), 2) + 0.1*math.Pow(c, 4)*math.Sin(a)
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: y})
	}
	v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
	require.NoError(t, err)
	return v
}

// The indices of Ishigami's function have closed forms (Homma and Saltelli 1996).
func TestImportanceOfIshigami(t *testing.T) {
	a, b, pi4 := 7.0, 0.1, math.Pow(math.Pi, 4)
	v1, v2 := 0.5*math.Pow(1+b*pi4/5, 2), a*a/8
	v13 := b * b * pi4 * pi4 * (1.0/18 - 1.0/50)
	v := v1 + v2 + v13
	first := map[string]float64{"x1": v1 / v, "x2": v2 / v, "x3": 0}
	total := map[string]float64{"x1": (v1 + v13) / v, "x2": v2 / v, "x3": v13 / v}
	for seed := range uint64(3) {
		effects, err := Importance(t.Context(), ishigami(t, seed), ImportanceOptions{Paths: 8, Points: 4096})
		require.NoError(t, err)
		for _, e := range effects {
			t.Logf("%+v", e)
			require.InDelta(t, first[e.Parameter], float64(e.First), 0.02, e.Parameter)
			require.InDelta(t, total[e.Parameter], float64(e.Total), 0.02, e.Parameter)
			require.LessOrEqual(t, e.TotalInterval.Low, e.TotalInterval.High)
		}
		require.Equal(t, "x1", effects[0].Parameter)
	}
}

// The posterior mean of an rbf process is a sum of products of normal densities. Its
// variance and the variances of its main effects have closed forms.
func TestImportanceOfRBF(t *testing.T) {
	const d, n = 3, 15
	s, err := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1), space.Float("c", 0, 1))
	require.NoError(t, err)
	rng := random.New(1, "rbf", 0)
	scale := []float64{0.3, 0.7, 2}
	x, y := space.Uniform(n, d, rng), make([]float64, n)
	random.Normal(y, rng)
	process := prior.Process{Kernel: prior.RBF(d).WithParams(scale), Noise: 0.1}
	p, err := gp.New(process, surrogate.Dataset{X: x, Y: y})
	require.NoError(t, err)
	cov, weights := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	process.Covariance(cov, x)
	var c mat.Cholesky
	require.True(t, c.Factorize(cov))
	require.NoError(t, c.SolveVecTo(weights, mat.NewVecDense(n, y)))

	// The integrals over [0,1] of k_j(u, a) and of k_j(u, a) k_j(u, b).
	single := func(j int, a float64) float64 {
		l := scale[j]
		return l * math.Sqrt(math.Pi/2) * (math.Erf((1-a)/(l*math.Sqrt2)) + math.Erf(a/(l*math.Sqrt2)))
	}
	double := func(j int, a, b float64) float64 {
		l, m := scale[j], (a+b)/2
		return math.Exp(-(a-b)*(a-b)/(4*l*l)) * l * math.Sqrt(math.Pi) / 2 * (math.Erf((1-m)/l) + math.Erf(m/l))
	}
	// between returns the integral of the square of the mean over the inputs that are not kept.
	between := func(keep func(j int) bool) float64 {
		var sum float64
		for i := range n {
			for k := range n {
				v := weights.AtVec(i) * weights.AtVec(k)
				for j := range d {
					if keep(j) {
						v *= double(j, x.At(i, j), x.At(k, j))
					} else {
						v *= single(j, x.At(i, j)) * single(j, x.At(k, j))
					}
				}
				sum += v
			}
		}
		return sum
	}
	square := between(func(int) bool { return false })
	variance := between(func(int) bool { return true }) - square
	points := newSaltelli(s, s.Parameters(), 1<<14)
	f, err := points.indices(t.Context(), meanOf(p))
	require.NoError(t, err)
	for j := range d {
		require.InDelta(t, (between(func(k int) bool { return k == j })-square)/variance, f.first[j], 2e-3)
		require.InDelta(t, 1-(between(func(k int) bool { return k != j })-square)/variance, f.total[j], 2e-3)
	}
}

// Indices do not depend on the unit or the origin of the values.
func TestImportanceOfTinyAndHugeValues(t *testing.T) {
	s, err := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1))
	require.NoError(t, err)
	effects := func(value func(v float64) float64) (out []Effect, unimportant string) {
		var h loop.History
		x := space.Sobol(40, 2, random.New(1, "tiny", 0))
		for i := range 40 {
			p := s.Decode(x.RawRowView(i))
			v := math.Sin(3*p.Float("a")) + p.Float("b")*p.Float("b")
			h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: value(v)})
		}
		v, err := loop.Inspect(t.Context(), s, loop.Options{}, h)
		require.NoError(t, err)
		out, err = Importance(t.Context(), v, ImportanceOptions{Points: 512, Paths: 4})
		require.NoError(t, err)
		return out, Unimportant(v)
	}
	want, unimportant := effects(func(v float64) float64 { return v })
	require.Empty(t, unimportant)
	for name, value := range map[string]func(v float64) float64{
		"tiny":     func(v float64) float64 { return v * 1e-300 },
		"huge":     func(v float64) float64 { return v * 1e200 },
		"far from": func(v float64) float64 { return v + 1e10 },
	} {
		got, unimportant := effects(value)
		require.Empty(t, unimportant, name)
		for i, e := range got {
			require.Equal(t, want[i].Parameter, e.Parameter, name)
			require.Equal(t, want[i].Direction, e.Direction, name)
			require.InDelta(t, float64(want[i].Total), float64(e.Total), 0.01, name)
			require.InDelta(t, float64(want[i].TotalInterval.High), float64(e.TotalInterval.High), 0.02, name)
		}
	}
	rounded, unimportant := effects(func(v float64) float64 { return v + 1e15 }) // the values have an error of 1/16
	require.Equal(t, "All 40 values are equal, so that no parameter has an effect.", unimportant)
	for _, e := range rounded {
		require.False(t, math.IsNaN(float64(e.Total)))
	}
}

// The ends of the interval have the ranks 0.05(n+1) and 0.95(n+1). With them the interval contains 90 % of uniform
// numbers on average.
func TestSpreadRanks(t *testing.T) {
	for n, want := range map[int]Interval{1: {1, 1}, 2: {1, 2}, 19: {1, 19}, 32: {1.65, 31.35}, 1000: {50.05, 950.95}} {
		draws := make([][]float64, n)
		for k, rank := range random.New(1, "ranks", n).Perm(n) {
			draws[k] = []float64{0, float64(rank + 1)}
		}
		got := spread(draws, 1)
		require.InDelta(t, float64(want.Low), float64(got.Low), 1e-9, "%d draws", n)
		require.InDelta(t, float64(want.High), float64(got.High), 1e-9, "%d draws", n)
	}
	rng := random.New(1, "uniform", 0)
	const repeats = 2000
	var sum float64
	for range repeats {
		draws := make([][]float64, 32)
		for k := range draws {
			draws[k] = []float64{rng.Float64()}
		}
		i := spread(draws, 0)
		sum += float64(i.High - i.Low)
	}
	require.InDelta(t, 0.9, sum/repeats, 0.005)
}

// Importance in a mixture equals the importance of a function of independent shares that are divided by their sum.
func TestImportanceInAMixture(t *testing.T) {
	v, _ := mixtureView(t)
	effects, err := Importance(t.Context(), v, ImportanceOptions{Paths: -1})
	require.NoError(t, err)
	posterior, err := explaining(t.Context(), v)
	require.NoError(t, err)
	f := func(shares []float64) float64 { // a, b, c, heat
		x := mat.NewDense(1, 4, nil)
		sum := shares[0] + shares[1] + shares[2]
		for j := range 3 {
			x.Set(0, j, (shares[j]/sum*100+0.5)/101) // cells of 101 values
		}
		x.Set(0, 3, shares[3])
		y := make([]float64, 1)
		surrogate.Means(posterior, y, x)
		return v.Units.Relative(y[0])
	}
	const n = 4000
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func() []float64 { return []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()} }
	var sum, squares float64
	var jansen [4]float64
	for range n {
		a, b := draw(), draw()
		fa := f(a)
		sum, squares = sum+fa, squares+fa*fa
		for j := range jansen {
			other := slices.Clone(a)
			other[j] = b[j]
			d := fa - f(other)
			jansen[j] += d * d / (2 * n)
		}
	}
	variance := squares/n - sum*sum/n/n
	for _, e := range effects {
		j := slices.Index([]string{"a", "b", "c", "heat"}, e.Parameter)
		require.InDelta(t, jansen[j]/variance, float64(e.Total), 0.06, e.Parameter)
	}
}

// A point that violates a constraint without an excess keeps its place.
func TestImportanceKeepsPointsThatCannotBeMoved(t *testing.T) {
	s, err := space.New(space.Float("a", 0, 1), space.Float("b", 0, 1))
	require.NoError(t, err)
	s, err = s.Constrain(space.Condition{Text: "a - b >= 0.1", On: []string{"a", "b"}, Holds: func(p space.Point) bool { return p.Float("a")-p.Float("b") >= 0.1 }})
	require.NoError(t, err)
	points := newSaltelli(s, s.Parameters(), 64)
	for _, u := range [][]float64{{0.3, 0.6}, {0.6, 0.3}} {
		require.Equal(t, u, points.projected(mat.NewDense(1, 2, u)).RawRowView(0))
	}
}
