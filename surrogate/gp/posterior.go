package gp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// varianceFloor is the lower bound of a posterior variance, relative to the mean
// prior variance at the training inputs. Below it the difference
// k(x,x) - k(x,X)(K+σ²I)⁻¹k(X,x) is rounding error.
const varianceFloor = 1e-12

// posterior is f given y. With r = y-μ, A = K+σ²I+jitter and α = A⁻¹r, where known noise variances of targets take the
// place of σ² on the diagonal,
//
//	mean(x)   = μ + k(x,X)α
//	cov(x,x') = k(x,x') - k(x,X)A⁻¹k(X,x')
type posterior struct {
	pathwise.Conditional // Z = X, H = A⁻¹ = (L Lᵀ)⁻¹, Weights = α
	y                    []float64
	noise                []float64 // of the targets, as Dataset.Noise
	summary.Summary
	mixture func() mixture // posteriors at draws of the hyperparameters; nil if none are drawn
}

var (
	_ surrogate.Conditioner   = (*posterior)(nil)
	_ surrogate.Anchorer      = (*posterior)(nil)
	_ surrogate.Averager      = (*posterior)(nil)
	_ surrogate.MeanPredictor = (*posterior)(nil)
	_ surrogate.LeaveOneOut   = (*posterior)(nil)
	_ surrogate.Whitener      = (*posterior)(nil)
	_ surrogate.Evidence      = (*posterior)(nil)
	_ surrogate.Stater        = (*posterior)(nil)
	_ surrogate.Describer     = (*posterior)(nil)
)

// New returns the posterior of a process with the given mean, kernel and noise
// variance, and the known noise variances of d; it fits no hyperparameters. It costs n³/3 flops. The error
// wraps surrogate.ErrNoData, ErrShape, ErrNoise or ErrNotFinite for bad data, and prior.ErrSpec for an invalid
// process. It wraps surrogate.ErrNotPositiveDefinite if K + σ²I is not positive definite with the largest
// permitted jitter. The result implements surrogate.Conditioner, MeanPredictor, LeaveOneOut, Whitener,
// Evidence, Stater and Describer; its State is empty.
func New(p prior.Process, d surrogate.Dataset) (surrogate.Posterior, error) {
	switch {
	case p.Kernel == nil:
		return nil, fmt.Errorf("gp: %w: the process has no kernel", prior.ErrSpec)
	case math.IsNaN(p.Mean) || math.IsInf(p.Mean, 0):
		return nil, fmt.Errorf("gp: %w: the mean is %v, want a finite number", prior.ErrSpec, p.Mean)
	case !(p.Noise >= 0) || math.IsInf(p.Noise, 1):
		return nil, fmt.Errorf("gp: %w: the noise variance is %v, want a finite number of at least 0", prior.ErrSpec, p.Noise)
	}
	post, err := newPosterior(p, d)
	if err != nil {
		return nil, err
	}
	return post, nil
}

func newPosterior(p prior.Process, d surrogate.Dataset) (*posterior, error) {
	if err := d.ValidateNoisy(); err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	if dim != p.Kernel.Dim() {
		return nil, fmt.Errorf("gp: %w: kernel of %d inputs, data of %d", prior.ErrSpec, p.Kernel.Dim(), dim)
	}
	post := &posterior{y: slices.Clone(d.Y), noise: slices.Clone(d.Noise), Summary: summary.Summary{
		NoiseVariance: p.Noise,
		Parameters:    append(summary.KernelHypers(p.Kernel), surrogate.Hyper{Name: "noise", Value: p.Noise}, surrogate.Hyper{Name: "mean", Value: p.Mean}),
	}}
	box := domain.DrawBox(d)
	post.Process, post.Z, post.Lo, post.Hi = p, mat.DenseCopyOf(d.X), box.Lo, box.Hi
	gram := mat.NewSymDense(n, nil)
	p.Kernel.Gram(gram, post.Z)
	var trace float64
	for i := range n {
		trace += gram.At(i, i)
		gram.SetSym(i, i, gram.At(i, i)+d.NoiseAt(i, p.Noise))
	}
	post.Floor = varianceFloor * trace / float64(n)
	factor, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("gp: covariance of the observations: %w", err)
	}
	post.setFactor(factor)
	if factor.Jitter() > 0 {
		post.Notes = []string{fmt.Sprintf("the covariance is nearly singular, jitter %.1g makes predictions less accurate: set noise higher", factor.Jitter())}
	}
	return post, nil
}

// setFactor stores the factor of A and solves for α.
func (p *posterior) setFactor(factor *linalg.Cholesky) {
	p.L, p.Half, p.HalfJoint = factor, p.half, p.halfJoint
	p.Weights = make([]float64, len(p.y))
	for i, y := range p.y {
		p.Weights[i] = y - p.Process.Mean
	}
	factor.SolveVec(p.Weights)
}

// LogMarginalLikelihood returns -½rᵀA⁻¹r - ½log|A| - ½n log 2π (Rasmussen and
// Williams 2006, eq. 2.30).
func (p *posterior) LogMarginalLikelihood() float64 {
	var quad float64
	for i, y := range p.y {
		quad += (y - p.Process.Mean) * p.Weights[i]
	}
	return -0.5 * (quad + p.L.LogDet() + float64(len(p.y))*math.Log(2*math.Pi))
}

// LeaveOneOut writes the moments of the latent f at each training point given
// the other points (Rasmussen and Williams 2006, section 5.4.2):
//
//	mean_i = y_i - α_i/[A⁻¹]_ii,  variance_i = 1/[A⁻¹]_ii - σ² - jitter
//
// with the known noise variance of y_i, if there is one, in place of σ². The predictive variance of the observation y_i
// is the sum of variance_i and its noise variance. It costs n³ flops.
func (p *posterior) LeaveOneOut(mean, variance []float64) {
	n := len(p.y)
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	inverse := make([]float64, n)
	p.L.InverseDiag(inverse)
	for i, c := range inverse {
		mean[i] = p.y[i] - p.Weights[i]/c
		variance[i] = max(1/c-p.noiseAt(i)-p.L.Jitter(), p.Floor)
	}
}

// noiseAt returns the noise variance of target i.
func (p *posterior) noiseAt(i int) float64 {
	return surrogate.Dataset{Noise: p.noise}.NoiseAt(i, p.Process.Noise)
}

// Whiten writes L⁻¹(y-μ), with A = LLᵀ. It costs n² flops.
func (p *posterior) Whiten(dst []float64) {
	shape.Len("dst", len(dst), len(p.y))
	for i, y := range p.y {
		dst[i] = y - p.Process.Mean
	}
	p.L.SolveLowerVec(dst)
}

// Condition extends the factor by the m new rows in O(n²m). If the extended matrix
// needs more jitter, it factorises the whole matrix. State and hyperparameters are
// unchanged. The new rows have the noise variance of the process.
func (p *posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	d := surrogate.Dataset{X: x, Y: y}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	m, dim := d.Dims()
	if dim != p.Dim() {
		panic(fmt.Sprintf("gp: %d inputs, want %d", dim, p.Dim()))
	}
	n := len(p.y)
	cross := mat.NewDense(n, m, nil)
	p.Process.Kernel.Cross(cross, p.Z, x)
	corner := mat.NewSymDense(m, nil)
	p.Process.Kernel.Gram(corner, x)
	linalg.AddDiagonal(corner, p.Process.Noise)

	all := surrogate.Dataset{X: mat.NewDense(n+m, dim, nil), Y: slices.Concat(p.y, y), Lo: p.Lo, Hi: p.Hi}
	all.X.Stack(p.Z, x)
	if p.noise != nil {
		all.Noise = slices.Concat(p.noise, slices.Repeat([]float64{math.NaN()}, m))
	}
	out := &posterior{Conditional: p.Conditional, Summary: p.Summary, y: all.Y, noise: all.Noise}
	out.Z = all.X
	if factor, err := p.L.Extend(cross, corner); err == nil && factor.Jitter() == p.L.Jitter() {
		out.setFactor(factor)
	} else {
		if out, err = newPosterior(p.Process, all); err != nil {
			return nil, err
		}
		out.Notes, out.Learned = slices.Concat(p.Notes, out.Notes), p.Learned
	}
	return out, nil
}
