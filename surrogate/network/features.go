package network

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Periodic returns, for each column x_j of n, the columns sin 2πx_j/P_j of all j, then the columns
// cos 2πx_j/P_j. Functions of these have the periods P_j. One period stands for all columns.
func (n Node) Periodic(periods ...float64) Node {
	if !n.valid() {
		return n
	}
	d := n.Width()
	if len(periods) == 1 {
		periods = slices.Repeat(periods, d)
	}
	if len(periods) != d {
		return n.fail("Periodic of %d columns with %d periods", d, len(periods))
	}
	omega := mat.NewDiagDense(d, nil)
	for j, p := range periods {
		if !(p > 0) || math.IsInf(p, 0) {
			return n.fail("Periodic with the period %v, want a positive number", p)
		}
		omega.SetDiag(j, 2*math.Pi/p)
	}
	return n.Fourier(omega)
}

// Fourier returns the columns of sin(n·Ω), then the columns of cos(n·Ω) (Tancik et al. 2020). Ω is a fixed
// matrix of frequencies with a row for each column of n.
func (n Node) Fourier(omega mat.Matrix) Node {
	if !n.valid() {
		return n
	}
	if omega == nil {
		return n.fail("Fourier with frequencies that are nil")
	}
	r, c := omega.Dims()
	if r != n.Width() {
		return n.fail("Fourier of %d columns with %d rows of frequencies", n.Width(), r)
	}
	twice, phase := mat.NewDense(r, 2*c, nil), make([]float64, 2*c)
	twice.Augment(omega, omega)
	for j := range c {
		phase[c+j] = math.Pi / 2
	}
	return n.Affine(twice, phase).Apply(Sin)
}

// FullyConnected returns a network with the given hidden widths, the activation after each hidden
// layer, and one linear output. bias is the standard deviation of the initial hidden biases.
func FullyConnected(hidden []int, f Activation, bias float64) Func {
	hidden = slices.Clone(hidden)
	return func(x Node) Node {
		for _, h := range hidden {
			x = x.Dense(h, bias).Apply(f)
		}
		return x.Dense(1, 0)
	}
}

// Helmholtz returns the network of a velocity field in the plane,
//
//	v = grad Φ + rot Ψ,  rot Ψ = (∂₂Ψ, -∂₁Ψ),
//
// with a potential Φ and a stream function Ψ. Its three inputs are two coordinates in the same unit and the
// component, 0 or 1, as of the kernels potential and stream; f is the velocity along the component. Without Φ
// (nil) the field has no divergence, without Ψ (nil) it has no curl. The output biases of Φ and Ψ have no
// effect.
func Helmholtz(potential, stream Func) Func {
	return func(x Node) Node {
		if !x.valid() {
			return x
		}
		if x.Width() != 3 || potential == nil && stream == nil {
			return x.fail("Helmholtz of %d inputs, want 2 coordinates and the component, and a potential or a stream function", x.Width())
		}
		p, c := x.Columns(0, 2), x.Columns(2, 3)
		along := func(f Func, slope, at []float64) Node {
			return f(p).Along(p, c.Affine(mat.NewDense(1, 2, slope), at))
		}
		switch {
		case stream == nil:
			return along(potential, []float64{-1, 1}, []float64{1, 0}) // (1-c, c)
		case potential == nil:
			return along(stream, []float64{-1, -1}, []float64{0, 1}) // (-c, 1-c)
		}
		return along(potential, []float64{-1, 1}, []float64{1, 0}).Add(along(stream, []float64{-1, -1}, []float64{0, 1}))
	}
}
