package linearized

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
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
	// Matrix returns Σ for the given number of weights.
	Matrix(weights int) *mat.SymDense
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
	_ surrogate.Stater           = (*Posterior)(nil)
	_ surrogate.Describer        = (*Posterior)(nil)
	_ surrogate.FeaturePosterior = (*Posterior)(nil)
	_ surrogate.WeightPosterior  = (*Posterior)(nil)
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
	m := shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	ones := slices.Repeat([]float64{1}, min(m, chunk))
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		p.Mean(mean[i:k], t)
		moments := p.Cov.At(t)
		moments.Variance(variance[i:k])
		dx := shape.Rows(dmean, i, k)
		t.InputGrad(dx)
		p.Inputs.Pull(dx)
		dx = shape.Rows(dvariance, i, k)
		dx.Zero()
		moments.VarianceVJP(dx, ones[:k-i])
		p.Inputs.Pull(dx)
	})
}

func (p *Posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	shape.Joint(mean, cov, x, p.Dim())
	t := p.Record(x)
	defer t.Return()
	p.Mean(mean, t)
	p.Cov.At(t).Joint(cov)
}

func (p *Posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.JointVJP(dx, mbar, cbar, x, p.Dim()), p.Dim()
	t := p.Record(x)
	defer t.Return()
	grad := mat.NewDense(m, d, nil)
	t.InputGrad(grad)
	for i, b := range mbar {
		floats.Scale(b, grad.RawRowView(i))
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

// Features implements surrogate.FeaturePosterior with φ = J in O(mp).
func (p *Posterior) Features(x *mat.Dense) (offset []float64, phi *mat.Dense) {
	offset = make([]float64, shape.Points(x, p.Dim()))
	t := p.Record(x)
	defer t.Return()
	p.Mean(offset, t)
	return offset, t.NewJacobian()
}

// Coefficients implements surrogate.FeaturePosterior.
func (p *Posterior) Coefficients() (mean []float64, cov *mat.SymDense) {
	return make([]float64, len(p.W)), p.Cov.Matrix(len(p.W))
}

// WeightMoments implements surrogate.WeightPosterior.
func (p *Posterior) WeightMoments() (mean []float64, cov *mat.SymDense) {
	return slices.Clone(p.W), p.Cov.Matrix(len(p.W))
}

// SampleWeights implements surrogate.WeightPosterior.
func (p *Posterior) SampleWeights(n int, rng *rand.Rand) *mat.Dense {
	return p.Sample(n, func() []float64 { return p.Cov.Draw(rng) })
}

// Root is a matrix S with S Sᵀ = Σ, in blocks of columns. It is immutable.
type Root interface {
	// Features returns the blocks of J S. It may overwrite j.
	Features(j *mat.Dense) []*mat.Dense
	// Weights returns Σ_b φ_b S_bᵀ for the rows of the blocks φ_b, which it may
	// overwrite.
	Weights(phi []*mat.Dense) *mat.Dense
	// Draw returns S ε, ε ~ N(0, I).
	Draw(rng *rand.Rand) []float64
}

// ByRoot is the Covariance with features φ = J(x)S.
type ByRoot struct{ Root }

func (c ByRoot) At(t *nn.Tape) Moments {
	return rootMoments{c.Root, t, c.Features(t.NewJacobian())}
}

// Matrix returns S Sᵀ, of the features of the Jacobian I.
func (c ByRoot) Matrix(weights int) *mat.SymDense {
	id, cov := mat.NewDense(weights, weights, nil), mat.NewSymDense(weights, nil)
	linalg.SetIdentity(id)
	for b, s := range c.Features(id) {
		linalg.Syrk(cov, 1, linalg.N, s, float64(min(b, 1)))
	}
	return cov
}

// rootMoments are the moments by the features φ at the rows of a tape.
type rootMoments struct {
	Root
	t   *nn.Tape
	phi []*mat.Dense
}

func (m rootMoments) Variance(dst []float64) {
	clear(dst)
	for _, phi := range m.phi {
		linalg.AddRowSquares(dst, phi)
	}
}

func (m rootMoments) Joint(dst *mat.SymDense) {
	for b, phi := range m.phi {
		linalg.Syrk(dst, 1, linalg.N, phi, float64(min(b, 1)))
	}
}

func (m rootMoments) VarianceVJP(dx *mat.Dense, bar []float64) {
	twice := slices.Clone(bar)
	floats.Scale(2, twice)
	for _, phi := range m.phi {
		linalg.ScaleRows(phi, twice)
	}
	m.t.TangentGrad(nil, dx, m.Weights(m.phi))
}

func (m rootMoments) JointVJP(dx *mat.Dense, bar *mat.SymDense) {
	full := mat.DenseCopyOf(bar)
	for b, phi := range m.phi {
		m.phi[b] = mat.NewDense(phi.RawMatrix().Rows, phi.RawMatrix().Cols, nil)
		linalg.Mul(m.phi[b], 2, linalg.N, full, linalg.N, phi, 0)
	}
	m.t.TangentGrad(nil, dx, m.Weights(m.phi))
}
