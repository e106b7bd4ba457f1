package runner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

const (
	// side is half the width of the box of a drawn table, on which a uniform number has
	// variance 1.
	side = 1.7320508075688772
	// deviation is the standard deviation of the noise of a drawn table.
	deviation = 0.1
	// held is the number of test rows of a drawn table.
	held = 500
)

// target draws a function and returns its values at the rows of x, which are in [-side,
// side]^d.
type target func(x *mat.Dense, rng *rand.Rand) []float64

// drawing draws tables of a number of training rows and held test rows. The target has
// variance 1 over the rows, and Gaussian noise; or it is the label 1 with probability
// 1/(1 + e^{-3f}).
type drawing struct {
	name      string
	dim, rows int
	f         target
	labels    bool
}

func (d drawing) table(seed uint64) *Table {
	rng := random.New(seed, "table "+d.name, 0)
	n := d.rows + held
	x := mat.NewDense(n, d.dim, nil)
	for i := range n {
		for j := range d.dim {
			x.Set(i, j, side*(2*rng.Float64()-1))
		}
	}
	t := &Table{X: x, Y: d.f(x, rng), Lo: make([]float64, d.dim), Hi: make([]float64, d.dim)}
	for j := range d.dim {
		t.Lo[j], t.Hi[j] = -side, side
	}
	for i, f := range t.Y {
		switch {
		case !d.labels:
			t.Y[i] += deviation * rng.NormFloat64()
		case rng.Float64() < 1/(1+math.Exp(-3*f)):
			t.Y[i] = 1
		default:
			t.Y[i] = 0
		}
	}
	if d.labels {
		t.Classes = 2
	}
	t.repeat(rowsFrom(d.rows, n))
	return t
}

// exactly returns draw for models that take inputs and targets without scaling.
func exactly(draw func(seed uint64) *Table) func(seed uint64) *Table {
	return func(seed uint64) *Table {
		t := draw(seed)
		t.Inputs, t.Outputs = surrogate.Raw, surrogate.Raw
		return t
	}
}

// kernel returns a kernel with variance 1 and a lengthscale relative to the box.
func kernel(name string, lengthscale float64, dim int) prior.Kernel {
	k, err := prior.Parse(fmt.Sprintf("%s(lengthscale=%v)", name, 2*side*lengthscale), dim)
	if err != nil {
		panic("runner: " + err.Error())
	}
	return k
}

// process draws jointly from a Gaussian process with mean 0 and variance 1. It costs
// O(n³).
func process(name string, lengthscale float64) target {
	return func(x *mat.Dense, rng *rand.Rand) []float64 {
		_, dim := x.Dims()
		f, err := prior.Process{Kernel: kernel(name, lengthscale, dim)}.Sample(1, x, rng)
		if err != nil {
			panic("runner: " + err.Error())
		}
		return f.RawRowView(0)
	}
}

// features is process for many rows: it draws 4096 random features.
func features(name string, lengthscale float64) target {
	return func(x *mat.Dense, rng *rand.Rand) []float64 {
		n, dim := x.Dims()
		f, err := prior.Process{Kernel: kernel(name, lengthscale, dim)}.Draw(1, 4096, rng)
		if err != nil {
			panic("runner: " + err.Error())
		}
		values := make([]float64, n)
		f[0].Eval(values, nil, x)
		return values
	}
}

// changing draws from an RBF process at the cubes of the inputs in [0,1], so that the
// function varies faster at larger inputs.
func changing(x *mat.Dense, rng *rand.Rand) []float64 {
	var cubes mat.Dense
	cubes.Apply(func(_, _ int, v float64) float64 {
		u := (v + side) / (2 * side)
		return side * (2*u*u*u - 1)
	}, x)
	return standard(process("rbf", 0.3)(&cubes, rng))
}

// jump draws two functions from an RBF process. The second holds beyond a curve, where 2 is
// added to it. The curve is a line in a random direction through a point near the centre,
// displaced by a third draw.
func jump(x *mat.Dense, rng *rand.Rand) []float64 {
	near, far, bend := process("rbf", 0.5)(x, rng), process("rbf", 0.5)(x, rng), process("rbf", 0.5)(x, rng)
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	a, b := side*(rng.Float64()-0.5), side*(rng.Float64()-0.5)
	for i := range near {
		if cos*(x.At(i, 0)-a)+sin*(x.At(i, 1)-b)+0.3*bend[i] > 0 {
			near[i] = far[i] + 2
		}
	}
	return standard(near)
}

// cells takes the value of the nearest of twelve centres, a standard normal number.
func cells(x *mat.Dense, rng *rand.Rand) []float64 {
	const count = 12
	n, dim := x.Dims()
	centres, value := mat.NewDense(count, dim, nil), make([]float64, count)
	for k := range count {
		for j := range dim {
			centres.Set(k, j, side*(2*rng.Float64()-1))
		}
		value[k] = rng.NormFloat64()
	}
	f := make([]float64, n)
	for i := range f {
		nearest := math.Inf(1)
		for k := range count {
			if d := floats.Distance(x.RawRowView(i), centres.RawRowView(k), 2); d < nearest {
				nearest, f[i] = d, value[k]
			}
		}
	}
	return standard(f)
}

// network draws a network of two layers of 50 tanh units, with weights of variance 4 over
// the fan-in and biases of variance 1.
func network(x *mat.Dense, rng *rand.Rand) []float64 {
	n, dim := x.Dims()
	net := &nn.Network{In: dim, Hidden: []int{50, 50}, Activation: nn.Tanh}
	weights := make([]float64, net.NumParams())
	random.Normal(weights, rng)
	for _, l := range net.Layers() {
		floats.Scale(2/math.Sqrt(float64(l.In)), weights[l.At:l.At+l.In*l.Out])
	}
	f := make([]float64, n)
	net.Forward(f, weights, x)
	return standard(f)
}

// standard shifts and scales values to mean 0 and variance 1. A constant is only shifted.
func standard(f []float64) []float64 {
	mean, sd := stat.MeanStdDev(f, nil)
	floats.AddConst(-mean, f)
	if sd > 0 {
		floats.Scale(1/sd, f)
	}
	return f
}

// moons draws 120 training rows and held test rows on two interleaving half circles, with
// noise of standard deviation 0.2.
func moons(seed uint64) *Table {
	rng := random.New(seed, "table moons", 0)
	const rows = 120
	n := rows + held
	t := &Table{X: mat.NewDense(n, 2, nil), Y: make([]float64, n), Classes: 2}
	for i := range n {
		sin, cos := math.Sincos(math.Pi * rng.Float64())
		if t.Y[i] = float64(rng.IntN(2)); t.Y[i] == 1 {
			sin, cos = 0.5-sin, 1-cos
		}
		t.X.SetRow(i, []float64{cos + 0.2*rng.NormFloat64(), sin + 0.2*rng.NormFloat64()})
	}
	for j := range 2 {
		column := mat.Col(nil, j, t.X)
		t.Lo, t.Hi = append(t.Lo, slices.Min(column)), append(t.Hi, slices.Max(column))
	}
	t.repeat(rowsFrom(rows, n))
	return t
}
