package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// monteCarlo is a function of joint samples of f at the points
//
//	[ahead; the q points of a candidate; behind]
//
// made from fixed base samples: F = mean + Z Lᵀ with L the Cholesky factor of the
// joint covariance. It costs, a candidate, its share of a Joint (and JointVJP)
// of a block of candidates and S·Q² flops for S base samples of Q points.
//
// A sample depends on the order of the points, so that permuting a candidate
// changes the value by its Monte-Carlo error.
type monteCarlo struct {
	posterior     surrogate.Posterior
	q             int
	ahead, behind *mat.Dense
	base          *mat.Dense // Z, S×Q
	best          []float64  // the value to improve on, by sample
	gain          gain
}

// gain maps samples (S×k) to a value and, if fbar is not nil, overwrites it with
// the gradient with respect to the samples.
type gain func(f, fbar *mat.Dense, best []float64) float64

func (f *monteCarlo) Dim() int { return f.q * f.posterior.Dim() }

func (f *monteCarlo) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	per := max(1, blockSize/f.q)
	for lo := 0; lo < len(value); lo += per {
		hi := min(lo+per, len(value))
		var g *mat.Dense
		if grad != nil {
			g = rows(grad, lo, hi)
		}
		f.block(value[lo:hi], g, rows(x, lo, hi))
	}
}

// block evaluates a few candidates with one joint covariance of their points
// and the fixed ones, of which each candidate uses its part.
func (f *monteCarlo) block(value []float64, grad, x *mat.Dense) {
	d := f.posterior.Dim()
	before, after := rowCount(f.ahead), rowCount(f.behind)
	size := before + f.q + after
	samples := rowCount(f.base)
	n := before + len(value)*f.q + after

	mem := workspace.Borrow()
	defer mem.Return()
	points := mem.Dense(n, d)
	for i := range before {
		points.SetRow(i, f.ahead.RawRowView(i))
	}
	for i := range len(value) * f.q {
		copy(points.RawRowView(before+i), x.RawRowView(i / f.q)[i%f.q*d:])
	}
	for i := range after {
		points.SetRow(n-after+i, f.behind.RawRowView(i))
	}
	mean, cov := mem.Floats(n), mem.Sym(n)
	f.posterior.Joint(mean, cov, points)

	var (
		index  = make([]int, size) // of the candidate's points in the block
		own    = mem.Sym(size)
		factor linalg.Cholesky
		lower  = mem.Dense(size, size)
		fs     = mem.Dense(samples, size-before)
		lbar   = mem.Zeros(size, size)
		fbar   *mat.Dense
		mbar   []float64
		cbar   *mat.SymDense
		active bool
	)
	if grad != nil {
		fbar = mem.Dense(samples, size-before)
		mbar, cbar = mem.Floats(n), mem.Sym(n)
		clear(mbar)
		cbar.Zero()
	}
	failed := make([]bool, len(value))
	for c := range value {
		for i := range index {
			switch {
			case i < before:
				index[i] = i
			case i < before+f.q:
				index[i] = i + c*f.q
			default:
				index[i] = n - size + i
			}
		}
		for i, a := range index {
			for j := i; j < size; j++ {
				own.SetSym(i, j, cov.At(a, index[j]))
			}
			own.SetSym(i, i, own.At(i, i)+minVariance)
		}
		if factor.Factorize(own) != nil {
			value[c], failed[c] = math.Inf(-1), true
			continue
		}
		factor.Lower(lower)
		linalg.Mul(fs, 1, linalg.N, f.base, linalg.T, mem.Rows(lower, before, size), 0)
		for s := range samples {
			row := fs.RawRowView(s)
			for j := range row {
				row[j] += mean[index[before+j]]
			}
		}
		value[c] = f.gain(fs, fbar, f.best)
		if grad == nil {
			continue
		}
		active = true
		for s := range samples {
			for j, v := range fbar.RawRowView(s) {
				mbar[index[before+j]] += v
			}
		}
		linalg.Mul(mem.Rows(lbar, before, size), 1, linalg.T, fbar, linalg.N, f.base, 0)
		abar := factor.CholeskyVJP(lbar)
		for i, a := range index {
			for j := i; j < size; j++ {
				cbar.SetSym(a, index[j], cbar.At(a, index[j])+abar.At(i, j))
			}
		}
	}
	if grad == nil {
		return
	}
	grad.Zero()
	if !active {
		return
	}
	dx := mem.Zeros(n, d)
	f.posterior.JointVJP(dx, mbar, cbar, points)
	for i := range len(value) * f.q {
		if !failed[i/f.q] {
			copy(grad.RawRowView(i / f.q)[i%f.q*d:], dx.RawRowView(before+i))
		}
	}
}

// baseSamples returns n draws of k independent standard normals, from a scrambled
// Sobol' sequence.
func baseSamples(n, k int, rng *rand.Rand) *mat.Dense {
	z := space.Sobol(n, k, rng)
	raw := z.RawMatrix().Data
	for i, u := range raw {
		raw[i] = mathext.NormalQuantile(min(max(u, 0x1p-54), 1-0x1p-53))
	}
	return z
}
