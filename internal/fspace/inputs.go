package fspace

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
)

// Affine maps a dataset's inputs to those of a network: (x - Shift)·Scale.
type Affine struct {
	Shift, Scale []float64
}

// Apply returns the mapped rows of x.
func (a Affine) Apply(x *mat.Dense) *mat.Dense {
	m, d := x.Dims()
	out := mat.NewDense(m, d, nil)
	for i := range m {
		dst := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			dst[j] = (v - a.Shift[j]) * a.Scale[j]
		}
	}
	return out
}

// Pull turns gradients with respect to the network's inputs into gradients with
// respect to the dataset's.
func (a Affine) Pull(dx *mat.Dense) {
	m, _ := dx.Dims()
	for i := range m {
		row := dx.RawRowView(i)
		for j := range row {
			row[j] *= a.Scale[j]
		}
	}
}

// ScaleInputs centres the box and divides each input by the distance over which
// the prior varies along it, so that the network starts out as smooth as the
// prior in every direction, and blind to inputs that do not matter. No input
// spreads further than a uniform variable of unit variance, [-√3, √3], where
// tanh units still answer.
func ScaleInputs(k prior.Kernel, lo, hi []float64) Affine {
	d := len(lo)
	a := Affine{Shift: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		a.Shift[j] = (lo[j] + hi[j]) / 2
	}
	for j := range d {
		width := hi[j] - lo[j]
		a.Scale[j] = 1 / max(variationLength(k, a.Shift, j, width), width/(2*math.Sqrt(3)))
	}
	return a
}

// variationLength is the smallest distance s along input j, around mid, at which
// the variogram ½(k(a,a) + k(b,b)) - k(a,b) reaches 1-e^{-1/2} of the variance:
// the lengthscale of an RBF kernel. It looks up to ten widths far.
func variationLength(k prior.Kernel, mid []float64, j int, width float64) float64 {
	const steps = 120
	x, y := mat.NewDense(steps+1, len(mid), nil), mat.NewDense(steps+1, len(mid), nil)
	dist := make([]float64, steps+1)
	for i := range dist {
		dist[i] = width * math.Pow(10, -2+3*float64(i)/steps)
		x.SetRow(i, mid)
		y.SetRow(i, mid)
		x.Set(i, j, mid[j]-dist[i]/2)
		y.Set(i, j, mid[j]+dist[i]/2)
	}
	kx, ky := make([]float64, steps+1), make([]float64, steps+1)
	k.Diag(kx, x)
	k.Diag(ky, y)
	cross := mat.NewDense(1, 1, nil)
	for i := range dist {
		xi, yi := x.Slice(i, i+1, 0, len(mid)).(*mat.Dense), y.Slice(i, i+1, 0, len(mid)).(*mat.Dense)
		k.Cross(cross, xi, yi)
		variance := (kx[i] + ky[i]) / 2
		if variance-cross.At(0, 0) >= (1-math.Exp(-0.5))*variance {
			return dist[i]
		}
	}
	return dist[steps]
}
