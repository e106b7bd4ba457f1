package surrogatetest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// smooth returns n standardised values of a smooth function at points of the unit
// cube.
func smooth(n, dim int) surrogate.Dataset {
	rng := random.New(2, "data", n)
	d := surrogate.Dataset{X: mat.NewDense(n, dim, nil), Y: make([]float64, n), Lo: filled(dim, 0), Hi: filled(dim, 1)}
	for i := range n {
		row := d.X.RawRowView(i)
		for j := range row {
			row[j] = rng.Float64()
			d.Y[i] += math.Sin(float64(3+j)*row[j]) / float64(1+j)
		}
		d.Y[i] += 0.05 * rng.NormFloat64()
	}
	if n > 1 {
		d.Y = surrogate.Standardize(d.Y).Apply(nil, d.Y)
	}
	return d
}

// points returns m rows in the unit cube, away from the data.
func points(m, dim int) *mat.Dense {
	rng := random.New(3, "points", m)
	x := mat.NewDense(m, dim, nil)
	for i := range m {
		for j := range dim {
			x.Set(i, j, 0.05+0.9*rng.Float64())
		}
	}
	return x
}

// pairs returns rows in pairs of close neighbours.
func pairs(m, dim int) *mat.Dense {
	x := points(m, dim)
	for i := 1; i < m; i += 2 {
		for j := range dim {
			x.Set(i, j, x.At(i-1, j)+0.03)
		}
	}
	return x
}

func clone(d surrogate.Dataset) surrogate.Dataset {
	d.X = mat.DenseCopyOf(d.X)
	d.Y, d.Lo, d.Hi = slices.Clone(d.Y), slices.Clone(d.Lo), slices.Clone(d.Hi)
	return d
}
