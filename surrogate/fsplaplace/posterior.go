package fsplaplace

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// chunk is the number of points in one pass of the network.
const chunk = 256

// posterior is the network linearised at w*, plus a linear model of the features of its
// factor,
//
//	f(x,w*) + J(x)·shift + φ(x)·ω,  ω ~ N(m, A⁻¹),
//
// or the prior mean plus this linear model.
type posterior struct {
	linearized.Network
	process prior.Process
	shift   []float64 // nil for none
	// priorMean replaces the first two terms by the prior mean.
	priorMean bool
	factor    factor
	m         []float64 // nil for 0
	update    update    // A⁻¹
	ridge     float64   // decimal exponent; 0 if the factor has none

	x *mat.Dense // copy of the observed inputs
	y []float64
	summary.Summary
}

var (
	_ surrogate.Anchorer    = (*posterior)(nil)
	_ surrogate.Conditioner = (*posterior)(nil)
	_ surrogate.LeaveOneOut = (*posterior)(nil)
	_ surrogate.Stater      = (*posterior)(nil)
	_ surrogate.Describer   = (*posterior)(nil)
)

// at returns the features at the rows of x, recorded in t.
func (p *posterior) at(mem *workspace.Memory, x *mat.Dense, t *nn.Tape) features {
	f := features{x: x, t: t, phi: mem.Dense(t.Len(), p.factor.rank()), gain: mem.Floats(t.Len())}
	p.factor.fill(f)
	return f
}

// chunks calls f with the features of rows i to k of x, at most size rows at a time.
func (p *posterior) chunks(x *mat.Dense, size int, f func(mem *workspace.Memory, i, k int, at features)) {
	mem := workspace.Borrow()
	defer mem.Return()
	shape.Chunks(x, size, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		f(mem, i, k, p.at(mem, x, t))
	})
}

func (p *posterior) mean(dst []float64, at features) {
	p.networkMean(dst, at.t)
	if p.m != nil {
		linalg.MulVec(dst, 1, linalg.N, at.phi, p.m, 1)
	}
}

// networkMean writes the mean without the features' term.
func (p *posterior) networkMean(dst []float64, t *nn.Tape) {
	if p.priorMean {
		linalg.Fill(dst, p.process.Mean)
		return
	}
	if p.shift == nil {
		copy(dst, t.Value())
		return
	}
	t.JVP(dst, p.shift)
	for i, v := range t.Value() {
		dst[i] += v
	}
}

// networkGrad writes the gradient of networkMean at each row of t.
func (p *posterior) networkGrad(dx *mat.Dense, t *nn.Tape) {
	if p.priorMean {
		dx.Zero()
		return
	}
	t.InputGrad(dx)
	if p.shift != nil {
		t.JVPInputGrad(dx, p.shift)
	}
	p.Inputs.Pull(dx)
}

// Predict costs, per point, O(|C|(Σ_l h_l + r)) with the ridge factor, O(pr) with the other
// factors, and O(min(n(n + r), r²)) for n observations.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	shape.Predict(mean, variance, x, p.Dim())
	p.chunks(x, chunk, func(mem *workspace.Memory, i, k int, at features) {
		p.mean(mean[i:k], at)
		p.update.variance(variance[i:k], at.phi, p.update.root(mem, at.phi))
	})
}

// PredictGrad costs two to four times Predict, four times if the mean has features.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	p.chunks(x, chunk, func(mem *workspace.Memory, i, k int, at features) {
		p.mean(mean[i:k], at)
		root := p.update.root(mem, at.phi)
		p.update.variance(variance[i:k], at.phi, root)

		bar := mem.Dense(at.phi.Dims())
		bar.Scale(2, p.update.times(mem, at.phi, root))
		dm, dv := mem.Rows(dmean, i, k), mem.Rows(dvariance, i, k)
		dv.Zero()
		p.factor.vjp(dv, at, bar)
		p.meanGrad(dm, at)
	})
}

// meanGrad writes the gradient of the mean at each point.
func (p *posterior) meanGrad(dx *mat.Dense, at features) {
	p.networkGrad(dx, at.t)
	if p.m == nil {
		return
	}
	mem := workspace.Borrow()
	defer mem.Return()
	bar := mem.Dense(at.phi.Dims())
	for i := range at.t.Len() {
		copy(bar.RawRowView(i), p.m)
	}
	p.factor.vjp(dx, at, bar)
}

// Joint implements surrogate.Posterior in O(m² r) in addition to Predict.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Joint(mean, cov, x, p.Dim())
	p.chunks(x, m, func(mem *workspace.Memory, _, _ int, at features) {
		p.mean(mean, at)
		p.update.covariance(cov, at.phi, p.update.root(mem, at.phi))
	})
}

func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.JointVJP(dx, mbar, cbar, x, p.Dim()), p.Dim()
	p.chunks(x, m, func(mem *workspace.Memory, _, _ int, at features) {
		bar, full := mem.Dense(at.phi.Dims()), mem.Dense(m, m)
		full.Copy(cbar)
		linalg.Mul(bar, 2, linalg.N, full, linalg.N, p.update.times(mem, at.phi, p.update.root(mem, at.phi)), 0)
		grad := mem.Dense(m, d)
		p.jointGrad(grad, mbar, bar, at)
		dx.Add(dx, grad)
	})
}

// Paths draws ω. A path costs O(p) per point if the features are linear in the weights of the
// network, else as much as Predict.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		omega := make([]float64, p.factor.rank())
		random.Normal(omega, rng)
		p.update.draw(omega, rng)
		if p.m != nil {
			linalg.Axpy(1, p.m, omega)
		}
		if s, ok := p.factor.(*primalFactor); ok {
			step := s.weights(omega)
			if p.shift != nil {
				linalg.Axpy(1, p.shift, step)
			}
			paths[i] = p.Path(step)
		} else {
			drawn := *p
			drawn.m = omega
			paths[i] = (*path)(&drawn)
		}
	}
	return paths
}

// path is the mean of a posterior.
type path posterior

func (q *path) Eval(value []float64, grad, x *mat.Dense) {
	p := (*posterior)(q)
	shape.Eval(value, grad, x, p.Dim())
	p.chunks(x, chunk, func(mem *workspace.Memory, i, k int, at features) {
		p.mean(value[i:k], at)
		if grad != nil {
			p.meanGrad(mem.Rows(grad, i, k), at)
		}
	})
}

// Condition adds the observations to the linear model without a change of w*. It is exact for
// that model.
func (p *posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	shape.Points(x, p.Dim())
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	out := *p
	if err := out.observe(x); err != nil {
		return nil, err
	}
	out.pull(x, y)
	out.x, out.y = mat.NewDense(len(p.y)+len(y), p.Dim(), nil), slices.Concat(p.y, y)
	out.x.Stack(p.x, x)
	return &out, nil
}

// LeaveOneOut implements surrogate.LeaveOneOut. It removes one Gaussian factor at a time from
// the posterior of the linearised network, with constant weights. With the posterior mean m
// and variance s at x_i,
//
//	mean_i = m - v_i (y - m)/σ²,  v_i = s/(1 - s/σ²).
//
// If the update holds ΦΦᵀ, v_i = 1/[(ΦΦᵀ + σ²I)⁻¹]_ii - σ², which avoids cancellation. Rows
// added by Condition come last. The cost is one Predict.
func (p *posterior) LeaveOneOut(mean, variance []float64) {
	shape.Len("mean", len(mean), len(p.y))
	shape.Len("variance", len(variance), len(p.y))
	p.Predict(mean, variance, p.x)
	for i, s := range variance {
		variance[i] = s / max(1-s/p.NoiseVariance, 1e-12)
	}
	if u, ok := p.update.(*byValues); ok {
		held := variance[len(variance)-u.g.chol.N():]
		u.g.chol.InverseDiag(held)
		for i, v := range held {
			held[i] = max(1/v-u.noise-u.g.chol.Jitter(), 0)
		}
	}
	for i, v := range variance {
		mean[i] -= v * (p.y[i] - mean[i]) / p.NoiseVariance
	}
}
