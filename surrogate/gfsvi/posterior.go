package gfsvi

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// chunk is how many points go through the network at a time.
const chunk = 256

// posterior is N(m, diag(s²) + UUᵀ) through the linearised network: mean f(x,m),
// covariance (J∘s)(J∘s)ᵀ + (JU)(JU)ᵀ.
type posterior struct {
	linearized.Network
	process  prior.Process
	s        []float64
	ut       *mat.Dense // Uᵀ; nil for rank 0
	noise    float64
	warnings []string
	state    surrogate.State
}

var (
	_ surrogate.Stater    = (*posterior)(nil)
	_ surrogate.Describer = (*posterior)(nil)
)

func newPosterior(p *problem, v *variational.Gaussian, priorState []float64) *posterior {
	return &posterior{
		Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: v.M}, process: p.process,
		s: v.Scales(), ut: v.Ut, noise: math.Exp(2 * v.LogSD[0]),
		state: summary.EncodeState(priorState, v.Vector[:len(v.Vector)-1]),
	}
}

func (p *posterior) Noise() float64         { return p.noise }
func (p *posterior) Warnings() []string     { return p.warnings }
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	return append(summary.KernelHypers(p.process.Kernel),
		surrogate.Hyper{Name: "mean", Value: p.process.Mean},
		surrogate.Hyper{Name: "noise", Value: p.noise},
		surrogate.Hyper{Name: "weights", Value: float64(len(p.W))})
}

// features are T = J∘s and P = JU at the rows of a tape.
type features struct {
	tape *nn.Tape
	t, p *mat.Dense // p is nil for rank 0
}

func (p *posterior) features(x *mat.Dense) features {
	f := features{tape: p.Net.Record(p.W, p.Inputs.Apply(x))}
	n, np := f.tape.Len(), f.tape.NumParams()
	f.t = mat.NewDense(n, np, nil)
	f.tape.Jacobian(f.t)
	if p.ut != nil {
		r, _ := p.ut.Dims()
		f.p = mat.NewDense(n, r, nil)
		linalg.Mul(f.p, 1, linalg.N, f.t, linalg.T, p.ut, 0)
	}
	mulColumns(f.t, f.t, p.s)
	return f
}

func (f features) variance(dst []float64) {
	clear(dst)
	addSquaredNorms(dst, f.t)
	if f.p != nil {
		addSquaredNorms(dst, f.p)
	}
}

// covarianceGrad adds to dx the gradient of ½ Σ_i |T_i|² + |P_i|² with respect to
// the network's inputs, T̄ = t and P̄ = pbar in place of T and P. It uses t up.
func (p *posterior) covarianceGrad(dx *mat.Dense, f features, t, pbar *mat.Dense) {
	mulColumns(t, t, p.s)
	if pbar != nil {
		linalg.Mul(t, 1, linalg.N, pbar, linalg.N, p.ut, 1)
	}
	f.tape.JVPInputGradRows(dx, t)
}

// Predict costs O(p(1+r)) a point.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		f := p.features(x)
		copy(mean[i:k], f.tape.Value())
		f.variance(variance[i:k])
	})
}

// PredictGrad costs about three times Predict.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	shape.Dims("dmean", dmean, n, p.Dim())
	shape.Dims("dvariance", dvariance, n, p.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		f := p.features(x)
		copy(mean[i:k], f.tape.Value())
		f.variance(variance[i:k])

		_, d := x.Dims()
		dx := mat.NewDense(k-i, d, nil)
		f.tape.InputGrad(dx)
		p.Inputs.Pull(dx)
		dmean.Slice(i, k, 0, d).(*mat.Dense).Copy(dx)

		dx.Zero()
		p.covarianceGrad(dx, f, f.t, f.p)
		dx.Scale(2, dx)
		p.Inputs.Pull(dx)
		dvariance.Slice(i, k, 0, d).(*mat.Dense).Copy(dx)
	})
}

// Joint implements surrogate.Posterior in O(m²(p+r)) beyond Predict.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Dims("cov", cov, n, n)
	f := p.features(x)
	copy(mean, f.tape.Value())
	linalg.Syrk(cov, 1, linalg.N, f.t, 0)
	if f.p != nil {
		linalg.Syrk(cov, 1, linalg.N, f.p, 1)
	}
}

// JointVJP implements surrogate.Posterior.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	n, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("mbar", len(mbar), n)
	shape.Dims("cbar", cbar, n, n)
	shape.Dims("dx", dx, n, d)
	f := p.features(x)
	full := mat.NewDense(n, n, nil)
	full.Copy(cbar)
	times := func(a *mat.Dense) *mat.Dense {
		if a == nil {
			return nil
		}
		_, k := a.Dims()
		out := mat.NewDense(n, k, nil)
		linalg.Mul(out, 2, linalg.N, full, linalg.N, a, 0)
		return out
	}
	grad := mat.NewDense(n, d, nil)
	f.tape.InputGrad(grad)
	for i, b := range mbar {
		row := grad.RawRowView(i)
		for j := range row {
			row[j] *= b
		}
	}
	p.covarianceGrad(grad, f, times(f.t), times(f.p))
	p.Inputs.Pull(grad)
	dx.Add(dx, grad)
}

// Paths draws linearised networks f(x,m) + J(x)(s∘ε + Uη), ε and η ~ N(0,I).
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		dir := make([]float64, len(p.W))
		for k, s := range p.s {
			dir[k] = s * rng.NormFloat64()
		}
		if p.ut != nil {
			r, _ := p.ut.Dims()
			for k := range r {
				linalg.Axpy(rng.NormFloat64(), p.ut.RawRowView(k), dir)
			}
		}
		paths[i] = p.Path(dir)
	}
	return paths
}
