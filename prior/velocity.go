package prior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// velocityInputs counts two coordinates and a component.
const velocityInputs = 3

// velocity is the covariance of a velocity field in the plane that derives from one
// function with an RBF kernel of lengthscale ℓ. A point (p,c) is the velocity at p
// along e = (1-c, c): c = 0 is the first component, 1 the second. With r = (p-p')/ℓ
//
//	k = [n·n' - (n·r)(n'·r)] exp(-|r|²/2),
//
// where n is e for a gradient, and e turned by a quarter for a rotation. Each
// component has variance 1, so the function has variance ℓ².
type velocity struct {
	leaf
	turned bool
}

// Potential is the covariance of grad Φ for a potential Φ with an RBF kernel: a
// velocity field without curl. Its three inputs are two coordinates with the same unit
// and the component, 0 or 1. Potential plus Stream, each scaled, is the Helmholtz
// kernel (Berlinghieri et al. 2023, section 4).
func Potential() Kernel { return newVelocity("potential", false) }

// Stream is the covariance of rot Ψ = (∂₂Ψ, -∂₁Ψ) for a stream function Ψ with an RBF
// kernel: a velocity field without divergence. It has the same inputs as Potential.
func Stream() Kernel { return newVelocity("stream", true) }

// HasComponent reports whether k contains Potential or Stream. One of its inputs is then a component, and
// two others are coordinates with the same unit.
func HasComponent(k Kernel) bool {
	switch k := k.(type) {
	case sum:
		return slices.ContainsFunc(k.terms, HasComponent)
	case product:
		return slices.ContainsFunc(k.factors, HasComponent)
	case scaled:
		return HasComponent(k.inner)
	case onInputs:
		return HasComponent(k.inner)
	case velocity:
		return true
	}
	return false
}

func newVelocity(name string, turned bool) Kernel {
	return velocity{leaf{name: name, dim: velocityInputs, params: []Param{lengthscaleParam("lengthscale", 2)}}, turned}
}

func (k velocity) WithParams(theta []float64) Kernel {
	k.leaf = k.with(theta)
	return k
}

func (k velocity) String() string { return term(k) }

// along returns n of a row, and its derivative with respect to c.
func (k velocity) along(row []float64) (n, dn [2]float64) {
	c := row[2]
	if k.turned {
		return [2]float64{-c, 1 - c}, [2]float64{-1, -1}
	}
	return [2]float64{1 - c, c}, [2]float64{-1, 1}
}

// pairing has the terms of k at two points.
type pairing struct {
	r      [2]float64
	nr, mr float64 // n·r and n'·r
	nm     float64 // n·n'
	g      float64 // exp(-|r|²/2)
}

func (p pairing) value() float64 { return (p.nm - p.nr*p.mr) * p.g }

// bySquare returns r·∂k/∂r.
func (p pairing) bySquare() float64 {
	return -(p.r[0]*p.r[0]+p.r[1]*p.r[1])*p.value() - 2*p.nr*p.mr*p.g
}

func pair(x, y []float64, n, m [2]float64, inverse float64) pairing {
	p := pairing{r: [2]float64{(x[0] - y[0]) * inverse, (x[1] - y[1]) * inverse}}
	p.nr, p.mr = n[0]*p.r[0]+n[1]*p.r[1], m[0]*p.r[0]+m[1]*p.r[1]
	p.nm = n[0]*m[0] + n[1]*m[1]
	p.g = math.Exp(-(p.r[0]*p.r[0] + p.r[1]*p.r[1]) / 2)
	return p
}

func (k velocity) inverse() float64 { return 1 / k.params[0].Value }

func (k velocity) Gram(dst *mat.SymDense, x *mat.Dense) {
	n := checkPoints("points", x, k.dim)
	checkSym("Gram matrix", dst, n)
	inverse := k.inverse()
	for i := range n {
		row, at := upper(dst, i), x.RawRowView(i)
		a, _ := k.along(at)
		for j := range row {
			other := x.RawRowView(i + j)
			b, _ := k.along(other)
			row[j] = pair(at, other, a, b, inverse).value()
		}
	}
}

func (k velocity) Cross(dst, x, y *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	inverse := k.inverse()
	for i := range n {
		row, at := dst.RawRowView(i), x.RawRowView(i)
		a, _ := k.along(at)
		for j := range row {
			other := y.RawRowView(j)
			b, _ := k.along(other)
			row[j] = pair(at, other, a, b, inverse).value()
		}
	}
}

func (k velocity) Diag(dst []float64, x *mat.Dense) {
	checkLen("diagonal", len(dst), checkPoints("points", x, k.dim))
	for i := range dst {
		n, _ := k.along(x.RawRowView(i))
		dst[i] = n[0]*n[0] + n[1]*n[1]
	}
}

func (k velocity) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("gradient", dx, n, k.dim)
	checkSize("kbar", kbar, n, m)
	inverse := k.inverse()
	for i := range n {
		to, at, bar := dx.RawRowView(i), x.RawRowView(i), kbar.RawRowView(i)
		a, da := k.along(at)
		for j, w := range bar {
			other := y.RawRowView(j)
			b, _ := k.along(other)
			p := pair(at, other, a, b, inverse)
			for c := range p.r {
				to[c] -= w * inverse * (p.r[c]*p.value() + p.g*(p.mr*a[c]+p.nr*b[c]))
			}
			to[2] += w * p.g * (da[0]*b[0] + da[1]*b[1] - (da[0]*p.r[0]+da[1]*p.r[1])*p.mr)
		}
	}
}

func (k velocity) DiagVJP(dx, x *mat.Dense, dbar []float64) {
	checkLen("dbar", len(dbar), checkPoints("points", x, k.dim))
	for i, w := range dbar {
		n, dn := k.along(x.RawRowView(i))
		dx.RawRowView(i)[2] += 2 * w * (n[0]*dn[0] + n[1]*dn[1])
	}
}

func (k velocity) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n := checkPoints("points", x, k.dim)
	checkLen("dtheta", len(dtheta), 1)
	checkSym("kbar", kbar, n)
	inverse := k.inverse()
	for i := range n {
		at := x.RawRowView(i)
		a, _ := k.along(at)
		for j, w := range upper(kbar, i)[1:] {
			other := x.RawRowView(i + 1 + j)
			b, _ := k.along(other)
			dtheta[0] -= 2 * w * pair(at, other, a, b, inverse).bySquare()
		}
	}
}

func (k velocity) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
