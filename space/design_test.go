package space

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

type sobolOracle struct {
	SobolColumns    []int       `json:"sobol_columns"`
	Sobol           [][]float64 `json:"sobol"` // times 2^30
	SobolFrom100000 [][]float64 `json:"sobol_from_100000"`
	HaltonColumns   []int       `json:"halton_columns"`
	Halton          [][]float64 `json:"halton"`
}

func readSobolOracle(t *testing.T) (o sobolOracle) {
	t.Helper()
	text, err := os.ReadFile("../testdata/space/sobol.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSobolMatchesSciPy(t *testing.T) {
	o := readSobolOracle(t)
	s := newSobolSequence(200000, maxSobol, nil)
	row := make([]float64, maxSobol)
	check := func(n int, want []float64) {
		s.point(row)
		for i, c := range o.SobolColumns {
			if got := row[c] * (1 << 30); got != want[i] {
				t.Errorf("point %d, dimension %d: %v, want %v", n, c+1, got, want[i])
			}
		}
	}
	for n, want := range o.Sobol {
		check(n, want)
	}
	s.jump(100000)
	for n, want := range o.SobolFrom100000 {
		check(100000+n, want)
	}
}

// jump sets a plain sequence so that point n is next.
func (s *sobolSequence) jump(n int) {
	gray := uint64(n-1) ^ uint64(n-1)>>1
	for d := range s.state {
		s.state[d] = 0
		for k := range s.columns[d] {
			if gray>>k&1 == 1 {
				s.state[d] ^= s.columns[d][k]
			}
		}
	}
	s.next = uint64(n)
}

// Every dimension of a scrambled net of 2^m points has one point in each of 2^m intervals.
// The first two dimensions form a (0,m,2)-net: one point in every elementary box of area
// 2^-m.
func TestScrambledSobolIsANet(t *testing.T) {
	const m, dim = 8, 1111
	for seed := range uint64(3) {
		x := Sobol(1<<m, dim, newRand(seed))
		for d := range dim {
			cells := make([]int, 1<<m)
			for i := range 1 << m {
				cells[int(x.At(i, d)*(1<<m))]++
			}
			if slices.Min(cells) != 1 {
				t.Fatalf("seed %d: dimension %d is not stratified", seed, d+1)
			}
		}
		for a := 0; a <= m; a++ {
			cells := make([]int, 1<<m)
			for i := range 1 << m {
				cells[int(x.At(i, 0)*float64(int(1)<<a))<<(m-a)|int(x.At(i, 1)*float64(int(1)<<(m-a)))]++
			}
			if slices.Min(cells) != 1 {
				t.Fatalf("seed %d: no (0,%d,2)-net at 2^%d × 2^%d boxes", seed, m, a, m-a)
			}
		}
	}
}

// Over many scramblings the first point is uniform, with mean ½ and variance 1/12.
func TestScrambledSobolIsUniform(t *testing.T) {
	const n = 4000
	rng := newRand(1)
	for d := range 3 {
		var sum, squares float64
		for range n {
			u := Sobol(1, 3, rng).At(0, d)
			sum += u
			squares += (u - 0.5) * (u - 0.5)
		}
		if mean := sum / n; math.Abs(mean-0.5) > 4/math.Sqrt(12*n) {
			t.Errorf("mean %v", mean)
		}
		if v := squares / n; math.Abs(v-1.0/12) > 4*math.Sqrt(1.0/180/n) {
			t.Errorf("variance %v", v)
		}
	}
}

// The integral of Π (1 + (x_j - ½)) is 1. Its root mean square error over scramblings is
// far below the Monte Carlo error for every low-discrepancy design.
func TestDesignsIntegrateBetterThanRandom(t *testing.T) {
	const n, dim, repeats = 256, 5, 20
	rmse := func(design func(n, dim int, rng *rand.Rand) *mat.Dense) float64 {
		var s float64
		for seed := range uint64(repeats) {
			x, mean := design(n, dim, newRand(seed)), 0.0
			for i := range n {
				f := 1.0
				for _, u := range x.RawRowView(i) {
					f *= 0.5 + u
				}
				mean += f / n
			}
			s += (mean - 1) * (mean - 1) / repeats
		}
		return math.Sqrt(s)
	}
	random := rmse(Uniform)
	for _, c := range []struct {
		name   string
		design func(n, dim int, rng *rand.Rand) *mat.Dense
		gain   float64
	}{{"Sobol", Sobol, 20}, {"Halton", Halton, 8}, {"LatinHypercube", LatinHypercube, 2}} {
		if got := rmse(c.design); got*c.gain > random {
			t.Errorf("%s: error %.2g, want %v times below the %.2g of uniform points", c.name, got, c.gain, random)
		}
	}
}

// discrepancy returns the squared centred L2 discrepancy (Hickernell 1998).
func discrepancy(x *mat.Dense) float64 {
	n, dim := x.Dims()
	d := math.Pow(13.0/12, float64(dim))
	for i := range n {
		p := 1.0
		for _, u := range x.RawRowView(i) {
			a := math.Abs(u - 0.5)
			p *= 1 + a/2 - a*a/2
		}
		d -= 2 * p / float64(n)
		for k := range n {
			q := 1.0
			for j := range dim {
				a, b := x.At(i, j)-0.5, x.At(k, j)-0.5
				q *= 1 + (math.Abs(a)+math.Abs(b)-math.Abs(a-b))/2
			}
			d += q / float64(n*n)
		}
	}
	return d
}

func TestDiscrepancyBelowRandom(t *testing.T) {
	for seed := range uint64(5) {
		sobol, random := discrepancy(Sobol(128, 4, newRand(seed))), discrepancy(Uniform(128, 4, newRand(seed)))
		if sobol*3 > random {
			t.Errorf("seed %d: %g, uniform points %g", seed, sobol, random)
		}
	}
}

func TestSequenceContinues(t *testing.T) {
	want := Sobol(37, 7, newRand(5))
	s := newSobolSequence(37, 7, newRand(5))
	got := mat.NewDense(37, 7, nil)
	got.Stack(s.points(20), s.points(17))
	if !mat.Equal(got, want) {
		t.Error("20 + 17 points differ from 37")
	}
}

func TestSobolBeyondThePublishedDimensions(t *testing.T) {
	x := Sobol(100, maxSobol+5, newRand(2))
	for i := range 100 {
		for _, u := range x.RawRowView(i) {
			if u < 0 || u >= 1 {
				t.Fatalf("coordinate %v", u)
			}
		}
	}
	if v := mat.Col(nil, maxSobol+3, x); slices.Min(v) > 0.2 || slices.Max(v) < 0.8 {
		t.Error("the last columns are not spread")
	}
}

func TestHaltonMatchesSciPy(t *testing.T) {
	o := readSobolOracle(t)
	x := Halton(len(o.Halton), 100, nil)
	for i, want := range o.Halton {
		for j, c := range o.HaltonColumns {
			if math.Abs(x.At(i, c)-want[j]) > 1e-15 {
				t.Errorf("point %d, dimension %d: %v, want %v", i, c+1, x.At(i, c), want[j])
			}
		}
	}
}

// In base b, n = b^m points are stratified, with and without scrambling.
func TestScrambledHaltonIsStratified(t *testing.T) {
	for j, base := range []int{2, 3, 5, 7} {
		x := Halton(base*base*base, 4, newRand(3))
		n, _ := x.Dims()
		cells := make([]int, n)
		for i := range n {
			cells[int(x.At(i, j)*float64(n))]++
		}
		if slices.Min(cells) != 1 {
			t.Errorf("base %d is not stratified", base)
		}
	}
}

func TestLatinHypercube(t *testing.T) {
	const n, dim = 50, 6
	x := LatinHypercube(n, dim, newRand(4))
	for j := range dim {
		cells := make([]int, n)
		for i := range n {
			cells[int(x.At(i, j)*n)]++
		}
		if slices.Min(cells) != 1 {
			t.Errorf("column %d is not stratified", j)
		}
	}
}

func TestDesignsAreDeterministic(t *testing.T) {
	for name, design := range map[string]func(n, dim int, rng *rand.Rand) *mat.Dense{
		"Sobol": Sobol, "Halton": Halton, "LatinHypercube": LatinHypercube, "Uniform": Uniform,
	} {
		a, b, other := design(30, 9, newRand(1)), design(30, 9, newRand(1)), design(30, 9, newRand(2))
		if !mat.Equal(a, b) {
			t.Errorf("%s: two runs with one seed differ", name)
		}
		if mat.Equal(a, other) {
			t.Errorf("%s: two seeds agree", name)
		}
		for _, u := range a.RawMatrix().Data {
			if u < 0 || u >= 1 {
				t.Errorf("%s: coordinate %v", name, u)
			}
		}
	}
}

func BenchmarkSobol(b *testing.B) {
	for b.Loop() {
		Sobol(1024, 20, newRand(1))
	}
}

func BenchmarkHalton(b *testing.B) {
	for b.Loop() {
		Halton(1024, 20, newRand(1))
	}
}
