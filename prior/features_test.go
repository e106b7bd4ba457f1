package prior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/racetest"
)

// drawable excludes white noise, which features omit.
var drawable = []string{
	"rbf", "matern12", "matern32", "matern52", "rq", "periodic", "linear", "polynomial", "polynomial(degree=3)",
	"arccos", "constant", "potential", "potential+2*stream", "rbf[1]", "linear[0,2]", "2*rbf*periodic+linear+white", "rbf*linear", "matern32*rq[1]*linear",
	"constant*arccos", "constant*constant",
}

func featuresOf(t *testing.T, k Kernel, n int, rng *rand.Rand) Features {
	f, err := NewFeatures(k, n, rng)
	require.NoError(t, err)
	return f
}

// The kernel matrix of the features, averaged over many draws, equals the kernel within
// the Monte Carlo error.
func TestFeaturesAreUnbiased(t *testing.T) {
	const draws, n = 200, 4
	for _, expr := range drawable {
		rng := rand.New(rand.NewPCG(7, 8))
		k := varied(parsed(t, expr, 3))
		x := points(rng, n, 3)
		want := mat.NewDense(n, n, nil)
		k.Cross(want, x, x)
		sum, square := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for range draws {
			f := featuresOf(t, k, 128, rng)
			phi := mat.NewDense(n, f.Len(), nan(n*f.Len()))
			f.Eval(phi, x)
			var got, sq mat.Dense
			got.Mul(phi, phi.T())
			sum.Add(sum, &got)
			sq.MulElem(&got, &got)
			square.Add(square, &sq)
		}
		for i := range n {
			for j := range i + 1 {
				mean := sum.At(i, j) / draws
				se := math.Sqrt(max(0, square.At(i, j)/draws-mean*mean) / draws)
				require.InDelta(t, want.At(i, j), mean, 5*se+1e-9*(1+math.Abs(mean)), "%s (%d,%d)", expr, i, j)
			}
		}
	}
}

// Every scale of a product counts once, for Fourier features, products of features and
// Nyström features.
func TestFeaturesOfScaledProducts(t *testing.T) {
	many := Sum(RBF(2), Linear(2))
	for _, k := range []Kernel{
		ScaleBy(7, Product(ScaleBy(2, RBF(2)), ScaleBy(3, RBF(2)))),
		ScaleBy(7, Product(ScaleBy(2, Linear(2)), ScaleBy(3, Linear(2)), ScaleBy(0.5, Constant(2)))),
		ScaleBy(7, Product(ScaleBy(2, many), ScaleBy(3, many))),
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		x := kronecker(10, 2, rng)
		f := featuresOf(t, k, 256, rng)
		phi, want := mat.NewDense(10, f.Len(), nil), make([]float64, 10)
		f.Eval(phi, x)
		k.Diag(want, x)
		for i, v := range want {
			row := phi.RawRowView(i)
			require.InEpsilon(t, v, floats.Dot(row, row), 0.01, "%s", k)
		}
	}
}

// A constant factor is a number and adds no features.
func TestFeaturesOfConstantFactors(t *testing.T) {
	count := func(expr string) int {
		return featuresOf(t, parsed(t, expr, 3), 128, rand.New(rand.NewPCG(1, 2))).Len()
	}
	require.Equal(t, count("arccos"), count("constant*arccos"))
	require.Equal(t, count("matern52"), count("constant*matern52*constant"))
	require.Equal(t, count("constant"), count("constant*constant"))
}

// Features of velocities are correct for inputs far from the unit cube.
func TestVelocityFeaturesFarFromTheUnitCube(t *testing.T) {
	const draws, n = 300, 3
	for _, expr := range []string{"potential", "stream", "potential+2*stream"} {
		rng := rand.New(rand.NewPCG(5, 8))
		k, x := varied(parsed(t, expr, 3)), points(rng, n, 3)
		for i := range n {
			x.Set(i, 0, 20+6*x.At(i, 0))
			x.Set(i, 1, 6*x.At(i, 1)-9)
		}
		want, mean := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		k.Cross(want, x, x)
		for range draws {
			f := featuresOf(t, k, 128, rng)
			phi := mat.NewDense(n, f.Len(), nil)
			f.Eval(phi, x)
			var got mat.Dense
			got.Mul(phi, phi.T())
			got.Scale(1./draws, &got)
			mean.Add(mean, &got)
		}
		for i := range n {
			for j := range n {
				require.InDelta(t, want.At(i, j), mean.At(i, j), 0.05*math.Sqrt(want.At(i, i)*want.At(j, j)), expr)
			}
		}
	}
}

// Draws have the covariance of the kernel.
func TestDrawsHaveTheCovariance(t *testing.T) {
	racetest.SkipNumerical(t)
	const n = 4
	for _, expr := range []string{"matern52", "rbf*periodic+linear", "arccos(depth=3)", "arccos*rbf"} {
		rng := rand.New(rand.NewPCG(3, 8))
		k := varied(parsed(t, expr, 2))
		x := points(rng, n, 2)
		want := mat.NewDense(n, n, nil)
		k.Cross(want, x, x)
		draws, count := 2000, 64
		if expr == "arccos(depth=3)" {
			draws, count = 300, 256 // hidden layers of finite width are biased
		}
		functions, err := Process{Kernel: k, Mean: 0.7}.Draw(draws, count, rng)
		require.NoError(t, err)
		values := mat.NewDense(draws, n, nil)
		for i, f := range functions {
			f.Eval(values.RawRowView(i), nil, x)
		}
		checkMoments(t, expr, values, 0.7, want)

		exact, err := Process{Kernel: k, Mean: 0.7}.Sample(draws, x, rng)
		require.NoError(t, err)
		checkMoments(t, expr, exact, 0.7, want)
	}
}

func checkMoments(t *testing.T, name string, values *mat.Dense, mean float64, cov *mat.Dense) {
	draws, n := values.Dims()
	for i := range n {
		var m float64
		for s := range draws {
			m += (values.At(s, i) - mean) / float64(draws)
		}
		require.InDelta(t, 0, m, 5*math.Sqrt(cov.At(i, i)/float64(draws)), name)
		for j := range i + 1 {
			var sum, square float64
			for s := range draws {
				v := (values.At(s, i) - mean) * (values.At(s, j) - mean)
				sum, square = sum+v, square+v*v
			}
			sum /= float64(draws)
			se := math.Sqrt((square/float64(draws) - sum*sum) / float64(draws))
			require.InDelta(t, cov.At(i, j), sum, 5*se, "%s (%d,%d)", name, i, j)
		}
	}
}

func TestFeatureGradients(t *testing.T) {
	for _, expr := range append([]string{"arccos(depth=3)", "rbf*arccos", "white", "rbf*white"}, drawable...) {
		rng := rand.New(rand.NewPCG(2, 2))
		k := varied(parsed(t, expr, 3))
		f := featuresOf(t, k, 48, rng)
		require.Equal(t, 3, f.Dim())
		x := points(rng, 4, 3)
		w := normals(rng, f.Len())
		fn := Function{f, w, 0.3}
		value, grad := nan(4), mat.NewDense(4, 3, nan(12))
		fn.Eval(value, grad, x)

		if f.Len() > 0 {
			phi := mat.NewDense(4, f.Len(), nan(4*f.Len()))
			f.Eval(phi, x)
			for i := range 4 {
				require.InDelta(t, linalg.Dot(phi.RawRowView(i), w)+0.3, value[i], 1e-10*(1+math.Abs(value[i])), expr)
			}
		}
		v := make([]float64, 4)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			fn.Eval(v, nil, x)
			return v[0] + 2*v[1] + 3*v[2] + 4*v[3]
		}, x.RawMatrix().Data, scaleRows(grad).RawMatrix().Data, 2e-5), expr)
	}
}

func scaleRows(g *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(g)
	for i := range out.RawMatrix().Rows {
		row := out.RawRowView(i)
		for j := range row {
			row[j] *= float64(i + 1)
		}
	}
	return out
}

func TestFeatureVJP(t *testing.T) {
	for _, expr := range drawable {
		rng := rand.New(rand.NewPCG(2, 3))
		f := featuresOf(t, varied(parsed(t, expr, 3)), 32, rng)
		x := points(rng, 3, 3)
		bar := mat.NewDense(3, f.Len(), normals(rng, 3*f.Len()))
		dx := mat.NewDense(3, 3, nil)
		f.EvalVJP(dx, x, bar)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			phi := mat.NewDense(3, f.Len(), nil)
			f.Eval(phi, x)
			phi.MulElem(phi, bar)
			return mat.Sum(phi)
		}, x.RawMatrix().Data, dx.RawMatrix().Data, 2e-5), expr)
	}
}

// Nyström features are exact at their own points.
func TestNystrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	k, z := RBF(2), kronecker(12, 2, rng)
	f, err := Nystrom(k, z)
	require.NoError(t, err)
	phi, want := mat.NewDense(12, 12, nil), mat.NewDense(12, 12, nil)
	f.Eval(phi, z)
	k.Cross(want, z, z)
	var got mat.Dense
	got.Mul(phi, phi.T())
	require.True(t, mat.EqualApprox(want, &got, 1e-7))

	// Kernels without features of their own have Nyström features, with gradients.
	for _, k := range []Kernel{userKernel{Matern52(2)}, varied(Product(ArcCosine(2, 1), ArcCosine(2, 2), Matern32(2))), varied(Polynomial(2, 9))} {
		f := featuresOf(t, k, 20, rng)
		require.IsType(t, nystrom{}, f)
		require.Equal(t, 2, f.Dim())
		x, w, v := points(rng, 4, 2), normals(rng, f.Len()), make([]float64, 4)
		fn, grad := Function{Features: f, Weights: w}, mat.NewDense(4, 2, nan(8))
		fn.Eval(v, grad, x)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			fn.Eval(v, nil, x)
			return v[0] + 2*v[1] + 3*v[2] + 4*v[3]
		}, x.RawMatrix().Data, scaleRows(grad).RawMatrix().Data, 1e-5))
	}
}

// Nyström features of a kernel on an input with a unit are on points in this unit.
func TestNystromInUnits(t *testing.T) {
	k, err := ParseNamed("polynomial[age](degree=9,lengthscale=40,offset=1)", 2, []Input{{Name: "rate", Columns: 1, Unit: 1}, {Name: "age", First: 1, Columns: 1, Unit: 50}})
	require.NoError(t, err)
	f := featuresOf(t, k, 20, rand.New(rand.NewPCG(1, 1)))
	x := mat.NewDense(1, 2, []float64{0.5, 0.9}) // 45 years
	phi, diag := mat.NewDense(1, f.Len(), nil), make([]float64, 1)
	f.Eval(phi, x)
	k.Diag(diag, x)
	require.InEpsilon(t, diag[0], mat.Dot(phi.RowView(0), phi.RowView(0)), 0.01)
}

func BenchmarkFunction(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, expr := range []string{"matern52", "arccos(depth=3)"} {
		k, _ := Parse(expr, 6)
		fs, _ := Process{Kernel: k}.Draw(1, 1024, rng)
		for _, m := range []int{1, 256} {
			b.Run(fmt.Sprintf("%s/points=%d", expr, m), func(b *testing.B) {
				x, value, grad := points(rng, m, 6), make([]float64, m), mat.NewDense(m, 6, nil)
				for b.Loop() {
					fs[0].Eval(value, grad, x)
				}
			})
		}
	}
}
