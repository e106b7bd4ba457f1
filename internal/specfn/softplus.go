package specfn

import "math"

// Softplus returns log(1+e^x) and its derivative 1/(1+e^{-x}).
func Softplus(x float64) (value, deriv float64) {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))), 1 / (1 + math.Exp(-x))
}

// SoftplusInverse returns the x with log(1+e^x) = y, for y > 0.
func SoftplusInverse(y float64) float64 { return y + math.Log(-math.Expm1(-y)) }
