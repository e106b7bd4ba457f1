package linearized

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Covariance is the covariance Σ of e in f(x,w) + J(x)e, e ~ N(0, Σ). It is
// immutable.
type Covariance interface {
	// At returns the moments of J(x)e at the rows recorded in t.
	At(t *nn.Tape) Moments
	// Draw returns a draw of e.
	Draw(rng *rand.Rand) []float64
}

// Moments computes second moments of J(x)e at the rows of a tape. It permits one call of
// a VJP, as the last call.
type Moments interface {
	// Variance writes J(x_i) Σ J(x_i)ᵀ.
	Variance(dst []float64)
	// VarianceVJP adds to dx the gradient of Σ_i bar_i variance_i with respect to
	// the network's inputs.
	VarianceVJP(dx *mat.Dense, bar []float64)
	// Joint writes J(x) Σ J(x)ᵀ.
	Joint(dst *mat.SymDense)
	// JointVJP adds to dx the gradient of Σ_ij bar_ij cov_ij, over all i and j.
	JointVJP(dx *mat.Dense, bar *mat.SymDense)
}

// Posterior has the mean Shift + f(x,w) and the covariance J(x)ΣJ(x')ᵀ.
type Posterior struct {
	Network
	Cov Covariance
	summary.Summary
}

var (
	_ surrogate.Stater    = (*Posterior)(nil)
	_ surrogate.Describer = (*Posterior)(nil)
)

// Mean writes the mean at the rows recorded in t.
func (n Network) Mean(dst []float64, t *nn.Tape) {
	for i, v := range t.Value() {
		dst[i] = n.Shift + v
	}
}

// Predict costs a pass of the network and the variance of Cov.
func (p *Posterior) Predict(mean, variance []float64, x *mat.Dense) {
	shape.Predict(mean, variance, x, p.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		p.Mean(mean[i:k], t)
		p.Cov.At(t).Variance(variance[i:k])
	})
}

// PredictGrad costs about three times Predict.
func (p *Posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m, d := shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim()), p.Dim()
	ones := make([]float64, min(m, chunk))
	for i := range ones {
		ones[i] = 1
	}
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		p.Mean(mean[i:k], t)
		moments := p.Cov.At(t)
		moments.Variance(variance[i:k])
		dx := dmean.Slice(i, k, 0, d).(*mat.Dense)
		t.InputGrad(dx)
		p.Inputs.Pull(dx)
		dx = dvariance.Slice(i, k, 0, d).(*mat.Dense)
		dx.Zero()
		moments.VarianceVJP(dx, ones[:k-i])
		p.Inputs.Pull(dx)
	})
}

// Joint implements surrogate.Posterior.
func (p *Posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	shape.Joint(mean, cov, x, p.Dim())
	t := p.Record(x)
	defer t.Return()
	p.Mean(mean, t)
	p.Cov.At(t).Joint(cov)
}

// JointVJP implements surrogate.Posterior.
func (p *Posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.JointVJP(dx, mbar, cbar, x, p.Dim()), p.Dim()
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
	p.Cov.At(t).JointVJP(grad, cbar)
	p.Inputs.Pull(grad)
	dx.Add(dx, grad)
}

// Paths draws linearised networks Shift + f(x,w) + J(x)e, e ~ N(0, Σ).
func (p *Posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		paths[i] = p.Path(p.Cov.Draw(rng))
	}
	return paths
}
