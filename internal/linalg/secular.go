package linalg

import "math"

// root returns λ_j, the root of
//
//	f(λ) = 1/ρ + Σ_i z_i²/(d_i - λ)
//
// between d_j and d_{j+1} (for the last root d_j + ρ|z|²). It writes d_i - λ_j to gaps,
// each accurate to a few units in the last place. It represents λ relative to the
// nearer of the two poles. The next estimate solves the interpolation
//
//	f(λ + η) ≈ c + s/(d_j - λ - η) + t/(d_{j+1} - λ - η)
//
// with the values and slopes of the sums up to d_j and from d_{j+1} (Bunch, Nielsen and
// Sorensen 1978). If the estimate leaves the interval, root bisects the interval.
func (u *update) root(j int, gaps []float64) float64 {
	k := len(u.d)
	if k == 1 {
		shift := u.rho * u.z[0] * u.z[0]
		gaps[0] = -shift
		return u.d[0] + shift
	}
	// p and q are the poles of the interpolation, between the two sums.
	p, last := j, j == k-1
	origin, lo, hi := u.d[j], 0.0, 0.0
	var x float64 // λ - origin
	var at sums
	if last {
		p = j - 1
		for _, z := range u.z {
			hi += z * z
		}
		hi *= u.rho
		x = hi / 2
		at = u.sums(gaps, p, origin, x)
	} else {
		width := u.d[j+1] - origin
		x = width / 2
		at = u.sums(gaps, p, origin, x)
		if at.f > 0 {
			hi = x
		} else { // relative to the other pole
			origin = u.d[j+1]
			lo, x = -x, -x
		}
	}
	q := p + 1
	for range 200 {
		if math.Abs(at.f) <= at.rounding {
			break
		}
		if at.f < 0 {
			lo = x
		} else {
			hi = x
		}
		a, b := gaps[p], gaps[q] // distances from λ to the poles
		c := at.f - a*at.slopeP - b*at.slopeQ
		next := x + step(c, (a+b)*at.f-a*b*(at.slopeP+at.slopeQ), a*b*at.f, last)
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if next == x || next == lo || next == hi {
			break
		}
		x = next
		at = u.sums(gaps, p, origin, x)
	}
	return origin + x
}

// step returns the root of c η² - a η + b between the poles or, for the last
// eigenvalue, beyond them.
func step(c, a, b float64, last bool) float64 {
	r := math.Sqrt(max(0, a*a-4*b*c))
	if last {
		r = -r
	}
	if (a <= 0) != last {
		return (a - r) / (2 * c)
	}
	return 2 * b / (a + r)
}

// sums has f, the slopes of its sums up to pole p and after it, and a bound on the
// rounding error of f.
type sums struct{ f, slopeP, slopeQ, rounding float64 }

// sums evaluates f at origin + x, and writes d_i - origin - x.
func (u *update) sums(gaps []float64, p int, origin, x float64) sums {
	var at sums
	var below, above float64
	for i, z := range u.z[:p+1] {
		g := (u.d[i] - origin) - x
		gaps[i] = g
		t := z / g
		below += z * t
		at.slopeP += t * t
	}
	for i := len(u.z) - 1; i > p; i-- {
		g := (u.d[i] - origin) - x
		gaps[i] = g
		t := u.z[i] / g
		above += u.z[i] * t
		at.slopeQ += t * t
	}
	at.f = 1/u.rho + below + above
	at.rounding = 8 * 0x1p-53 * (1/u.rho + math.Abs(below) + math.Abs(above))
	return at
}
