package specfn

import "math"

// LogisticNormal returns p = E[1/(1+e^{-f})] for f ~ N(mean, variance), with its
// derivatives with respect to both. variance must not be negative.
//
// It is a sum over a grid with step 0.6. With s² = variance, the terms are σ(mean + sz) φ(z) for s ≤ 1. For
// larger s they are Φ((mean-t)/s) σ'(t), because p is the probability that a logistic variable is below f. Both
// integrands are analytic at least π away from the real line, so the trapezoidal rule converges geometrically
// (Trefethen and Weideman 2014, theorem 5.1). Relative errors are below 1e-9, also for small p.
func LogisticNormal(mean, variance float64) (p, dmean, dvariance float64) {
	if mean > 0 {
		p, dmean, dvariance = LogisticNormal(-mean, variance)
		return 1 - p, dmean, -dvariance
	}
	const step = 0.6
	s := math.Sqrt(variance)
	if s <= 1 {
		for k := -15; k <= 15; k++ {
			z := step * float64(k)
			w := step * invSqrt2Pi * math.Exp(-z*z/2)
			q, slope := Logistic(mean + s*z)
			p += w * q
			dmean += w * slope
			dvariance += w * slope * (1 - 2*q) / 2
		}
		return p, dmean, dvariance
	}
	// The terms are largest at min(0, mean + s²).
	centre, reach := min(0, mean+variance), 36.0
	if centre < 0 {
		reach += 9 * s
	}
	first, last := int((centre-reach)/step), int((min(centre, 0)+reach)/step)
	for k := first; k <= last; k++ {
		t := step * float64(k)
		_, slope := Logistic(t)
		w, u := step*slope, (mean-t)/s
		phi := invSqrt2Pi * math.Exp(-u*u/2) / s
		p += w * math.Erfc(-u/math.Sqrt2) / 2
		dmean += w * phi
		dvariance -= w * phi * u / (2 * s)
	}
	return p, dmean, dvariance
}

// Logistic returns σ(f) = 1/(1+e^{-f}) and σ'(f) = σ(f)σ(-f).
func Logistic(f float64) (value, deriv float64) {
	e := math.Exp(-math.Abs(f))
	deriv = e / ((1 + e) * (1 + e))
	if f < 0 {
		return e / (1 + e), deriv
	}
	return 1 / (1 + e), deriv
}
