package network

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Architecture defines a network for each number of inputs. [Func] implements it.
type Architecture interface {
	// Network returns the network of d inputs, or an error if there is none.
	Network(d int) (Network, error)
}

// Network is a function f(x,w) of d inputs x and p weights w, with a continuous derivative with
// respect to (x,w) of J = ∂f/∂w. It is immutable and safe for concurrent use. Points are the rows of
// an m×d matrix. Wrong sizes panic.
type Network interface {
	// NumParams returns p.
	NumParams() int

	// Linear returns the number k of the last weights in which, together, f is an affine function. They are,
	// for example, the weights of a linear output layer. k may be 0. Methods with a full covariance of these
	// weights need k ≥ 1 (tfsvi, hmc).
	Linear() int

	// Init draws p initial weights, at which f is about mean if the network permits it.
	Init(mean float64, rng *rand.Rand) []float64

	// Record evaluates the network at the rows of x. The Tape does not refer to w or x.
	Record(w []float64, x *mat.Dense) Tape
}

// Tape holds a network with p weights w at the m rows x_i of a matrix with d columns. J(x) is the
// row ∂f(x,w)/∂w. Methods only read the Tape and may run concurrently.
type Tape interface {
	// Value returns f(x_i,w), of length m. The caller must not change it.
	Value() []float64

	// Jacobian writes J to dst, m×p.
	Jacobian(dst *mat.Dense)

	// JVP writes J(x_i)·u to dst, of length m, for a u of length p.
	JVP(dst, u []float64)

	// VJP adds Σ_i bar_i J(x_i) to dw, of length p.
	VJP(dw, bar []float64)

	// InputGrad writes ∂f/∂x to dx, m×d.
	InputGrad(dx *mat.Dense)

	// TangentGrad adds the gradient of Σ_i J(x_i)·u_i, with u_i row i of u (m×p). It adds the gradient with
	// respect to w to dw, and with respect to x to dx. Either may be nil.
	TangentGrad(dw []float64, dx, u *mat.Dense)
}
