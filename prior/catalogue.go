package prior

import (
	"fmt"
	"slices"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Names returns the names of the kernels that Parse accepts.
func Names() []string {
	names := make([]string, len(catalogue))
	for i, c := range catalogue {
		names[i] = c.name
	}
	return names
}

// Describe returns the formula of a kernel that Parse accepts and the keys of its
// arguments.
func Describe(name string) (formula string, arguments []string, err error) {
	for _, c := range catalogue {
		if c.name == name {
			return c.formula, slices.Clone(c.args), nil
		}
	}
	return "", nil, fmt.Errorf("%w: unknown kernel %q%s", ErrExpression, name, didyoumean.Hint(name, Names()))
}

var catalogue = []struct {
	name    string
	formula string // r² = Σ_j (x_j-x'_j)²/ℓ_j²
	args    []string
	build   func(dim int, shared bool, depth int) Kernel // nil for a number of inputs that the kernel does not accept
}{
	{"rbf", "exp(-r²/2), r² = Σ (x_j-x'_j)²/ℓ_j²", []string{"lengthscale", "ard"}, noDepth(newRBF)},
	{"matern12", "exp(-r)", []string{"lengthscale", "ard"}, noDepth(newMatern12)},
	{"matern32", "(1+√3 r) exp(-√3 r)", []string{"lengthscale", "ard"}, noDepth(newMatern32)},
	{"matern52", "(1+√5 r+5r²/3) exp(-√5 r)", []string{"lengthscale", "ard"}, noDepth(newMatern52)},
	{"rq", "(1+r²/2α)^-α", []string{"lengthscale", "alpha", "ard"}, noDepth(newRationalQuadratic)},
	{"periodic", "exp(-2 Σ sin²(π(x_j-x'_j)/p_j)/ℓ_j²)", []string{"lengthscale", "period", "ard"}, noDepth(newPeriodic)},
	{"linear", "offset + Σ x_j x'_j/ℓ_j²", []string{"lengthscale", "offset", "ard"}, noDepth(newLinear)},
	{"polynomial", "(offset + Σ x_j x'_j/ℓ_j²)^degree", []string{"degree", "lengthscale", "offset", "ard"}, newPolynomial},
	{"arccos", "covariance of an infinitely wide ReLU network of the given depth", []string{"depth", "weight", "bias"},
		func(dim int, _ bool, depth int) Kernel { return ArcCosine(dim, depth) }},
	{"potential", "covariance of grad Φ, kernel of Φ ℓ² exp(-r²/2), at two coordinates and a component, 0 or 1", []string{"lengthscale"}, ofVelocity(Potential)},
	{"stream", "covariance of rot Ψ, kernel of Ψ ℓ² exp(-r²/2), at two coordinates and a component, 0 or 1", []string{"lengthscale"}, ofVelocity(Stream)},
	{"white", "1 if x and x' are the same evaluation, else 0", nil, func(dim int, _ bool, _ int) Kernel { return White(dim) }},
	{"constant", "1", nil, func(dim int, _ bool, _ int) Kernel { return Constant(dim) }},
}

func noDepth(f func(dim int, shared bool) Kernel) func(int, bool, int) Kernel {
	return func(dim int, shared bool, _ int) Kernel { return f(dim, shared) }
}

func ofVelocity(f func() Kernel) func(int, bool, int) Kernel {
	return func(dim int, _ bool, _ int) Kernel {
		if dim != velocityInputs {
			return nil
		}
		return f()
	}
}
