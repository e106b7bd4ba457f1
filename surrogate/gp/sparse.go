package gp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

const (
	fittedRows  = 1000 // observations to which the hyperparameters of a sparse posterior are fitted
	nearest     = 4    // one inducing point of 4 is near the lowest target
	leastOthers = 100  // observations that the fit has not used, with which its noise is compared
	sparseRows  = 1024 // observations of one block

	// jitterOfNoise times the noise variance is the first jitter of k(Z,Z). The jitter is part of λ and of
	// the posterior variance: one that exceeds the noise makes intervals too wide.
	jitterOfNoise = 0.1
)

// sparse is the posterior under the fully independent training conditional (Snelson and Ghahramani
// 2005): with the basis w of m inducing points Z, f(Z) = μ + L v,
//
//	y_i = μ + w(x_i)ᵀv + e_i,  e_i ~ N(0, λ_i),  λ_i = σ² + k(x_i,x_i) - |w(x_i)|²
//
// with the known noise variance of y_i, if there is one, in place of σ².
// The variance λ_i - σ² that Z does not explain counts as noise of the observation. Intervals are therefore not
// too narrow between the inducing points. For Z = X the posterior is exact.
type sparse struct {
	*inducing.Posterior
	data surrogate.Dataset
}

var (
	_ surrogate.LeaveOneOut = (*sparse)(nil)
	_ surrogate.Anchorer    = (*sparse)(nil)
)

// fitSparse fits the hyperparameters to at most 1000 random observations and conditions on all
// of d in O(nm²). The inducing points are m observations: a quarter have the largest prior covariance
// with the lowest target, and the others are random.
//
// The likelihood of 1000 observations may explain noise by short lengthscales. So the squared error at other observations
// is compared with a learned noise variance. If it is more than 16 times as large, the other hyperparameters are fitted
// again for three larger noise variances. Of the four posteriors the one with the largest marginal likelihood of all
// observations is returned (docs/adr/0047). With known noise variances of targets the first fit stands.
func (m Model) fitSparse(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	order, rows := rng.Perm(len(d.Y)), min(fittedRows, m.Exact)
	part := d.Take(order[:rows])
	spec := m.Spec.ByValue().WithNoises(part.Noise)
	fitted, err := spec.Fit(ctx, part.X, part.Y, d.NoiseFree, start, rng)
	if err != nil {
		return nil, err
	}
	post, err := m.conditionOn(ctx, fitted.Process, d, rng)
	if err != nil {
		return nil, err
	}
	if others := order[rows:min(2*rows, len(order))]; !d.NoiseFree && d.Noise == nil && m.Noise == nil && len(others) >= leastOthers {
		square, err := squaredError(fitted.Process, part, d, others)
		if err != nil {
			return nil, err
		}
		for _, noise := range noisier(fitted.Noise, square) {
			given, other, err := m.fitGiven(ctx, spec, noise, part, d, rng)
			switch {
			case errors.Is(err, linalg.ErrNotPositiveDefinite): // the fit before stands
			case err != nil:
				return nil, err
			case other.Bound > post.Bound:
				fitted, post = given, other
			}
		}
	}
	post.Summary = summary.Summary{Learned: fitted.State, Notes: append(fitted.Warnings, fmt.Sprintf(
		"more than %d observations: the posterior is approximated with %d inducing points, because an exact one takes cubic time; set exact higher for an exact one", m.Exact, m.Exact))}
	d.X, d.Y, d.Noise = mat.DenseCopyOf(d.X), slices.Clone(d.Y), slices.Clone(d.Noise)
	return &sparse{post.Prepare(), d}, nil
}

// conditionOn is condition for inducing points among the observations.
func (m Model) conditionOn(ctx context.Context, p prior.Process, d surrogate.Dataset, rng *rand.Rand) (*inducing.Posterior, error) {
	return condition(ctx, p, m.Mean != prior.MeanZero, inducingPoints(p.Kernel, d, m.Exact, rng), d)
}

// noisier returns noise variances to try in place of a learned one: the squared error at other observations, a half and a
// quarter of it. It returns nothing if a quarter is at most four times the learned one.
func noisier(learned, square float64) []float64 {
	if square/4 <= 4*learned {
		return nil
	}
	return []float64{square, square / 2, square / 4}
}

// squaredError returns the mean squared error, at the given rows of all, of the exact posterior of part.
func squaredError(p prior.Process, part, all surrogate.Dataset, rows []int) (float64, error) {
	post, err := newPosterior(p, part)
	if err != nil {
		return 0, err
	}
	x, y := subset.TakeBoth(all.X, all.Y, rows)
	mean, variance := make([]float64, len(y)), make([]float64, len(y))
	post.Predict(mean, variance, x)
	d := floats.Distance(mean, y, 2)
	return d * d / float64(len(y)), nil
}

// fitGiven fits the hyperparameters other than the noise variance to part, and conditions on all. The given noise
// counts as learned.
func (m Model) fitGiven(ctx context.Context, spec prior.Spec, noise float64, part, all surrogate.Dataset, rng *rand.Rand) (fitted prior.Fitted, post *inducing.Posterior, err error) {
	given := spec
	given.Noise = &noise
	if fitted, err = given.Fit(ctx, part.X, part.Y, part.NoiseFree, nil, rng); err != nil {
		return fitted, nil, err
	}
	state := append(fitted.State, math.Log(noise)) // the noise is the last hyperparameter
	if fitted, err = spec.At(ctx, part.X, part.Y, part.NoiseFree, state); err != nil {
		return fitted, nil, err
	}
	post, err = m.conditionOn(ctx, fitted.Process, all, rng)
	return fitted, post, err
}

// inducingPoints returns at most m distinct rows of d.
func inducingPoints(k prior.Kernel, d surrogate.Dataset, m int, rng *rand.Rand) *mat.Dense {
	rows := subset.Distinct(d.X, rng.Perm(len(d.Y)))
	if len(rows) <= m {
		return subset.Take(d.X, rows)
	}
	low := 0
	for i, y := range d.Y {
		if y < d.Y[low] {
			low = i
		}
	}
	with := mat.NewDense(len(d.Y), 1, nil)
	k.Cross(with, d.X, shape.Rows(d.X, low, low+1))
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(with.At(b, 0), with.At(a, 0)) })
	order = order[:(m+nearest-1)/nearest]
	taken := make([]bool, len(d.Y))
	for _, i := range order {
		taken[i] = true
	}
	for _, i := range rows {
		if !taken[i] && len(order) < m {
			order = append(order, i)
		}
	}
	return subset.Take(d.X, order)
}

// condition returns the posterior before Prepare: with Λ = diag(λ) and W = w(X), the precision of v
// is B = I + WΛ⁻¹Wᵀ and its mean B⁻¹WΛ⁻¹(y-μ). A learned μ is the generalised-least-squares
// estimate. Bound is the log marginal likelihood of the approximate model.
func condition(ctx context.Context, p prior.Process, learned bool, z *mat.Dense, d surrogate.Dataset) (*inducing.Posterior, error) {
	basis, err := pathwise.NewBasisFrom(p, z, jitterOfNoise*p.Noise)
	if err != nil {
		return nil, fmt.Errorf("gp: %w", err)
	}
	box := domain.DrawBox(d)
	basis.Lo, basis.Hi = box.Lo, box.Hi
	n, m := len(d.Y), basis.L.N()
	b, wy, w1 := mat.NewSymDense(m, nil), make([]float64, m), make([]float64, m)
	var yy, y1, ones, logs float64 // yᵀΛ⁻¹y, yᵀΛ⁻¹1, 1ᵀΛ⁻¹1, log|Λ|
	for lo := 0; lo < n; lo += sparseRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+sparseRows, n)
		w, root := scaled(basis, d, lo, hi)
		y := slices.Clone(root)
		for i, r := range root {
			y[i] *= d.Y[lo+i]
			yy, y1, ones, logs = yy+y[i]*y[i], y1+y[i]*r, ones+r*r, logs-2*math.Log(r)
		}
		linalg.Syrk(b, 1, linalg.N, w, 1)
		linalg.MulVec(wy, 1, linalg.N, w, y, 1)
		linalg.MulVec(w1, 1, linalg.N, w, root, 1)
	}
	linalg.AddDiagonal(b, 1)
	factor, err := linalg.Factorize(b)
	if err != nil {
		return nil, fmt.Errorf("gp: precision of the inducing values: %w", err)
	}
	factor.SolveLowerVec(wy)
	factor.SolveLowerVec(w1)
	if learned {
		basis.Process.Mean = (y1 - linalg.Dot(w1, wy)) / (ones - linalg.Dot(w1, w1))
	}
	mean := basis.Process.Mean
	linalg.Axpy(-mean, w1, wy)
	quad := yy - 2*mean*y1 + mean*mean*ones - linalg.Dot(wy, wy)
	out := &inducing.Posterior{Conditional: pathwise.Conditional{Basis: basis}, B: factor, M: wy}
	out.Bound = -0.5 * (quad + logs + factor.LogDet() + float64(n)*math.Log(2*math.Pi))
	factor.SolveUpperVec(wy)
	return out, nil
}

// scaled returns WΛ^-½ and the diagonal of Λ^-½ at the rows of d from lo to hi-1.
func scaled(basis pathwise.Basis, d surrogate.Dataset, lo, hi int) (w *mat.Dense, root []float64) {
	x := shape.Rows(d.X, lo, hi)
	w, root = basis.Eval(x), make([]float64, x.RawMatrix().Rows)
	basis.Process.Kernel.Diag(root, x)
	floor := varianceFloor * linalg.Mean(root)
	linalg.SubColumnSquares(root, w)
	for i, v := range root {
		root[i] = 1 / math.Sqrt(d.NoiseAt(lo+i, basis.Process.Noise)+max(v, floor))
	}
	linalg.ScaleColumns(w, w, root)
	return w, root
}

// LeaveOneOut writes the moments of the latent f at each training point given the other
// observations, with the same inducing points. With h_i = w(x_i)ᵀB⁻¹w(x_i)/λ_i and the mean m_i,
//
//	mean_i = y_i - (y_i - m_i)/(1-h_i),  variance_i = λ_i/(1-h_i) - σ²
//
// with a known noise variance of y_i in place of σ². It costs O(nm²).
func (p *sparse) LeaveOneOut(mean, variance []float64) {
	n := len(p.data.Y)
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	for lo := 0; lo < n; lo += sparseRows {
		hi := min(lo+sparseRows, n)
		w, root := scaled(p.Basis, p.data, lo, hi)
		linalg.MulVec(mean[lo:hi], 1, linalg.T, w, p.M, 0)
		p.B.SolveLower(w)
		linalg.Fill(variance[lo:hi], 1)
		linalg.SubColumnSquares(variance[lo:hi], w)
		for i, r := range root {
			left := max(variance[lo+i], varianceFloor)
			y := p.data.Y[lo+i]
			mean[lo+i] = y - (y-p.Process.Mean-mean[lo+i]/r)/left
			variance[lo+i] = max(1/(r*r*left)-p.data.NoiseAt(lo+i, p.NoiseVariance), p.Floor)
		}
	}
}
