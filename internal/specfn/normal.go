package specfn

import "math"

const (
	logSqrt2Pi   = 0.918938533204672741780329736406 // ½ log 2π
	invSqrt2Pi   = 0.398942280401432677939946059934
	invSqrtPi    = 0.564189583547756286948079451561
	sqrt2OverPi  = 0.797884560802865355879892119869
	sqrtPiOver2  = 1.253314137315500251207882642406
	tailFrom     = 5  // continued fractions left of -tailFrom
	tailTerms    = 20 // full accuracy at tailFrom
	erfcxSeries  = 25 // asymptotic series of erfcx beyond this
	erfcxOverExp = -26.7
)

// Erfcx returns exp(x²)·erfc(x).
func Erfcx(x float64) float64 {
	switch {
	case x < erfcxOverExp:
		return math.Inf(1)
	case x < erfcxSeries:
		square := x * x
		rest := math.FMA(x, x, -square)
		e := math.Exp(square)
		return (e + e*rest) * math.Erfc(x)
	}
	// Σ (-1)^k (2k-1)!!/(2x²)^k, by Horner.
	u := 0.5 / x / x
	sum := 1.0
	for k := 8; k > 0; k-- {
		sum = 1 - float64(2*k-1)*u*sum
	}
	return invSqrtPi / x * sum
}

// millsTail returns, for t ≥ tailFrom, the two innermost-but-one levels of
// Laplace's continued fraction of the Mills ratio,
//
//	(1-Φ(t))/φ(t) = 1/(t + k1),  k1 = 1/(t + k2),  k2 = 2/(t + 3/(t + 4/(t + …))).
func millsTail(t float64) (k1, k2 float64) {
	f := (t + math.Sqrt(t*t+4*tailTerms)) / 2 // estimate of the omitted terms
	for k := tailTerms; k > 2; k-- {
		f = t + float64(k)/f
	}
	k2 = 2 / f
	return 1 / (t + k2), k2
}

// LogNormCDF returns log Φ(x) and its derivative φ(x)/Φ(x).
func LogNormCDF(x float64) (value, deriv float64) {
	switch {
	case x < -tailFrom:
		k1, _ := millsTail(-x)
		hazard := -x + k1
		return -x*x/2 - logSqrt2Pi - math.Log(hazard), hazard
	case x < -1:
		e := Erfcx(-x / math.Sqrt2)
		return math.Log(e/2) - x*x/2, sqrt2OverPi / e
	default:
		return math.Log1p(-math.Erfc(x/math.Sqrt2) / 2), hazard(x)
	}
}

// hazard returns φ(x)/Φ(x).
func hazard(x float64) float64 {
	if x > 0 {
		return invSqrt2Pi * math.Exp(-x*x/2) / (1 - math.Erfc(x/math.Sqrt2)/2)
	}
	return sqrt2OverPi / Erfcx(-x/math.Sqrt2)
}

// LogEI returns log h(z) and its derivative Φ(z)/h(z). Here h(z) = φ(z) + zΦ(z) is the expected improvement in
// units of the standard deviation (Ament et al. 2023, eq. 9). For very negative z the published form cancels;
// the function then uses h = φ k1/(|z| + k1) with k1 from the continued fraction of the Mills ratio.
func LogEI(z float64) (value, deriv float64) {
	switch {
	case z > -1:
		cdf := math.Erfc(-z/math.Sqrt2) / 2
		h := invSqrt2Pi*math.Exp(-z*z/2) + z*cdf
		return math.Log(h), cdf / h
	case z >= -tailFrom:
		mills := sqrtPiOver2 * Erfcx(-z/math.Sqrt2)
		rest := 1 + z*mills
		return math.Log(rest) - z*z/2 - logSqrt2Pi, mills / rest
	default:
		k1, _ := millsTail(-z)
		return -z*z/2 - logSqrt2Pi + math.Log(k1/(k1-z)), 1 / k1
	}
}

// EntropyReduction returns a(γ) = γφ(γ)/(2Φ(γ)) - log Φ(γ) and its derivative: the
// information, in nats, that a value with γ = (μ - y*)/s carries about the minimum
// y* (Wang and Jegelka 2017, eq. 6). It decreases from +∞ (as ½ log 2π + log|γ| - ½)
// to 0.
func EntropyReduction(gamma float64) (value, deriv float64) {
	if gamma < -tailFrom {
		t := -gamma
		k1, k2 := millsTail(t)
		return logSqrt2Pi + math.Log(t+k1) - t*k1/2, -(t + k1) / 2 * k1 * k2
	}
	logCDF, r := LogNormCDF(gamma)
	return gamma*r/2 - logCDF, -r / 2 * (1 + gamma*(gamma+r))
}
