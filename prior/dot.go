package prior

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// dotProduct is (offset + Σ_j x_j x'_j/ℓ_j²)^degree.
type dotProduct struct {
	leaf
	degree int
}

// Linear is offset + Σ_j x_j x'_j/ℓ_j², the covariance of a random linear function.
// Its slopes have variance 1/ℓ_j² and its value at the origin has variance offset.
func Linear(dim int) Kernel { return newLinear(dim, false) }

// Polynomial is (offset + Σ_j x_j x'_j/ℓ_j²)^degree.
func Polynomial(dim, degree int) Kernel { return newPolynomial(dim, false, degree) }

// defaultDegree is the degree of a polynomial kernel without the argument degree.
const defaultDegree = 2

func newLinear(dim int, shared bool) Kernel {
	return newDotProduct(leaf{name: "linear", dim: dim, shared: shared}, 1)
}

func newPolynomial(dim int, shared bool, degree int) Kernel {
	if degree == 0 {
		degree = defaultDegree
	}
	return newDotProduct(leaf{name: "polynomial", dim: dim, shared: shared, args: "degree=" + strconv.Itoa(degree)}, degree)
}

func newDotProduct(l leaf, degree int) Kernel {
	l.params = perInput("lengthscale", l.dim, l.shared, func(name string) Param { return lengthscaleParam(name, l.dim) })
	l.params = append(l.params, unitParam("offset", tiny, huge))
	return dotProduct{l, degree}
}

func (k dotProduct) WithParams(theta []float64) Kernel {
	k.leaf = k.with(theta)
	return k
}

func (k dotProduct) String() string { return term(k) }

func (k dotProduct) offset() float64 { return k.params[k.width()].Value }

// weights returns 1/ℓ_j².
func (k dotProduct) weights() []float64 {
	w := inverse(k.spread(0))
	for j := range w {
		w[j] *= w[j]
	}
	return w
}

// base returns offset + Σ_j w_j a_j b_j.
func (k dotProduct) base(a, b, w []float64) float64 {
	s := k.offset()
	for j, v := range a {
		s += w[j] * v * b[j]
	}
	return s
}

// power returns b^degree and its derivative.
func (k dotProduct) power(b float64) (value, slope float64) {
	if k.degree == 1 {
		return b, 1
	}
	low := math.Pow(b, float64(k.degree-1))
	return low * b, float64(k.degree) * low
}

func (k dotProduct) Gram(dst *mat.SymDense, x *mat.Dense) {
	n := checkPoints("points", x, k.dim)
	checkSym("Gram matrix", dst, n)
	w := k.weights()
	for i := range n {
		for j, row := 0, upper(dst, i); j < len(row); j++ {
			row[j], _ = k.power(k.base(x.RawRowView(i), x.RawRowView(i+j), w))
		}
	}
}

func (k dotProduct) Cross(dst, x, y *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	w := k.weights()
	for i := range n {
		row := dst.RawRowView(i)
		for j := range row {
			row[j], _ = k.power(k.base(x.RawRowView(i), y.RawRowView(j), w))
		}
	}
}

func (k dotProduct) Diag(dst []float64, x *mat.Dense) {
	checkLen("diagonal", len(dst), checkPoints("points", x, k.dim))
	w := k.weights()
	for i := range dst {
		dst[i], _ = k.power(k.base(x.RawRowView(i), x.RawRowView(i), w))
	}
}

func (k dotProduct) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("gradient", dx, n, k.dim)
	checkSize("kbar", kbar, n, m)
	w := k.weights()
	for i := range n {
		xi, g := x.RawRowView(i), dx.RawRowView(i)
		for j, bar := range kbar.RawRowView(i) {
			yj := y.RawRowView(j)
			_, slope := k.power(k.base(xi, yj, w))
			bar *= slope
			for c, v := range yj {
				g[c] += bar * w[c] * v
			}
		}
	}
}

func (k dotProduct) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	n := checkPoints("points", x, k.dim)
	checkSize("gradient", dx, n, k.dim)
	checkLen("dbar", len(dbar), n)
	w := k.weights()
	for i, bar := range dbar {
		xi, g := x.RawRowView(i), dx.RawRowView(i)
		_, slope := k.power(k.base(xi, xi, w))
		for c, v := range xi {
			g[c] += 2 * bar * slope * w[c] * v
		}
	}
}

func (k dotProduct) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n := checkPoints("points", x, k.dim)
	checkLen("dtheta", len(dtheta), len(k.params))
	checkSym("kbar", kbar, n)
	w, ls, offset := k.weights(), make([]float64, k.dim), 0.0
	for i := range n {
		xi := x.RawRowView(i)
		for j, bar := range upper(kbar, i) {
			if j > 0 {
				bar *= 2
			}
			xj := x.RawRowView(i + j)
			_, slope := k.power(k.base(xi, xj, w))
			bar *= slope
			offset += bar
			for c, v := range xj {
				ls[c] -= 2 * bar * w[c] * v * xi[c]
			}
		}
	}
	k.gather(dtheta, 0, ls)
	dtheta[k.width()] += offset * k.offset()
}

func (k dotProduct) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
