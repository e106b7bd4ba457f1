package prior

import "gonum.org/v1/gonum/mat"

// backward adds to dtheta the gradient of Σ_ij kbar_ij k(x_i, x_j) with respect
// to log θ.
type backward func(dtheta []float64, kbar *mat.SymDense)

// taped is a kernel that keeps, from its Gram matrix, what the gradient needs.
// The fit evaluates both at every step.
type taped interface {
	// tape is Gram and returns ParamVJP at the same points. It keeps no
	// reference to dst.
	tape(dst *mat.SymDense, x *mat.Dense) backward
}

// gramTape is tape for any kernel.
func gramTape(k Kernel, dst *mat.SymDense, x *mat.Dense) backward {
	if t, ok := k.(taped); ok {
		return t.tape(dst, x)
	}
	k.Gram(dst, x)
	return func(dtheta []float64, kbar *mat.SymDense) { k.ParamVJP(dtheta, x, kbar) }
}
