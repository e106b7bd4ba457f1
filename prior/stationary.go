package prior

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// stationary is k(x,x') = g(s), s = Σ_j (x_j-x'_j)²/ℓ_j², with k(x,x) = 1. One
// Gram matrix costs O(n²d/2), one cross matrix O(nmd).
type stationary struct {
	leaf
	shape func(extra []Param) profile // extra: the hyper-parameters after the lengthscales
}

func newStationary(name string, dim int, shared bool, shape func([]Param) profile, extra ...Param) stationary {
	ls := perInput("lengthscale", dim, shared, func(name string) Param { return lengthscaleParam(name, dim) })
	return stationary{leaf{name: name, dim: dim, shared: shared, params: append(ls, extra...)}, shape}
}

func plain(p profile) func([]Param) profile { return func([]Param) profile { return p } }

// RBF is the squared-exponential kernel exp(-s/2), s = Σ_j (x_j-x'_j)²/ℓ_j², with
// a lengthscale per input.
func RBF(dim int) Kernel { return newRBF(dim, false) }

// Matern12 is exp(-√s), the Ornstein–Uhlenbeck kernel. Its gradient at
// coincident points is 0 by convention.
func Matern12(dim int) Kernel { return newMatern12(dim, false) }

// Matern32 is (1+√3s) exp(-√3s).
func Matern32(dim int) Kernel { return newMatern32(dim, false) }

// Matern52 is (1+√5s+5s/3) exp(-√5s).
func Matern52(dim int) Kernel { return newMatern52(dim, false) }

// RationalQuadratic is (1+s/2α)^-α, a mixture of RBF kernels over
// lengthscales.
func RationalQuadratic(dim int) Kernel { return newRationalQuadratic(dim, false) }

func newRBF(dim int, shared bool) Kernel { return newStationary("rbf", dim, shared, plain(rbf{})) }
func newMatern12(dim int, shared bool) Kernel {
	return newStationary("matern12", dim, shared, plain(matern12{}))
}
func newMatern32(dim int, shared bool) Kernel {
	return newStationary("matern32", dim, shared, plain(matern32{}))
}
func newMatern52(dim int, shared bool) Kernel {
	return newStationary("matern52", dim, shared, plain(matern52{}))
}
func newRationalQuadratic(dim int, shared bool) Kernel {
	shape := func(extra []Param) profile { return rationalQuadratic{extra[0].Value} }
	return newStationary("rq", dim, shared, shape, unitParam("alpha", 1e-2, 1e4))
}

// String implements Kernel.
func (k stationary) String() string { return term(k) }

// WithParams implements Kernel.
func (k stationary) WithParams(theta []float64) Kernel {
	k.leaf = k.with(theta)
	return k
}

func (k stationary) profile() profile { return k.shape(k.params[k.width():]) }

// Gram implements Kernel.
func (k stationary) Gram(dst *mat.SymDense, x *mat.Dense) {
	n := checkPoints("points", x, k.dim)
	checkSym("Gram matrix", dst, n)
	inv, p, raw := inverse(k.spread(0)), k.profile(), x.RawMatrix()
	for i := range n {
		row := upper(dst, i)
		row[0] = 1
		sqdist(row[1:], x.RawRowView(i), raw, i+1, inv)
		p.eval(row[1:], nil, row[1:])
	}
}

// Cross implements Kernel.
func (k stationary) Cross(dst, x, y *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	inv, p, raw := inverse(k.spread(0)), k.profile(), y.RawMatrix()
	for i := range n {
		row := dst.RawRowView(i)
		sqdist(row, x.RawRowView(i), raw, 0, inv)
		p.eval(row, nil, row)
	}
}

// Diag implements Kernel.
func (k stationary) Diag(dst []float64, x *mat.Dense) {
	checkLen("diagonal", len(dst), checkPoints("points", x, k.dim))
	for i := range dst {
		dst[i] = 1
	}
}

// CrossVJP implements Kernel.
func (k stationary) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	inv, p, raw := inverse(k.spread(0)), k.profile(), y.RawMatrix()
	value, slope := make([]float64, m), make([]float64, m)
	k.pullCross(dx, x, y, kbar, func(i int) []float64 {
		sqdist(slope, x.RawRowView(i), raw, 0, inv)
		p.eval(value, slope, slope)
		return slope
	}, n, m)
}

// crossTape is CrossTape.
func (k stationary) crossTape(dst, x, y *mat.Dense) func(dx, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	inv, p, raw := inverse(k.spread(0)), k.profile(), y.RawMatrix()
	slopes := make([]float64, n*m)
	for i := range n {
		slope := slopes[i*m : (i+1)*m]
		sqdist(slope, x.RawRowView(i), raw, 0, inv)
		p.eval(dst.RawRowView(i), slope, slope)
	}
	return func(dx, kbar *mat.Dense) {
		k.pullCross(dx, x, y, kbar, func(i int) []float64 { return slopes[i*m : (i+1)*m] }, n, m)
	}
}

// pullCross adds Σ_j kbar_ij ∂k(x_i,y_j)/∂x_i to row i of dx, given the slopes ∂k/∂s
// of each row.
func (k stationary) pullCross(dx, x, y, kbar *mat.Dense, slopes func(i int) []float64, n, m int) {
	checkSize("gradient", dx, n, k.dim)
	checkSize("kbar", kbar, n, m)
	inv, raw, sum := inverse(k.spread(0)), y.RawMatrix(), make([]float64, k.dim)
	for i := range n {
		xi, slope := x.RawRowView(i), slopes(i)
		clear(sum)
		for j, w := range kbar.RawRowView(i) {
			w *= slope[j]
			if w == 0 {
				continue
			}
			yj := raw.Data[j*raw.Stride : j*raw.Stride+k.dim]
			for c, v := range yj {
				sum[c] += w * (xi[c] - v)
			}
		}
		g := dx.RawRowView(i)
		for c, v := range sum {
			g[c] += 2 * v * inv[c] * inv[c]
		}
	}
}

// DiagVJP implements Kernel: the diagonal is constant.
func (k stationary) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	n := checkPoints("points", x, k.dim)
	checkSize("gradient", dx, n, k.dim)
	checkLen("dbar", len(dbar), n)
}

// ParamVJP implements Kernel.
func (k stationary) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	k.tape(nil, x)(dtheta, kbar)
}

// tape is Gram that returns its reverse-mode product; dst may be nil.
func (k stationary) tape(dst *mat.SymDense, x *mat.Dense) backward {
	n := checkPoints("points", x, k.dim)
	if dst != nil {
		checkSym("Gram matrix", dst, n)
	}
	inv, p, raw := inverse(k.spread(0)), k.profile(), x.RawMatrix()
	rq, hasAlpha := p.(rationalQuadratic)
	// The slopes of the pairs i < j, and for the rational quadratic ∂k/∂log α.
	slopes := make([]float64, n*(n-1)/2)
	var alphas, s []float64
	if hasAlpha {
		alphas, s = make([]float64, len(slopes)), make([]float64, n)
	}
	value, at := make([]float64, n), 0
	for i := range n {
		m := n - 1 - i
		value, slope := value[:m], slopes[at:at+m]
		if dst != nil {
			row := upper(dst, i)
			row[0], value = 1, row[1:]
		}
		sqdist(slope, x.RawRowView(i), raw, i+1, inv)
		copy(s, slope)
		p.eval(value, slope, slope)
		if hasAlpha {
			for j, v := range value {
				alphas[at+j] = rq.alphaSlope(v, s[j])
			}
		}
		at += m
	}
	return func(dtheta []float64, kbar *mat.SymDense) {
		checkLen("dtheta", len(dtheta), len(k.params))
		checkSym("kbar", kbar, n)
		sum, at, alpha := make([]float64, k.dim), 0, 0.0
		for i := range n {
			xi := x.RawRowView(i)
			for j, w := range upper(kbar, i)[1:] {
				if hasAlpha {
					alpha += w * alphas[at]
				}
				w *= slopes[at]
				at++
				if w == 0 {
					continue
				}
				row := raw.Data[(i+1+j)*raw.Stride : (i+1+j)*raw.Stride+k.dim]
				for c, v := range row {
					v -= xi[c]
					sum[c] += w * v * v
				}
			}
		}
		for c := range sum {
			sum[c] *= -4 * inv[c] * inv[c]
		}
		k.gather(dtheta, 0, sum)
		if hasAlpha {
			dtheta[k.width()] += 2 * alpha
		}
	}
}

// sqdist writes s_j = Σ_c ((a_c - y_jc)·inv_c)² for the rows y_from, y_from+1, …,
// and 1e300 for what is larger, so that no profile meets an infinity.
func sqdist(s, a []float64, y blas64.General, from int, inv []float64) {
	d := len(a)
	inv = inv[:d]
	at := from * y.Stride
	for j := range s {
		row := y.Data[at : at+d : at+d]
		at += y.Stride
		var sum float64
		for c, v := range row {
			t := (a[c] - v) * inv[c]
			sum += t * t
		}
		if sum > 1e300 {
			sum = 1e300
		}
		s[j] = sum
	}
}

func (k stationary) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
