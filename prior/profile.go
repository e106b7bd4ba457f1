package prior

import "math"

// profile is the map from squared scaled distance s = Σ_j (x_j-x'_j)²/ℓ_j² to
// the value of a stationary kernel.
type profile interface {
	// eval writes k(s) to v and, if dv is not nil, dk/ds to dv. Either may be s.
	// Where dk/ds has no limit at s = 0 it is 0 there.
	eval(v, dv, s []float64)
}

// rbf is exp(-s/2).
type rbf struct{}

func (rbf) eval(v, dv, s []float64) {
	for i, s := range s {
		k := math.Exp(-0.5 * s)
		v[i] = k
		if dv != nil {
			dv[i] = -0.5 * k
		}
	}
}

// matern12 is exp(-√s).
type matern12 struct{}

func (matern12) eval(v, dv, s []float64) {
	for i, s := range s {
		r := math.Sqrt(s)
		k := math.Exp(-r)
		v[i] = k
		if dv != nil {
			dv[i] = 0
			if r > 0 {
				dv[i] = -0.5 * k / r
			}
		}
	}
}

// matern32 is (1+a)exp(-a), a = √(3s).
type matern32 struct{}

func (matern32) eval(v, dv, s []float64) {
	for i, s := range s {
		a := math.Sqrt(3 * s)
		e := math.Exp(-a)
		v[i] = (1 + a) * e
		if dv != nil {
			dv[i] = -1.5 * e
		}
	}
}

// matern52 is (1+a+a²/3)exp(-a), a = √(5s).
type matern52 struct{}

func (matern52) eval(v, dv, s []float64) {
	for i, s := range s {
		a := math.Sqrt(5 * s)
		e := math.Exp(-a)
		v[i] = (1 + a + 5*s/3) * e
		if dv != nil {
			dv[i] = -5. / 6 * (1 + a) * e
		}
	}
}

// rationalQuadratic is (1 + s/2α)^-α.
type rationalQuadratic struct{ alpha float64 }

func (p rationalQuadratic) eval(v, dv, s []float64) {
	for i, s := range s {
		t := s / (2 * p.alpha)
		k := math.Exp(-p.alpha * math.Log1p(t))
		v[i] = k
		if dv != nil {
			dv[i] = -0.5 * k / (1 + t)
		}
	}
}

// alphaSlope is dk/d log α, with k given.
func (p rationalQuadratic) alphaSlope(k, s float64) float64 {
	t := s / (2 * p.alpha)
	return p.alpha * k * (t/(1+t) - math.Log1p(t))
}
