package prior

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/vecmath"
	"github.com/functionspace/bo/internal/workspace"
)

// stationary is k(x,x') = g(s), s = Σ_j (x_j-x'_j)²/ℓ_j², with k(x,x) = 1. A Gram
// matrix costs O(n²d/2), a cross matrix O(nmd).
type stationary struct {
	leaf
	shape  func(extra []Param) profile // extra: the hyperparameters after the lengthscales
	values []int                       // number of values of each nominal input, 0 for an ordered one; nil if all are ordered
}

func newStationary(name string, dim int, shared bool, shape func([]Param) profile, extra ...Param) stationary {
	ls := perInput("lengthscale", dim, shared, func(name string) Param { return lengthscaleParam(name, dim) })
	return stationary{leaf{name: name, dim: dim, shared: shared, params: append(ls, extra...)}, shape, nil}
}

func plain(p profile) func([]Param) profile { return func([]Param) profile { return p } }

// RBF is the squared-exponential kernel exp(-s/2), s = Σ_j (x_j-x'_j)²/ℓ_j², with
// a lengthscale per input.
func RBF(dim int) Kernel { return newRBF(dim, false) }

// Matern12 is exp(-√s), the Ornstein–Uhlenbeck kernel, with s as in RBF. Its gradient at
// coincident points is 0 by convention.
func Matern12(dim int) Kernel { return newMatern12(dim, false) }

// Matern32 is (1+√(3s)) exp(-√(3s)), with s as in RBF.
func Matern32(dim int) Kernel { return newMatern32(dim, false) }

// Matern52 is (1+√(5s)+5s/3) exp(-√(5s)), with s as in RBF.
func Matern52(dim int) Kernel { return newMatern52(dim, false) }

// RationalQuadratic is (1+s/(2α))^-α, with s as in RBF: a mixture of RBF kernels over
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

// tile is the number of points in a pass over the rows of a matrix. They fit in the
// first-level cache.
const tile = 512

// pairs computes distances to packed points, given 1/ℓ.
type pairs struct {
	vecmath.Packed
	inv     []float64 // 0 for a nominal input
	nominal []nominal
}

// pairs returns the distances to y. The result uses memory from mem.
func (k stationary) pairs(mem *workspace.Memory, y *mat.Dense) pairs {
	raw := y.RawMatrix()
	p := pairs{inv: mem.Floats(k.dim), nominal: k.nominals()}
	p.Data = mem.Floats(raw.Rows * k.dim)
	p.scale(k)
	p.Pack(raw.Data, raw.Rows, k.dim, raw.Stride)
	return p
}

// inverse writes 1/ℓ for each input.
func (k stationary) inverse(dst []float64) {
	for j := range dst {
		dst[j] = 1 / k.params[k.index(j)].Value
	}
}

// Gram implements Kernel.
func (k stationary) Gram(dst *mat.SymDense, x *mat.Dense) {
	n := checkPoints("points", x, k.dim)
	checkSym("Gram matrix", dst, n)
	mem := workspace.Borrow()
	defer mem.Return()
	to, p, distances := k.pairs(mem, x), k.profile(), mem.Floats(min(n, tile))
	for j := 0; j < n; j += tile {
		end := min(n, j+tile)
		for i := range end {
			row, from := upper(dst, i), max(i+1, j)
			if i >= j {
				row[0] = 1
			}
			part := row[from-i : end-i]
			s := distances[:len(part)]
			to.distances(s, x.RawRowView(i), from)
			p.eval(part, nil, s)
		}
	}
}

// Cross implements Kernel.
func (k stationary) Cross(dst, x, y *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("cross matrix", dst, n, m)
	mem := workspace.Borrow()
	defer mem.Return()
	to, p, distances := k.pairs(mem, y), k.profile(), mem.Floats(min(m, tile))
	for j := 0; j < m; j += tile {
		for i := range n {
			part := dst.RawRowView(i)[j:min(m, j+tile)]
			s := distances[:len(part)]
			to.distances(s, x.RawRowView(i), j)
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
	mem := workspace.Borrow()
	defer mem.Return()
	to, p := k.pairs(mem, y), k.profile()
	value, slope := mem.Floats(m), mem.Floats(m)
	to.pullCross(mem, dx, x, kbar, func(i int) []float64 {
		to.distances(slope, x.RawRowView(i), 0)
		p.eval(value, slope, slope)
		return slope
	}, n, m)
}

// pullCross adds Σ_j kbar_ij ∂k(x_i,y_j)/∂x_i to row i of dx, given the slopes ∂k/∂s
// of each row.
func (p *pairs) pullCross(mem *workspace.Memory, dx, x, kbar *mat.Dense, slopes func(i int) []float64, n, m int) {
	checkSize("gradient", dx, n, p.Dim)
	checkSize("kbar", kbar, n, m)
	sum, w := mem.Floats(p.Dim), mem.Floats(m)
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
	paramVJP(k, dtheta, x, kbar)
}

// stationaryTape stores the slopes ∂k/∂s of the pairs i < j and, for the rational
// quadratic, ∂k/∂log α.
type stationaryTape struct {
	k              stationary // its params belong to the tape
	x              *mat.Dense
	to             pairs
	slopes, alphas []float64
	flat           bool // pull is not called, and slopes are not evaluated

	matrix  *mat.SymDense // of the last gram or pull
	profile profile       // of the last gram
	moments []float64     // second moments of each row, n×d
	alpha   []float64     // part of each row in the derivative with respect to log α
	sum     []float64
}

func (k stationary) tape(x *mat.Dense) tape {
	n := checkPoints("points", x, k.dim)
	k.leaf.params = slices.Clone(k.params)
	t := &stationaryTape{k: k, x: x, to: k.pairs(new(workspace.Memory), x), slopes: make([]float64, n*(n-1)/2), moments: make([]float64, n*k.dim), sum: make([]float64, k.dim)}
	if _, ok := k.profile().(rationalQuadratic); ok {
		t.alphas, t.alpha = make([]float64, len(t.slopes)), make([]float64, n)
	}
	return t
}

func (t *stationaryTape) gram(dst *mat.SymDense, theta []float64) {
	n, _ := t.x.Dims()
	checkSym("Gram matrix", dst, n)
	t.k.set(theta)
	t.to.scale(t.k)
	t.matrix, t.profile = dst, t.k.profile()
	eachRow(n, t, (*stationaryTape).gramRow)
}

func (t *stationaryTape) gramRow(i int) {
	row := upper(t.matrix, i)
	row[0] = 1
	value, slope := row[1:], t.after(t.slopes, i)
	t.to.distances(slope, t.x.RawRowView(i), i+1)
	if t.alphas != nil {
		copy(t.after(t.alphas, i), slope)
	}
	if t.flat {
		t.profile.eval(value, nil, slope)
		return
	}
	t.profile.eval(value, slope, slope)
	if t.alphas != nil {
		alphas := t.after(t.alphas, i)
		t.profile.(rationalQuadratic).alphaSlope(alphas, value, alphas)
	}
}

// after returns the part of pairs for the pairs (i, j) with i < j.
func (t *stationaryTape) after(pairs []float64, i int) []float64 {
	n, _ := t.x.Dims()
	at := triangular(n-1, i)
	return pairs[at : at+n-1-i]
}

func (t *stationaryTape) pull(dtheta []float64, kbar *mat.SymDense) {
	n, _ := t.x.Dims()
	checkLen("dtheta", len(dtheta), len(t.k.params))
	checkSym("kbar", kbar, n)
	t.matrix = kbar
	clear(t.moments)
	if t.to.nominal == nil {
		eachRow(n, t, (*stationaryTape).pullRow)
	} else { // their moments are sums over all rows
		for i := range n {
			t.pullRow(i)
		}
	}
	clear(t.sum)
	for i := range n {
		floats.Add(t.sum, t.momentsOf(i))
	}
	t.to.finish(t.sum, -4)
	t.k.gather(dtheta, 0, t.sum)
	var alpha float64
	for _, v := range t.alpha {
		alpha += v
	}
	if t.alphas != nil {
		dtheta[t.k.width()] += 2 * alpha
	}
}

func (t *stationaryTape) pullRow(i int) {
	bar := upper(t.matrix, i)[1:]
	if t.alphas != nil {
		t.alpha[i] = floats.Dot(bar, t.after(t.alphas, i))
	}
	mem := workspace.Borrow()
	defer mem.Return()
	w := mem.Floats(len(bar))
	floats.MulTo(w, bar, t.after(t.slopes, i))
	t.to.secondMoments(t.momentsOf(i), w, t.x.RawRowView(i), i+1)
}

func (t *stationaryTape) momentsOf(i int) []float64 {
	d := t.k.dim
	return t.moments[i*d : (i+1)*d]
}

func (k stationary) fix(name string, values []float64) (Kernel, int) {
	var want int
	k.leaf, want = k.fixed(name, values)
	return k, want
}
