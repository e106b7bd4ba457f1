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
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// varianceFloor is the lower bound of a posterior variance, relative to the mean
// prior variance at the training inputs. Below it the difference
// k(x,x) - k(x,X)(K+σ²I)⁻¹k(X,x) is rounding error.
const varianceFloor = 1e-12

// posterior is f given y. With r = y-μ, A = K+σ²I+jitter and α = A⁻¹r,
//
//	mean(x)   = μ + k(x,X)α
//	cov(x,x') = k(x,x') - k(x,X)A⁻¹k(X,x')
type posterior struct {
	process prior.Process
	x       *mat.Dense // n×d, owned
	y       []float64
	factor  *linalg.Cholesky // Cholesky factor of A
	alpha   []float64
	floor   float64

	state    surrogate.State
	warnings []string
}

var (
	_ surrogate.Conditioner = (*posterior)(nil)
	_ surrogate.LeaveOneOut = (*posterior)(nil)
	_ surrogate.Evidence    = (*posterior)(nil)
	_ surrogate.Stater      = (*posterior)(nil)
	_ surrogate.Describer   = (*posterior)(nil)
)

// New returns the posterior of a process with the given mean, kernel and noise
// variance; it fits no hyperparameters. It costs n³/3 flops. The error wraps
// surrogate.ErrNoData, ErrShape or ErrNotFinite for bad data, and
// surrogate.ErrNotPositiveDefinite if K + σ²I is not positive definite with the
// largest permitted jitter. The result implements surrogate.Conditioner,
// LeaveOneOut, Evidence, Stater and Describer; its State is empty.
func New(p prior.Process, d surrogate.Dataset) (surrogate.Posterior, error) {
	return newPosterior(p, d)
}

func newPosterior(p prior.Process, d surrogate.Dataset) (*posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	if dim != p.Kernel.Dim() {
		panic(fmt.Sprintf("gp: %d inputs, kernel of dimension %d", dim, p.Kernel.Dim()))
	}
	post := &posterior{process: p, x: mat.DenseCopyOf(d.X), y: slices.Clone(d.Y)}
	gram := mat.NewSymDense(n, nil)
	p.Kernel.Gram(gram, post.x)
	var trace float64
	for i := range n {
		trace += gram.At(i, i)
		gram.SetSym(i, i, gram.At(i, i)+p.Noise)
	}
	post.floor = varianceFloor * trace / float64(n)
	factor, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("gp: covariance of the observations: %w", err)
	}
	post.setFactor(factor)
	if factor.Jitter() > 0 {
		post.warnings = []string{fmt.Sprintf("the covariance is nearly singular: jitter %.1g acts as additional noise; allow a larger noise", factor.Jitter())}
	}
	return post, nil
}

// setFactor stores the factor of A and solves for α.
func (p *posterior) setFactor(factor *linalg.Cholesky) {
	p.factor = factor
	p.alpha = make([]float64, len(p.y))
	for i, y := range p.y {
		p.alpha[i] = y - p.process.Mean
	}
	factor.SolveVec(p.alpha)
}

func (p *posterior) Dim() int       { return p.process.Kernel.Dim() }
func (p *posterior) Noise() float64 { return p.process.Noise }

// LogMarginalLikelihood returns -½rᵀA⁻¹r - ½log|A| - ½n log 2π (Rasmussen and
// Williams 2006, eq. 2.30).
func (p *posterior) LogMarginalLikelihood() float64 {
	var quad float64
	for i, y := range p.y {
		quad += (y - p.process.Mean) * p.alpha[i]
	}
	return -0.5 * (quad + p.factor.LogDet() + float64(len(p.y))*math.Log(2*math.Pi))
}

// State returns the logarithms of the fitted hyperparameters.
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// Hypers returns the hyperparameters of the kernel, the noise variance and the mean.
func (p *posterior) Hypers() []surrogate.Hyper {
	return append(summary.KernelHypers(p.process.Kernel), surrogate.Hyper{Name: "noise", Value: p.process.Noise}, surrogate.Hyper{Name: "mean", Value: p.process.Mean})
}

// Warnings returns the warnings of the hyperparameter fit and about jitter.
func (p *posterior) Warnings() []string { return slices.Clone(p.warnings) }

// LeaveOneOut writes the moments of the latent f at each training point given
// the other points (Rasmussen and Williams 2006, section 5.4.2):
//
//	mean_i = y_i - α_i/[A⁻¹]_ii,  variance_i = 1/[A⁻¹]_ii - σ² - jitter
//
// The predictive variance of the observation y_i is variance_i + Noise(). It
// costs n³ flops.
func (p *posterior) LeaveOneOut(mean, variance []float64) {
	n := len(p.y)
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	inverse := make([]float64, n)
	p.factor.InverseDiag(inverse)
	for i, c := range inverse {
		mean[i] = p.y[i] - p.alpha[i]/c
		variance[i] = max(1/c-p.process.Noise-p.factor.Jitter(), p.floor)
	}
}

// Condition extends the factor by the m new rows in O(n²m). If the extended matrix
// needs more jitter, it factorises the whole matrix. State and hyperparameters are
// unchanged.
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
	p.process.Kernel.Cross(cross, p.x, x)
	corner := mat.NewSymDense(m, nil)
	p.process.Kernel.Gram(corner, x)
	for i := range m {
		corner.SetSym(i, i, corner.At(i, i)+p.process.Noise)
	}

	all := surrogate.Dataset{X: mat.NewDense(n+m, dim, nil), Y: slices.Concat(p.y, y)}
	all.X.Stack(p.x, x)
	out := &posterior{process: p.process, x: all.X, y: all.Y, floor: p.floor, warnings: p.warnings}
	if factor, err := p.factor.Extend(cross, corner); err == nil && factor.Jitter() == p.factor.Jitter() {
		out.setFactor(factor)
	} else {
		if out, err = newPosterior(p.process, all); err != nil {
			return nil, err
		}
		out.warnings = slices.Concat(p.warnings, out.warnings)
	}
	out.state = p.state
	return out, nil
}
