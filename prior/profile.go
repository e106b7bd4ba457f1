package prior

import "github.com/functionspace/bo/internal/vecmath"

// profile maps the squared scaled distance s = Σ_j (x_j-x'_j)²/ℓ_j² to the value of a
// stationary kernel.
type profile interface {
	// eval writes k(s) to v and, if dv is not nil, dk/ds to dv. Either may be s.
	// If dk/ds has no limit at s = 0, dv is 0 there.
	eval(v, dv, s []float64)
}

// rbf is exp(-s/2).
type rbf struct{}

func (rbf) eval(v, dv, s []float64) { vecmath.RBF(v, dv, s) }

// matern12 is exp(-√s).
type matern12 struct{}

func (matern12) eval(v, dv, s []float64) { vecmath.Matern12(v, dv, s) }

// matern32 is (1+a)exp(-a), a = √(3s).
type matern32 struct{}

func (matern32) eval(v, dv, s []float64) { vecmath.Matern32(v, dv, s) }

// matern52 is (1+a+a²/3)exp(-a), a = √(5s).
type matern52 struct{}

func (matern52) eval(v, dv, s []float64) { vecmath.Matern52(v, dv, s) }

// rationalQuadratic is (1 + s/2α)^-α.
type rationalQuadratic struct{ alpha float64 }

func (p rationalQuadratic) eval(v, dv, s []float64) {
	for i, s := range s {
		v[i] = s / (2 * p.alpha)
	}
	if dv != nil {
		for i, t := range v {
			dv[i] = -0.5 / (1 + t)
		}
	}
	vecmath.Log1p(v, v)
	for i := range v {
		v[i] *= -p.alpha
	}
	vecmath.Exp(v, v)
	if dv != nil {
		for i, k := range v {
			dv[i] *= k
		}
	}
}

// alphaSlope writes dk/d log α to dst, given the values k. dst may be s.
func (p rationalQuadratic) alphaSlope(dst, k, s []float64) {
	ratio := make([]float64, len(s))
	for i, s := range s {
		t := s / (2 * p.alpha)
		ratio[i], dst[i] = t/(1+t), t
	}
	vecmath.Log1p(dst, dst)
	for i, k := range k {
		dst[i] = p.alpha * k * (ratio[i] - dst[i])
	}
}
