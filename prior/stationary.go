package prior

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/vecmath"
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

// tile is how many points a pass over the rows of a matrix takes, so that they
// stay in the first cache.
const tile = 512

// pairs is points to take distances from, and 1/ℓ.
type pairs struct {
	vecmath.Packed
	inv []float64
}

func (k stationary) pairs(mem *memory, y *mat.Dense) *pairs {
	p, raw := &pairs{inv: inverse(k.spread(0))}, y.RawMatrix()
	p.Data = mem.take(raw.Rows * k.dim)
	p.Pack(raw.Data, raw.Rows, k.dim, raw.Stride)
	return p
}

// Gram implements Kernel.
func (k stationary) Gram(dst *mat.SymDense, x *mat.Dense) {
	n := checkPoints("points", x, k.dim)
	checkSym("Gram matrix", dst, n)
	to, p, scratch := k.pairs(nil, x), k.profile(), make([]float64, min(n, tile))
	for j := 0; j < n; j += tile {
		end := min(n, j+tile)
		for i := range end {
			row, from := upper(dst, i), max(i+1, j)
			if i >= j {
				row[0] = 1
			}
			part := row[from-i : end-i]
			s := scratch[:len(part)]
			to.SquaredDistances(s, x.RawRowView(i), to.inv, from)
			p.eval(part, nil, s)
		}
	}
}

// Cross implements Kernel.
func (k stationary) Cross(dst, x, y *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	to, p, scratch := k.pairs(nil, y), k.profile(), make([]float64, min(m, tile))
	for j := 0; j < m; j += tile {
		for i := range n {
			part := dst.RawRowView(i)[j:min(m, j+tile)]
			s := scratch[:len(part)]
			to.SquaredDistances(s, x.RawRowView(i), to.inv, j)
			p.eval(part, nil, s)
		}
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
	to, p := k.pairs(nil, y), k.profile()
	value, slope := make([]float64, m), make([]float64, m)
	to.pullCross(dx, x, kbar, func(i int) []float64 {
		to.SquaredDistances(slope, x.RawRowView(i), to.inv, 0)
		p.eval(value, slope, slope)
		return slope
	}, n, m)
}

// crossTape is CrossTape.
func (k stationary) crossTape(dst, x, y *mat.Dense) func(dx, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	to, p := k.pairs(nil, y), k.profile()
	slopes := make([]float64, n*m)
	for i := range n {
		slope := slopes[i*m : (i+1)*m]
		to.SquaredDistances(slope, x.RawRowView(i), to.inv, 0)
		p.eval(dst.RawRowView(i), slope, slope)
	}
	return func(dx, kbar *mat.Dense) {
		to.pullCross(dx, x, kbar, func(i int) []float64 { return slopes[i*m : (i+1)*m] }, n, m)
	}
}

// pullCross adds Σ_j kbar_ij ∂k(x_i,y_j)/∂x_i to row i of dx, given the slopes ∂k/∂s
// of each row.
func (p *pairs) pullCross(dx, x, kbar *mat.Dense, slopes func(i int) []float64, n, m int) {
	checkSize("gradient", dx, n, p.Dim)
	checkSize("kbar", kbar, n, m)
	sum, w := make([]float64, p.Dim), make([]float64, m)
	for i := range n {
		floats.MulTo(w, kbar.RawRowView(i), slopes(i))
		clear(sum)
		p.FirstMoments(sum, w, x.RawRowView(i), 0)
		g := dx.RawRowView(i)
		for c, v := range sum {
			g[c] += 2 * v * p.inv[c] * p.inv[c]
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
	k.tape(nil, nil, x)(dtheta, kbar)
}

// tape is Gram that returns its reverse-mode product; dst may be nil.
func (k stationary) tape(mem *memory, dst *mat.SymDense, x *mat.Dense) backward {
	n := checkPoints("points", x, k.dim)
	if dst != nil {
		checkSym("Gram matrix", dst, n)
	}
	to, p := k.pairs(mem, x), k.profile()
	rq, hasAlpha := p.(rationalQuadratic)
	// The slopes of the pairs i < j, and for the rational quadratic ∂k/∂log α.
	slopes := mem.take(n * (n - 1) / 2)
	var alphas []float64
	if hasAlpha {
		alphas = mem.take(len(slopes))
	}
	scratch, at := mem.take(n), 0
	for i := range n {
		m := n - 1 - i
		value, slope := scratch[:m], slopes[at:at+m]
		if dst != nil {
			row := upper(dst, i)
			row[0], value = 1, row[1:]
		}
		to.SquaredDistances(slope, x.RawRowView(i), to.inv, i+1)
		if hasAlpha {
			copy(alphas[at:], slope)
		}
		p.eval(value, slope, slope)
		if hasAlpha {
			rq.alphaSlope(alphas[at:at+m], value, alphas[at:at+m])
		}
		at += m
	}
	return func(dtheta []float64, kbar *mat.SymDense) {
		checkLen("dtheta", len(dtheta), len(k.params))
		checkSym("kbar", kbar, n)
		sum, at, alpha := make([]float64, k.dim), 0, 0.0
		for i := range n {
			bar := upper(kbar, i)[1:]
			if hasAlpha {
				alpha += floats.Dot(bar, alphas[at:at+len(bar)])
			}
			w := scratch[:len(bar)]
			floats.MulTo(w, bar, slopes[at:at+len(bar)])
			to.SecondMoments(sum, w, x.RawRowView(i), i+1)
			at += len(bar)
		}
		for c := range sum {
			sum[c] *= -4 * to.inv[c] * to.inv[c]
		}
		k.gather(dtheta, 0, sum)
		if hasAlpha {
			dtheta[k.width()] += 2 * alpha
		}
	}
}

func (k stationary) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
