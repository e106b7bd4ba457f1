package domain

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Affine maps a dataset's inputs to a network's inputs: (x - Shift)·Scale.
type Affine struct {
	Shift, Scale []float64
}

// Apply returns the mapped rows of x.
func (a Affine) Apply(x *mat.Dense) *mat.Dense {
	m, d := x.Dims()
	out := mat.NewDense(m, d, nil)
	a.ApplyTo(out, x)
	return out
}

// ApplyTo writes the mapped rows of x to dst.
func (a Affine) ApplyTo(dst, x *mat.Dense) {
	m, _ := x.Dims()
	for i := range m {
		to := dst.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			to[j] = (v - a.Shift[j]) * a.Scale[j]
		}
	}
}

// Pull converts gradients with respect to the network's inputs, in place, to gradients with
// respect to the dataset's inputs.
func (a Affine) Pull(dx *mat.Dense) {
	linalg.ScaleColumns(dx, dx, a.Scale)
}

// maxRange bounds the size of a scaled input. In a wider box the units of a network of
// usual size are too far apart.
const maxRange = 6

// ScaleInputs centres the box and divides each input by the distance over which the prior
// varies along it. The initial network is then as smooth as the prior in every direction
// and hardly depends on irrelevant inputs. Scaled inputs are limited to [-6, 6]. An input
// with equal bounds keeps its unit.
func ScaleInputs(k prior.Kernel, lo, hi []float64) Affine {
	d := len(lo)
	a := Affine{Shift: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		a.Shift[j] = (lo[j] + hi[j]) / 2
	}
	for j := range d {
		width := hi[j] - lo[j]
		if width == 0 {
			a.Scale[j] = 1
			continue
		}
		a.Scale[j] = 1 / max(variationLength(k, a.Shift, j, width), width/(2*maxRange))
	}
	return a
}

// UnitVariance maps the box to a box over which a uniform variable has variance 1. An input
// with equal bounds keeps its unit.
func UnitVariance(lo, hi []float64) Affine {
	a := Affine{Shift: make([]float64, len(lo)), Scale: slices.Repeat([]float64{1}, len(lo))}
	for j := range lo {
		a.Shift[j] = (lo[j] + hi[j]) / 2
		if w := hi[j] - lo[j]; w > 0 {
			a.Scale[j] = 2 * math.Sqrt(3) / w
		}
	}
	return a
}

// ZScore maps the rows of x to columns of mean 0 and standard deviation 1, with n-1 in the
// denominator. A constant column keeps its unit.
func ZScore(x *mat.Dense) Affine {
	n, d := x.Dims()
	a := Affine{Shift: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		s := surrogate.Standardize(mat.Col(make([]float64, n), j, x))
		a.Shift[j], a.Scale[j] = s.Mean, 1/s.SD
	}
	return a
}

// Inputs maps the box to [-spread, spread].
func (b Box) Inputs(spread float64) Affine {
	a := Affine{Shift: make([]float64, len(b.Lo)), Scale: make([]float64, len(b.Lo))}
	for j, lo := range b.Lo {
		width := b.Hi[j] - lo
		a.Shift[j], a.Scale[j] = lo+width/2, 2*spread/width
	}
	return a
}

// Spread returns the root mean square over the inputs of half the width of the scaled box.
func (a Affine) Spread(b Box) float64 {
	var sum float64
	for j, s := range a.Scale {
		half := s * (b.Hi[j] - b.Lo[j]) / 2
		sum += half * half
	}
	return math.Sqrt(sum / float64(len(a.Scale)))
}

// variationLength returns the smallest distance s along input j, around mid, at which the variogram γ(s)
// reaches 1-e^{-1/2} of the variance. The variogram is ½(k(a,a) + k(b,b)) - k(a,b). For an RBF kernel the
// result is the lengthscale. If the variogram has a maximum before, as for a periodic kernel, the level is
// relative to the first maximum. The search ends at ten widths.
func variationLength(k prior.Kernel, mid []float64, j int, width float64) float64 {
	const (
		steps = 120
		level = 0.3934693402873666 // 1-e^{-1/2}
		turn  = 0.99               // a value below this share of the maximum is no rounding error
	)
	a, b := mat.NewDense(1, len(mid), nil), mat.NewDense(1, len(mid), nil)
	a.SetRow(0, mid)
	b.SetRow(0, mid)
	var dist, gamma [steps + 1]float64
	va, vb, cross := make([]float64, 1), make([]float64, 1), mat.NewDense(1, 1, nil)
	highest := 0.0
	for i := range dist {
		dist[i] = width * math.Pow(10, -2+3*float64(i)/steps)
		a.Set(0, j, mid[j]-dist[i]/2)
		b.Set(0, j, mid[j]+dist[i]/2)
		k.Diag(va, a)
		k.Diag(vb, b)
		k.Cross(cross, a, b)
		variance := (va[0] + vb[0]) / 2
		gamma[i] = variance - cross.At(0, 0)
		if gamma[i] >= level*variance {
			return dist[i]
		}
		if gamma[i] < turn*highest && highest > 1e-6*variance {
			for n, g := range gamma[:i] {
				if g >= level*highest {
					return dist[n]
				}
			}
		}
		highest = max(highest, gamma[i])
	}
	return dist[steps]
}
