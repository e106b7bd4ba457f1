package laplace

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// chunk is how many points go through the network at a time.
const chunk = 256

// posterior has the mean shift + f(x,w) and the covariance J(x)ΣJ(x')ᵀ.
type posterior struct {
	linearized.Network
	cov      mapnet.Covariance
	hypers   mapnet.Hypers
	evidence float64
	state    surrogate.State
	warnings []string
}

var (
	_ surrogate.Evidence  = (*posterior)(nil)
	_ surrogate.Stater    = (*posterior)(nil)
	_ surrogate.Describer = (*posterior)(nil)
)

func (p *posterior) Noise() float64         { return p.hypers.Noise }
func (p *posterior) Warnings() []string     { return slices.Clone(p.warnings) }
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// LogMarginalLikelihood is Laplace's approximation of it.
func (p *posterior) LogMarginalLikelihood() float64 { return p.evidence }

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	return []surrogate.Hyper{{Name: "precision", Value: p.hypers.Precision}, {Name: "noise", Value: p.hypers.Noise}, {Name: "mean", Value: p.Shift}}
}

func (p *posterior) mean(dst []float64, t *nn.Tape) {
	for i, v := range t.Value() {
		dst[i] = p.Shift + v
	}
}

// Predict costs O(nΣ_l h_l + n²) a point by the dual, O(p²) with the full
// curvature as a matrix, O(pΣ_l h_l) and O(p) with the approximations.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		p.mean(mean[i:k], t)
		p.cov.Variance(variance[i:k], t)
	})
}

// PredictGrad costs about three times Predict.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	shape.Dims("dmean", dmean, m, d)
	shape.Dims("dvariance", dvariance, m, d)
	ones := make([]float64, min(m, chunk))
	for i := range ones {
		ones[i] = 1
	}
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		p.mean(mean[i:k], t)
		p.cov.Variance(variance[i:k], t)
		dx := mat.NewDense(k-i, d, nil)
		t.InputGrad(dx)
		p.Inputs.Pull(dx)
		dmean.Slice(i, k, 0, d).(*mat.Dense).Copy(dx)
		dx.Zero()
		p.cov.VarianceVJP(dx, t, ones[:k-i])
		p.Inputs.Pull(dx)
		dvariance.Slice(i, k, 0, d).(*mat.Dense).Copy(dx)
	})
}

// Joint implements surrogate.Posterior.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("cov", cov.SymmetricDim(), m)
	t := p.Record(x)
	defer t.Return()
	p.mean(mean, t)
	p.cov.Joint(cov, t)
}

// JointVJP implements surrogate.Posterior.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("mbar", len(mbar), m)
	shape.Len("cbar", cbar.SymmetricDim(), m)
	shape.Dims("dx", dx, m, d)
	t := p.Record(x)
	defer t.Return()
	grad := mat.NewDense(m, d, nil)
	t.InputGrad(grad)
	for i, b := range mbar {
		row := grad.RawRowView(i)
		for j := range row {
			row[j] *= b
		}
	}
	p.cov.JointVJP(grad, t, cbar)
	p.Inputs.Pull(grad)
	dx.Add(dx, grad)
}

// Paths draws linearised networks shift + f(x,w) + J(x)e, e ~ N(0, Σ).
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		paths[i] = p.Path(p.cov.Draw(rng))
	}
	return paths
}
