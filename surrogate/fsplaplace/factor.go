package fsplaplace

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// factor is a covariance φ(x)φ(x')ᵀ with r features. It is immutable.
type factor interface {
	rank() int
	// fill writes f.phi and f.gain.
	fill(f features)
	// vjp adds to dx the gradient of Σ_ij bar_ij φ_ij with respect to f.x, for an f that fill
	// has written. It overwrites bar.
	vjp(dx *mat.Dense, f features, bar *mat.Dense)
	// weights returns S e, of length p.
	weights(e []float64) []float64
}

// features holds φ at the m rows of x.
type features struct {
	x    *mat.Dense
	t    *nn.Tape   // the network, recorded at x
	phi  *mat.Dense // m×r
	gain []float64  // g of dualFactor
}

// primalFactor is a p×r matrix S of weights: φ(x) = J(x) S, in O(pr) per point.
type primalFactor struct {
	st     *mat.Dense // Sᵀ, r×p
	inputs domain.Affine
}

func (f *primalFactor) rank() int { r, _ := f.st.Dims(); return r }

func (f *primalFactor) fill(at features) {
	mem := workspace.Borrow()
	defer mem.Return()
	j := mem.Dense(at.t.Len(), at.t.NumParams())
	at.t.Jacobian(j)
	linalg.Mul(at.phi, 1, linalg.N, j, linalg.T, f.st, 0)
}

func (f *primalFactor) vjp(dx *mat.Dense, at features, bar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	u, du := mem.Dense(at.t.Len(), at.t.NumParams()), mem.Zeros(dx.Dims())
	linalg.Mul(u, 1, linalg.N, bar, linalg.N, f.st, 0)
	at.t.TangentGrad(nil, du, u)
	f.inputs.Pull(du)
	dx.Add(dx, du)
}

// weights returns S e, of length p.
func (f *primalFactor) weights(e []float64) []float64 {
	_, p := f.st.Dims()
	w := make([]float64, p)
	linalg.MulVec(w, 1, linalg.T, f.st, e, 0)
	return w
}

// dualFactor is S = J(C)ᵀ B, scaled to the prior variance, in O(|C|(Σ_l h_l + r)) per point:
//
//	φ(x) = g(x) u(x),  u(x) = J(x) S = Θ(x,C) B,  g(x)² = k(x,x)/|u(x)|².
type dualFactor struct {
	ctx    *nn.Tape   // at C
	b, bt  *mat.Dense // B, |C|×r, and its transpose, whose rows are contiguous
	inputs domain.Affine
	kernel prior.Kernel // nil for g = 1
}

// mostGain bounds g. Below the share 1/mostGain² of the prior variance the network's variance is
// mostly rounding error.
const mostGain = 100

func (f *dualFactor) rank() int { _, r := f.b.Dims(); return r }

// unscaled returns the factor with g = 1.
func (f *dualFactor) unscaled() *dualFactor {
	return &dualFactor{ctx: f.ctx, b: f.b, bt: f.bt, inputs: f.inputs}
}

// weights returns S e, of length p.
func (f *dualFactor) weights(e []float64) []float64 {
	mem := workspace.Borrow()
	defer mem.Return()
	a := mem.Floats(f.ctx.Len())
	linalg.MulVec(a, 1, linalg.N, f.b, e, 0)
	w := make([]float64, f.ctx.NumParams())
	f.ctx.VJP(w, a)
	return w
}

func (f *dualFactor) fill(at features) {
	mem := workspace.Borrow()
	defer mem.Return()
	theta := mem.Dense(at.t.Len(), f.ctx.Len())
	nn.Kernel(theta, at.t, f.ctx)
	linalg.Mul(at.phi, 1, linalg.N, theta, linalg.N, f.b, 0)
	if f.kernel == nil {
		return
	}
	f.kernel.Diag(at.gain, at.x)
	for i, k := range at.gain {
		u := at.phi.RawRowView(i)
		at.gain[i] = gain(k, linalg.Dot(u, u))
		floats.Scale(at.gain[i], u)
	}
}

// gain returns g for |u|² = s and the prior variance k.
func gain(k, s float64) float64 {
	switch {
	case k == 0:
		return 0
	case mostGain*mostGain*s <= k:
		return mostGain
	}
	return math.Sqrt(k / s)
}

func (f *dualFactor) vjp(dx *mat.Dense, at features, bar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	ubar, du := mem.Dense(at.t.Len(), f.ctx.Len()), mem.Zeros(dx.Dims())
	if f.kernel != nil {
		f.gainVJP(dx, at, bar)
	}
	linalg.Mul(ubar, 1, linalg.N, bar, linalg.N, f.bt, 0)
	nn.KernelVJP(du, at.t, f.ctx, ubar)
	f.inputs.Pull(du)
	dx.Add(dx, du)
}

// gainVJP replaces bar by the gradient with respect to u, and adds the gradient through k to
// dx. If g is below its bound, dφ = g du - φ (φ·g du)/k + φ dk/2k.
func (f *dualFactor) gainVJP(dx *mat.Dense, at features, bar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	m := at.t.Len()
	k, kbar := mem.Floats(m), mem.Floats(m)
	f.kernel.Diag(k, at.x)
	for i, g := range at.gain {
		phi, b := at.phi.RawRowView(i), bar.RawRowView(i)
		kbar[i] = 0
		if g > 0 && g < mostGain {
			along := linalg.Dot(phi, b)
			linalg.Axpy(-along/k[i], phi, b)
			kbar[i] = along / (2 * k[i])
		}
		floats.Scale(g, b)
	}
	f.kernel.DiagVJP(dx, at.x, kbar)
}
