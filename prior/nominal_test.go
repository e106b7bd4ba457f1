package prior

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// nominalInputs are a categorical of three values in two columns and a float.
var nominalInputs = []Input{
	{Name: "c", Columns: 2, Unit: 1, Values: 3, Distance: 1, Aperiodic: "categorical", Index: func(u []float64) int {
		if u[0] < 0.5 && u[1] < 0.5 {
			return 0
		}
		if u[0] > u[1] {
			return 1
		}
		return 2
	}},
	{Name: "x", First: 2, Columns: 1, Unit: 4},
}

// oneHot has categoricals of 3 and 200 values with a column per value, and a float between them.
const (
	oneHotFew, oneHotMany = 3, 200
	oneHotDim             = oneHotFew + 1 + oneHotMany
)

var oneHot = []Input{
	{Name: "few", Columns: oneHotFew, Unit: 1, Values: oneHotFew, Distance: math.Sqrt2, Index: largest},
	{Name: "x", First: oneHotFew, Columns: 1, Unit: 4},
	{Name: "many", First: oneHotFew + 1, Columns: oneHotMany, Unit: 1, Values: oneHotMany, Distance: math.Sqrt2, Index: largest},
}

func largest(u []float64) int {
	best := 0
	for i := range u {
		if u[i] > u[best] {
			best = i
		}
	}
	return best
}

// oneHotPoints returns encodings of n points.
func oneHotPoints(rng *rand.Rand, n int) *mat.Dense {
	x := mat.NewDense(n, oneHotDim, nil)
	for i := range n {
		x.Set(i, rng.IntN(oneHotFew), 1)
		x.Set(i, oneHotFew, rng.Float64())
		x.Set(i, oneHotFew+1+rng.IntN(oneHotMany/20), 1) // some values coincide
	}
	return x
}

// A kernel with a lengthscale per categorical is the kernel on a column per value with equal lengthscales. This
// holds by value and by column, and for the gradient too.
func TestOneLengthscalePerCategorical(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := oneHotPoints(rng, 9), oneHotPoints(rng, 5)
	kbar, cbar := symmetric(rng, 9), mat.NewDense(9, 5, normals(rng, 45))
	for _, name := range []string{"rbf", "matern12", "matern32", "matern52", "rq"} {
		plain := parsed(t, name, oneHotDim)
		theta := []float64{1.3}
		for j := range oneHotDim { // a distance of 1 is √2 in columns
			theta = append(theta, map[bool]float64{true: 0.7 * math.Sqrt2, false: 0.4}[j < oneHotFew])
			if j > oneHotFew {
				theta[j+1] = 0.9 * math.Sqrt2
			}
		}
		grouped := []float64{1.3, 0.7, 0.4, 0.9}
		if name == "rq" {
			theta, grouped = append(theta, 0.6), append(grouped, 0.6)
		}
		plain = plain.WithParams(theta)
		want, wantCross, all := mat.NewSymDense(9, nil), mat.NewDense(9, 5, nil), make([]float64, len(theta))
		plain.Gram(want, x)
		plain.Cross(wantCross, x, y)
		plain.ParamVJP(all, x, kbar)
		wantGrad := []float64{all[0], all[1] + all[2] + all[3], all[4], 0}
		for _, g := range all[5 : 5+oneHotMany] {
			wantGrad[3] += g
		}
		wantGrad = append(wantGrad, all[5+oneHotMany:]...)
		for _, byValue := range []bool{false, true} {
			k, err := parse(name, oneHotDim, oneHot, false, byValue)
			require.NoError(t, err)
			require.Equal(t, name, k.String())
			var names []string
			for _, p := range k.Params()[:4] {
				names = append(names, p.Name)
			}
			require.Equal(t, []string{"variance", "lengthscale[few]", "lengthscale[3]", "lengthscale[many]"}, names)
			k = k.WithParams(grouped)
			gram, cross, grad := mat.NewSymDense(9, nil), mat.NewDense(9, 5, nil), make([]float64, len(grouped))
			k.Gram(gram, x)
			k.Cross(cross, x, y)
			k.ParamVJP(grad, x, kbar)
			require.True(t, mat.EqualApprox(want, gram, 1e-13), name)
			require.True(t, mat.EqualApprox(wantCross, cross, 1e-13), name)
			require.InDeltaSlice(t, wantGrad, grad, 1e-12)

			dx, all := mat.NewDense(9, oneHotDim, nil), mat.NewDense(9, oneHotDim, nil)
			k.CrossVJP(dx, x, y, cbar)
			plain.CrossVJP(all, x, y, cbar)
			require.InDeltaSlice(t, mat.Col(nil, oneHotFew, all), mat.Col(nil, oneHotFew, dx), 1e-12)
			if byValue { // constant near the encodings
				require.Zero(t, mat.Norm(dx.Slice(0, 9, 0, oneHotFew), 1))
			} else {
				require.True(t, mat.EqualApprox(all, dx, 1e-12))
			}
		}
	}
}

// Numbers per column keep a lengthscale per column, and lists keep their form.
func TestLengthscalesOfListedCategoricals(t *testing.T) {
	for expr, want := range map[string]int{
		"rbf": 2, "rbf(ard=false)": 1, "rbf[c]": 1, "rbf[0,1]": 2, "rbf[0,x]": 2, "rbf[c,x](lengthscale=[1,2])": 2,
		"rbf(lengthscale=[1,2,3])": 3, "rbf[c](lengthscale=[1,2])": 2, "rbf(lengthscale=[1,2])": 2, "linear": 4, "linear[c]": 3,
	} {
		k, err := parse("1*"+expr, 3, nominalInputs, false, true)
		require.NoError(t, err, expr)
		require.Len(t, k.Params(), 1+want, expr)
		again, err := parse(k.String(), 3, nominalInputs, false, true)
		require.NoError(t, err, k.String())
		require.Equal(t, k.Params(), again.Params())
	}
	mixed := append(slices.Clone(nominalInputs), Input{Name: "few", First: 3, Columns: 3, Unit: 1, Aperiodic: "categorical"})
	for _, byValue := range []bool{false, true} {
		for expr, want := range map[string][]string{
			"rbf":                                   {"[c]", "[2]", "[3]", "[4]", "[5]"},
			"rbf[few,c]":                            {"[few:1]", "[few:2]", "[few:3]", "[c]"},
			"rbf[few,c](lengthscale=[1,2])":         {"[few:1]", "[few:2]", "[few:3]", "[c]"},
			"rbf[few,c](lengthscale=[1,2,3,4])":     {"[few:1]", "[few:2]", "[few:3]", "[c]"},
			"rbf[few,c](lengthscale=[1,2,3,4,5])":   {"[few:1]", "[few:2]", "[few:3]", "[c:1]", "[c:2]"},
			"rbf(lengthscale=[1,2,3,4,5,6])":        {"[0]", "[1]", "[2]", "[3]", "[4]", "[5]"},
			"matern12[few]*rbf(ard=false)+white[x]": {"[few:1]", "[few:2]", "[few:3]", ""},
		} {
			k, err := parse("1*"+expr, 6, mixed, false, byValue)
			require.NoError(t, err, expr)
			var got []string
			for _, p := range k.Params() {
				if _, index, ok := strings.Cut(p.Name, "lengthscale"); ok {
					got = append(got, index)
				}
			}
			require.Equal(t, want, got, expr)
			rng := rand.New(rand.NewPCG(1, 2))
			k, x := varied(k), points(rng, 6, 6)
			gram, cross := mat.NewSymDense(6, nil), mat.NewDense(6, 6, nil)
			k.Gram(gram, x)
			k.Cross(cross, x, x)
			require.InDelta(t, cross.At(1, 4), gram.At(1, 4), 1e-12)
		}
	}
	s := Spec{Inputs: nominalInputs, Lengthscale: []float64{1, 2, 3}}
	k, _, err := s.ByValue().Hyperparameters(3, false)
	require.NoError(t, err)
	require.Equal(t, parsed(t, "matern52", 3).Params()[1].Name, k.Params()[1].Name)
}

// Random features of categoricals, and of products with them, are unbiased.
func TestFeaturesOfCategoricals(t *testing.T) {
	for _, expr := range []string{"rbf", "matern52*rbf[x]", "rq[c]*linear"} {
		k, err := parse(expr, 3, nominalInputs, false, true)
		require.NoError(t, err)
		k = varied(k)
		x := dense([][]float64{{0, 0, 0.1}, {1, 0, 0.1}, {0, 1, 0.9}, {1, 0, 0.6}})
		want, mean := mat.NewSymDense(4, nil), mat.NewDense(4, 4, nil)
		k.Gram(want, x)
		const draws = 200
		for seed := range uint64(draws) {
			f, err := NewFeatures(k, 256, rand.New(rand.NewPCG(seed, 3)))
			require.NoError(t, err)
			phi, gram := mat.NewDense(4, f.Len(), nil), new(mat.Dense)
			f.Eval(phi, x)
			gram.Mul(phi, phi.T())
			gram.Scale(1.0/draws, gram)
			mean.Add(mean, gram)
		}
		for i := range 4 {
			for j := range 4 {
				require.InDelta(t, want.At(i, j), mean.At(i, j), 0.03*want.At(i, i), expr)
			}
		}
	}
}

// BenchmarkManyValues measures Gram matrices of three categoricals of 200 values by value, and
// by 600 columns.
func BenchmarkManyValues(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var inputs []Input
	for i := range 3 {
		inputs = append(inputs, Input{Name: string(rune('a' + i)), First: 200 * i, Columns: 200, Unit: 1, Values: 200, Distance: math.Sqrt2, Index: largest})
	}
	x := mat.NewDense(60, 600, nil)
	for i := range 60 {
		for j := range 3 {
			x.Set(i, 200*j+rng.IntN(200), 1)
		}
	}
	values, err := parse("matern52", 600, inputs, false, true)
	require.NoError(b, err)
	for name, k := range map[string]Kernel{"values": values, "columns": parsed(b, "matern52", 600)} {
		b.Run(name, func(b *testing.B) {
			tape, gram, theta := newTape(k, x), mat.NewSymDense(60, nil), []float64{}
			for _, p := range k.Params() {
				theta = append(theta, p.Value)
			}
			grad := make([]float64, len(theta))
			for b.Loop() {
				tape.gram(gram, theta)
				tape.pull(grad, gram)
			}
		})
	}
}
