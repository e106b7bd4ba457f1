// Package target computes the distribution of a Gaussian process given data at a set of
// points, and trains a network towards it by least squares.
package target

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// MaxExact is the largest number of observations that New conditions on exactly.
const MaxExact = 1000

// Gaussian is the distribution N(m, V) of f(C) under a process given noisy observations. If
// the rows of C contain the n inputs,
//
//	Σ_i (y_i - f_i)²/(2σ²) + ½ (f - μ)ᵀK⁻¹(f - μ) = ½ (f - m)ᵀV⁻¹(f - m) + const.
type Gaussian struct {
	C    *mat.Dense
	Mean []float64     // m
	Cov  *mat.SymDense // V
}

// stages are the variances added to the diagonal of a target's covariance, relative to the
// mean prior variance. The first stage gives little weight to rough directions of small
// variance; the last stage is nearly exact.
var stages = []float64{1e-2, 1e-4, 1e-6}

// Train fits the weights w of a network to the target by least squares in the metric of its
// covariance. It takes at most steps steps. A stage ends at tolerance nats per point.
// Train returns the remaining nats per point, and an error of LeastSquares.Minimize.
func (t Gaussian) Train(ctx context.Context, net *nn.Network, inputs domain.Affine, k prior.Kernel, w []float64, steps int, tolerance float64) (left float64, err error) {
	n := len(t.Mean)
	mem := workspace.Borrow()
	defer mem.Return()
	variance := mem.Floats(n)
	k.Diag(variance, t.C)
	scale := linalg.Mean(variance)
	q := &LeastSquares{Net: net, Inputs: inputs.Apply(t.C), Target: t.Mean}
	cov := mem.Sym(n)
	for _, s := range stages {
		cov.CopySym(t.Cov)
		linalg.AddDiagonal(cov, s*scale)
		r, taken, err := q.Minimize(ctx, w, cov, steps, tolerance)
		if err != nil {
			return 0, err
		}
		steps -= taken
		left = r / float64(n)
	}
	return left, nil
}

// Missed returns a warning if Train left many nats per point, else nothing.
func Missed(left float64) []string {
	if left <= 0.05 {
		return nil
	}
	return []string{fmt.Sprintf("the network misses the posterior by %.2g nats per point, the mean may be wrong: set hidden higher", left)}
}

const (
	interval = 1.959963984540054 // half the width of the central 95 % interval, in standard deviations

	// leastContained is the bound of Narrow, and smallest the prior variance that it neglects, relative to
	// the prior variance.
	leastContained, smallest = 0.92, 1e-6
)

// Contained returns the part of the distribution t at t.C that central 95 % intervals contain, averaged over
// the points. The intervals belong to normal distributions with the given moments. The result is 0.95 for the
// moments of t. A spread below a thousandth of the prior standard deviation of p does not count.
func (t Gaussian) Contained(p prior.Process, mean, variance []float64) float64 {
	least := make([]float64, len(mean))
	p.Kernel.Diag(least, t.C)
	var sum float64
	for i, least := range least {
		least *= smallest
		sd, half := math.Sqrt(max(t.Cov.At(i, i), 0)+least), interval*math.Sqrt(max(variance[i], 0)+least)
		off := mean[i] - t.Mean[i]
		sum += 0.5 * (math.Erf((off+half)/(sd*math.Sqrt2)) - math.Erf((off-half)/(sd*math.Sqrt2)))
	}
	return sum / float64(len(mean))
}

// Narrow returns a warning with the given remedy if Contained is below 0.92, else nothing. It does not
// report intervals that are too wide.
func (t Gaussian) Narrow(p prior.Process, mean, variance []float64, remedy string) []string {
	part := t.Contained(p, mean, variance)
	if !(part < leastContained) {
		return nil
	}
	return []string{fmt.Sprintf("the 95 %% intervals of the function contain %.0f %% of the exact posterior, the variance may be too small: %s", 100*part, remedy)}
}

// comparedPoints is the number of points of Compare.
const comparedPoints = 128

// Compare returns the warning of Narrow for a posterior of the process p given d, at points of the
// box. The noise variance is the posterior's. Beyond MaxExact observations it returns nothing. It costs
// O(n³) and a prediction of 128 points.
func Compare(post surrogate.Posterior, p prior.Process, d surrogate.Dataset, box domain.Box, remedy string, rng *rand.Rand) ([]string, error) {
	p.Noise = post.Noise()
	return CompareTo(post, p, d, box, remedy, rng)
}

// CompareTo is Compare with the noise variance of p.
func CompareTo(post surrogate.Posterior, p prior.Process, d surrogate.Dataset, box domain.Box, remedy string, rng *rand.Rand) ([]string, error) {
	if len(d.Y) > MaxExact {
		return nil, nil
	}
	to, err := New(p, box.Halton(comparedPoints, rng), d.X, d.Y)
	if err != nil {
		return nil, err
	}
	mean, variance := make([]float64, comparedPoints), make([]float64, comparedPoints)
	post.Predict(mean, variance, to.C)
	return to.Narrow(p, mean, variance, remedy), nil
}

// New conditions p at the rows of c on observations y at the rows of x. Up to MaxExact
// observations the result is exact and costs O(n³ + |C|²n). Beyond, it is the variational
// sparse process with inducing points c (Titsias 2009) and costs O(n|C|²).
func New(p prior.Process, c, x *mat.Dense, y []float64) (Gaussian, error) {
	if len(y) > MaxExact {
		return sparseTarget(p, c, x, y)
	}
	return exactTarget(p, c, x, y)
}

func exactTarget(p prior.Process, c, x *mat.Dense, y []float64) (Gaussian, error) {
	mem := workspace.Borrow()
	defer mem.Return()
	to, kcx, y := priorAt(mem, p, c, x, y)
	kxx := mem.Sym(len(y))
	p.Covariance(kxx, x)
	chol, err := linalg.Factorize(kxx)
	if err != nil {
		return Gaussian{}, fmt.Errorf("covariance of the data: %w", err)
	}
	chol.SolveVec(y)
	linalg.MulVec(to.Mean, 1, linalg.N, kcx, y, 1)
	nc, _ := c.Dims()
	half := mem.Dense(len(y), nc)
	half.Copy(kcx.T())
	chol.SolveLower(half)
	linalg.Syrk(to.Cov, -1, linalg.T, half, 1)
	return to, nil
}

// sparseTarget returns the sparse process. Let K = L Lᵀ be the prior covariance at C, V = L⁻¹k(C,X) and
// B = I + σ⁻² V Vᵀ. The mean is μ + σ⁻² L B⁻¹ V (y - μ) and the covariance L B⁻¹ Lᵀ. Jitter is added to K if
// its factorisation needs it.
func sparseTarget(p prior.Process, c, x *mat.Dense, y []float64) (Gaussian, error) {
	mem := workspace.Borrow()
	defer mem.Return()
	to, v, y := priorAt(mem, p, c, x, y)
	nc := len(to.Mean)
	chol, err := linalg.Factorize(to.Cov)
	if err != nil {
		return Gaussian{}, fmt.Errorf("prior covariance at the context points: %w", err)
	}
	chol.SolveLower(v)
	b := mem.Sym(nc)
	b.Zero()
	linalg.AddDiagonal(b, 1)
	linalg.Syrk(b, 1/p.Noise, linalg.N, v, 1)
	inner, err := linalg.Factorize(b)
	if err != nil {
		return Gaussian{}, fmt.Errorf("covariance of the data: %w", err)
	}
	e := mem.Floats(nc)
	linalg.MulVec(e, 1/p.Noise, linalg.N, v, y, 0)
	inner.SolveVec(e)
	chol.MulLowerVec(e)
	linalg.Axpy(1, e, to.Mean)
	lower, half := mem.Dense(nc, nc), mem.Dense(nc, nc)
	chol.Lower(lower)
	half.Copy(lower.T())
	inner.SolveLower(half)
	linalg.Syrk(to.Cov, 1, linalg.T, half, 0)
	return to, nil
}

// priorAt returns the process at the rows of c, its covariance with x, and y minus the prior
// mean. The last two are in mem.
func priorAt(mem *workspace.Memory, p prior.Process, c, x *mat.Dense, y []float64) (to Gaussian, kcx *mat.Dense, centred []float64) {
	nc, _ := c.Dims()
	to = Gaussian{c, make([]float64, nc), mat.NewSymDense(nc, nil)}
	linalg.Fill(to.Mean, p.Mean)
	p.Kernel.Gram(to.Cov, c)
	kcx = mem.Dense(nc, len(y))
	p.Kernel.Cross(kcx, c, x)
	centred = mem.Floats(len(y))
	for i, v := range y {
		centred[i] = v - p.Mean
	}
	return to, kcx, centred
}
