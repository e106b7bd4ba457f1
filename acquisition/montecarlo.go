package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/parallel"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// monteCarlo is a function of joint samples of f at the points
//
//	[ahead; the q points of a candidate; behind]
//
// made from fixed base samples: F = mean + Z Lᵀ, with L the Cholesky factor of the
// joint covariance. Several candidates share one Joint (and JointVJP) of their points.
// With S base samples of Q points a candidate costs S·Q² flops besides.
//
// A sample depends on the order of the points, so permuting a candidate changes the
// value by its Monte Carlo error.
type monteCarlo struct {
	posterior     surrogate.Posterior
	joint         surrogate.Jointer // of posterior, anchored at ahead
	q             int
	ahead, behind *mat.Dense
	base          *mat.Dense // Z, S×Q
	best          []float64  // the value to improve on, for each sample
	gain          gain
}

// gain maps samples (S×k) to a value. If fbar is not nil, it overwrites fbar with the
// gradient with respect to the samples.
type gain func(f, fbar *mat.Dense, best []float64) float64

func (f *monteCarlo) Dim() int { return f.q * f.posterior.Dim() }

func (f *monteCarlo) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	inBlocks(f.block, f.q, value, grad, x)
}

// inBlocks calls block for a few candidates of q points at a time, on all processors.
func inBlocks(block func(value []float64, grad, x *mat.Dense), q int, value []float64, grad, x *mat.Dense) {
	per := max(1, blockSize/q)
	parallel.Each((len(value)+per-1)/per, func(i int) {
		lo, hi := i*per, min((i+1)*per, len(value))
		var g *mat.Dense
		if grad != nil {
			g = rows(grad, lo, hi)
		}
		block(value[lo:hi], g, rows(x, lo, hi))
	})
}

// block evaluates a few candidates, the rows of x, from one joint covariance of
// their points and the fixed points.
func (f *monteCarlo) block(value []float64, grad, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	b := f.newBlock(mem, x, grad != nil)
	failed := make([]bool, len(value))
	active := false
	for c := range value {
		if failed[c] = !b.sample(c); failed[c] {
			value[c] = math.Inf(-1)
			continue
		}
		value[c] = f.gain(b.samples, b.fbar, f.best)
		if grad != nil {
			b.accumulate()
			active = true
		}
	}
	if grad == nil {
		return
	}
	grad.Zero()
	if !active {
		return
	}
	dx := mem.Zeros(b.n, b.d)
	f.joint.JointVJP(dx, b.mbar, b.cbar, b.points)
	for i := range len(value) * f.q {
		if !failed[i/f.q] {
			copy(grad.RawRowView(i / f.q)[i%f.q*b.d:], dx.RawRowView(b.before+i))
		}
	}
}

// mcBlock holds the joint moments of a block of candidates and the workspace for one
// candidate at a time.
type mcBlock struct {
	f      *monteCarlo
	mem    *workspace.Memory
	n, d   int        // number and dimension of the points of the block
	before int        // number of points ahead
	size   int        // number of points of one candidate, fixed points included
	points *mat.Dense // [ahead; all candidates; behind]
	mean   []float64
	cov    *mat.SymDense

	index   []int // indices of the candidate's points in the block
	own     *mat.SymDense
	factor  linalg.Cholesky // factor of own
	lower   *mat.Dense
	samples *mat.Dense // F at the candidate's points and at the points behind

	// Gradients with respect to the samples, the factor, the mean and the covariance;
	// nil without gradients.
	fbar, lbar *mat.Dense
	mbar       []float64
	cbar       *mat.SymDense
}

// newBlock computes the joint moments of the candidates in the rows of x.
func (f *monteCarlo) newBlock(mem *workspace.Memory, x *mat.Dense, withGrad bool) *mcBlock {
	m, _ := x.Dims()
	before, after := rowCount(f.ahead), rowCount(f.behind)
	size, n, d := before+f.q+after, before+m*f.q+after, f.posterior.Dim()
	b := &mcBlock{
		f: f, mem: mem, n: n, d: d, before: before, size: size,
		points: mem.Dense(n, d), mean: mem.Floats(n), cov: mem.Sym(n),
		index: make([]int, size), own: mem.Sym(size), lower: mem.Dense(size, size),
		samples: mem.Dense(rowCount(f.base), size-before),
	}
	for i := range before {
		b.points.SetRow(i, f.ahead.RawRowView(i))
	}
	for i := range m * f.q {
		copy(b.points.RawRowView(before+i), x.RawRowView(i / f.q)[i%f.q*d:])
	}
	for i := range after {
		b.points.SetRow(n-after+i, f.behind.RawRowView(i))
	}
	f.joint.Joint(b.mean, b.cov, b.points)
	if withGrad {
		b.fbar, b.lbar = mem.Dense(rowCount(f.base), size-before), mem.Zeros(size, size)
		b.mbar, b.cbar = mem.Floats(n), mem.Sym(n)
		clear(b.mbar)
		b.cbar.Zero()
	}
	return b
}

// sample computes the samples of candidate c. It reports false if the joint
// covariance of its points cannot be factorised.
func (b *mcBlock) sample(c int) bool {
	for i := range b.index {
		switch {
		case i < b.before:
			b.index[i] = i
		case i < b.before+b.f.q:
			b.index[i] = i + c*b.f.q
		default:
			b.index[i] = b.n - b.size + i
		}
	}
	for i, a := range b.index {
		for j := i; j < b.size; j++ {
			b.own.SetSym(i, j, b.cov.At(a, b.index[j]))
		}
		b.own.SetSym(i, i, b.own.At(i, i)+minVariance)
	}
	if b.factor.Factorize(b.own) != nil {
		return false
	}
	b.factor.Lower(b.lower)
	linalg.Mul(b.samples, 1, linalg.N, b.f.base, linalg.T, b.mem.Rows(b.lower, b.before, b.size), 0)
	for s := range rowCount(b.samples) {
		row := b.samples.RawRowView(s)
		for j := range row {
			row[j] += b.mean[b.index[b.before+j]]
		}
	}
	return true
}

// accumulate adds to mbar and cbar the gradient that fbar holds for the candidate of
// the last sample.
func (b *mcBlock) accumulate() {
	for s := range rowCount(b.fbar) {
		for j, v := range b.fbar.RawRowView(s) {
			b.mbar[b.index[b.before+j]] += v
		}
	}
	linalg.Mul(b.mem.Rows(b.lbar, b.before, b.size), 1, linalg.T, b.fbar, linalg.N, b.f.base, 0)
	abar := b.factor.CholeskyVJP(b.lbar)
	for i, a := range b.index {
		for j := i; j < b.size; j++ {
			b.cbar.SetSym(a, b.index[j], b.cbar.At(a, b.index[j])+abar.At(i, j))
		}
	}
}

// anchored returns the joint moments of p, with the computations at the rows of ahead kept.
func anchored(p surrogate.Posterior, ahead *mat.Dense) surrogate.Jointer {
	if ahead == nil {
		return p
	}
	return surrogate.Anchor(p, ahead)
}

// baseSamples returns n draws of k independent standard normal variables (n×k), from a
// scrambled Sobol sequence.
func baseSamples(n, k int, rng *rand.Rand) *mat.Dense {
	return normal(space.Sobol(n, k, rng))
}

// normal replaces the uniform draws u by standard normal ones.
func normal(u *mat.Dense) *mat.Dense {
	raw := u.RawMatrix().Data
	for i, v := range raw {
		raw[i] = mathext.NormalQuantile(min(max(v, 0x1p-54), 1-0x1p-53))
	}
	return u
}
