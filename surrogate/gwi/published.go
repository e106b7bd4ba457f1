package gwi

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	publishedPasses = 1000 // passes through the data

	// leastEigenvalue is the smallest eigenvalue of eq. 15 that counts, relative to the largest. The
	// eigenvalues of the product have rounding errors of about this size.
	leastEigenvalue = 1e-10

	// The published temperature is the best of a grid from firstTemperature to lastTemperature.
	temperatures     = 1000
	firstTemperature = 1e-9
	lastTemperature  = 2
)

// fitPublished fits as published. Adam changes β or the weights, and the lower triangular Λ in
// Σ = ΛΛᵀ. The parameters with the largest density of the held-out observations remain. Then a
// temperature is chosen, also by this density.
func (r recipe) fitPublished(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	n, _ := d.Dims()
	var held surrogate.Dataset
	if n > 1 && *r.HeldOut > 0 {
		d, held = domain.HoldOut(d, *r.HeldOut, random.Split(rng, "held out", 0))
	}
	r, err := r.forData(d.Dims())
	if err != nil {
		return nil, err
	}
	p, u, err := r.preparePublished(ctx, start, d, rng)
	if err != nil {
		return nil, err
	}
	best, least := append([]float64(nil), p.v.Vector...), math.Inf(1)
	watch := func() error {
		if held.Y == nil {
			return nil
		}
		errors, variances, err := p.residuals(held)
		if err != nil {
			return err
		}
		if loss := negativeLog(errors, variances, 1); loss < least {
			least = loss
			copy(best, p.v.Vector)
		}
		return nil
	}
	if err := p.trainPublished(ctx, u, watch, random.Split(rng, "train", 0)); err != nil {
		return nil, err
	}
	if held.Y == nil {
		return p.finish(1, random.Split(rng, "compare", 0))
	}
	copy(p.v.Vector, best)
	errors, variances, err := p.residuals(held)
	if err != nil {
		return nil, err
	}
	temperature, least := 1., math.Inf(1)
	for i := range temperatures {
		t := firstTemperature + float64(i)*(lastTemperature-firstTemperature)/(temperatures-1)
		if loss := negativeLog(errors, variances, t); loss < least {
			temperature, least = t, loss
		}
	}
	return p.finish(temperature, random.Split(rng, "compare", 0))
}

// preparePublished returns the problem at the published start, and its variables. The inducing
// points are random observations, to which the prior is fitted. β is 0.
func (r recipe) preparePublished(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (*problem, *direct, error) {
	n, _ := d.Dims()
	weights := 0
	if r.net != nil {
		weights = r.net.NumParams()
	}
	ofPrior, _ := summary.DecodeState(start, weights)
	z, y := subset.TakeBoth(d.X, d.Y, random.Split(rng, "inducing", 0).Perm(n)[:min(n, r.Inducing)])
	fitted, err := r.Spec.Fit(ctx, z, y, d.NoiseFree, ofPrior, random.Split(rng, "prior", 0))
	if err != nil {
		return nil, nil, err
	}
	basis, err := pathwise.NewBasis(fitted.Process, z)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.name, err)
	}
	q := &inducing.Posterior{Conditional: pathwise.Conditional{Basis: basis}, Summary: summary.Summary{Learned: fitted.State}}
	if err := titsias(q, d); err != nil {
		return nil, nil, fmt.Errorf("%s: start: %w", r.name, err)
	}
	p := &problem{
		recipe: r, data: d, box: domain.ContextBox("search", d), source: domain.NewSource(r.MeasurementPoints),
		order: subset.All(n), q: q.Prepare(), notes: fitted.Warnings,
	}
	p.objective = objective{process: q.Process, squared: r.Distance == squared}
	if err := p.start(ctx, nil, random.Split(rng, "start", 0)); err != nil {
		return nil, nil, err
	}
	u, err := newDirect(p)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: start: %w", r.name, err)
	}
	u.push(p.v)
	return p, u, nil
}

// titsias sets B = I + WWᵀ/σ² and M = B⁻¹W(y-μ)/σ² over the observations (Titsias 2009).
func titsias(q *inducing.Posterior, d surrogate.Dataset) error {
	w, noise := q.Eval(d.X), q.Process.Noise
	m := q.L.N()
	b := mat.NewSymDense(m, nil)
	linalg.Syrk(b, 1/noise, linalg.N, w, 0)
	linalg.AddDiagonal(b, 1)
	residual := make([]float64, len(d.Y))
	for i, y := range d.Y {
		residual[i] = (y - q.Process.Mean) / noise
	}
	q.M = make([]float64, m)
	linalg.MulVec(q.M, 1, linalg.N, w, residual, 0)
	var err error
	if q.B, err = linalg.Factorize(b); err != nil {
		return err
	}
	q.B.SolveVec(q.M)
	return nil
}

// direct are the published variables of q: β or the weights of the network in M, Λ in Ut, and
// log σ. With G = L L_B they are a = Gᵀβ and T = GᵀΛ.
type direct struct {
	at, bar *variational.Gaussian
	g       *mat.Dense
	sparse  bool
}

// newDirect returns the variables with ΛΛᵀ = (G Gᵀ)⁻¹, the optimum of Titsias, and β = 0.
func newDirect(p *problem) (*direct, error) {
	m := p.q.L.N()
	u := &direct{at: p.v.Like(), bar: p.v.Like(), g: mat.NewDense(m, m, nil), sparse: p.net == nil}
	lower, inverse := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	p.q.L.Lower(u.g)
	p.q.B.Lower(lower)
	linalg.Mul(u.g, 1, linalg.N, mat.DenseCopyOf(u.g), linalg.N, lower, 0)

	linalg.SetIdentity(inverse)
	p.q.L.SolveLower(inverse)
	p.q.B.SolveLower(inverse)
	sigma := mat.NewSymDense(m, nil)
	linalg.Syrk(sigma, 1, linalg.T, inverse, 0)
	chol, err := linalg.Factorize(sigma)
	if err != nil {
		return nil, err
	}
	copy(u.at.Vector, p.v.Vector)
	if u.sparse {
		clear(u.at.M)
	}
	chol.Lower(u.at.Ut)
	return u, nil
}

// push sets v to the value of the variables.
func (u *direct) push(v *variational.Gaussian) {
	copy(v.LogSD, u.at.LogSD)
	linalg.Mul(v.Ut, 1, linalg.T, u.g, linalg.N, u.at.Ut, 0)
	if u.sparse {
		linalg.MulVec(v.M, 1, linalg.T, u.g, u.at.M, 0)
	} else {
		copy(v.M, u.at.M)
	}
}

// pull converts a gradient with respect to q to a gradient with respect to the variables, in bar.
func (u *direct) pull(grad *variational.Gaussian) {
	copy(u.bar.LogSD, grad.LogSD)
	linalg.Mul(u.bar.Ut, 1, linalg.N, u.g, linalg.N, grad.Ut, 0)
	m, _ := u.g.Dims()
	for i := range m {
		clear(u.bar.Ut.RawRowView(i)[i+1:])
	}
	if u.sparse {
		linalg.MulVec(u.bar.M, 1, linalg.N, u.g, grad.M, 0)
	} else {
		copy(u.bar.M, grad.M)
	}
}

// trainPublished lowers the published loss by Adam with a constant rate. It calls watch after each
// pass through the data and at the start.
func (p *problem) trainPublished(ctx context.Context, u *direct, watch func() error, rng *rand.Rand) error {
	opt, grad := optimize.Adam{}, p.v.Like()
	size := min(p.Batch, len(p.order))
	pass := len(p.order) / size
	s := train.Schedule{Phase: "train", Steps: p.Steps, Every: watchSteps, Rate: p.Rate, End: 1}
	err := s.Run(ctx, func(step int, rate float64) error {
		if step%pass == 0 {
			if err := watch(); err != nil {
				return err
			}
			rng.Shuffle(len(p.order), func(i, j int) { p.order[i], p.order[j] = p.order[j], p.order[i] })
		}
		at := step % pass * size
		points := p.publishedPoints(p.order[at:at+size], rng)
		if err := p.source.Err(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := p.objective.evalPublished(p.v, points, grad); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if !p.LearnNoise {
			grad.LogSD[0] = 0
		}
		u.pull(grad)
		opt.Step(rate, u.at.Vector, u.bar.Vector)
		u.push(p.v)
		return nil
	})
	if err != nil {
		return err
	}
	return watch()
}

// residuals returns the errors of the predictions of d, and the predictive variances with noise.
func (p *problem) residuals(d surrogate.Dataset) (errors, variances []float64, err error) {
	post, err := p.posterior(1)
	if err != nil {
		return nil, nil, err
	}
	errors, variances = make([]float64, len(d.Y)), make([]float64, len(d.Y))
	post.Predict(errors, variances, d.X)
	for i, y := range d.Y {
		errors[i] -= y
		variances[i] += post.Noise()
	}
	return errors, variances, nil
}

// negativeLog returns the sum of -log N(e | 0, t·variance), without constants.
func negativeLog(errors, variances []float64, t float64) float64 {
	var sum float64
	for i, e := range errors {
		v := t * variances[i]
		sum += 0.5 * (math.Log(v) + e*e/v)
	}
	return sum
}

// publishedPoints are the points X at which the first three terms of the distance are measured, and
// the points S of the last. As published X is the batch, and S a subsample of the training inputs.
type publishedPoints struct {
	points
	phi   *mat.Dense // φ(S), a column for each point
	cross *mat.Dense // k(S,X)
	prior *mat.Dense // k(S,X) - w(S)ᵀw(X)
}

// publishedPoints returns the given observations with X and S. With a source, X = S are its points. With
// Measure "all", X are the observations and half of Points points of the box. Otherwise X are the
// observations. S are then Points training inputs.
func (p *problem) publishedPoints(index []int, rng *rand.Rand) *publishedPoints {
	x, y := subset.TakeBoth(p.data.X, p.data.Y, index)
	if p.source != nil {
		c, all := p.source.Points(p.box, p.Points, rng, p.box.Uniform), new(mat.Dense)
		all.Stack(c, x)
		return p.pointsAt(all, c.RawMatrix().Rows, y, c)
	}
	if p.Measure == measureAll && p.Points > 1 {
		c, observed := p.box.Uniform(p.Points/2, rng), x
		x = new(mat.Dense)
		x.Stack(c, observed)
	}
	return p.pointsAt(x, x.RawMatrix().Rows, y, subset.Take(p.data.X, rng.Perm(len(p.order))[:min(p.Points, len(p.order))]))
}

// pointsAt returns points with the given rows: the first measured rows are X, the last the
// observations y.
func (p *problem) pointsAt(x *mat.Dense, measured int, y []float64, s *mat.Dense) *publishedPoints {
	n, d := x.Dims()
	k, _ := s.Dims()
	q := p.q
	out := &publishedPoints{points: points{x: x, measured: measured, y: y, weight: float64(len(p.order)) / float64(max(1, len(y))), rest: make([]float64, n)}}
	w, phi := q.Features(x)
	ws, phiS := q.Features(s)
	out.points.phi, out.phi = phi, phiS
	q.Process.Kernel.Diag(out.rest, x)
	for _, v := range out.rest[:measured] {
		out.trace += v
	}
	linalg.SubColumnSquares(out.rest, w)
	out.cross = mat.NewDense(k, measured, nil)
	q.Process.Kernel.Cross(out.cross, s, x.Slice(0, measured, 0, d).(*mat.Dense))
	out.prior = mat.DenseCopyOf(out.cross)
	linalg.Mul(out.prior, -1, linalg.T, ws, linalg.N, left(w, measured), 1)
	return out
}

// evalPublished returns the loss of eq. 12 to 15 and writes its gradient,
//
//	F = (N/B) Σ_batch [ ½ log 2πσ² + ((y - m_Q(x))² + r(x,x))/(2σ²) ] + D
//
// with D = Ŵ or Ŵ², and over the points X and S
//
//	Ŵ² = 1/|X| Σ_X [ (m_Q - μ)² + k + r ] - 2/√(|X||S|) Σ_s √λ_s( r(S,X) k(X,S) ).
//
// It costs O(|X||S|m + |S|³).
func (o *objective) evalPublished(v *variational.Gaussian, p *publishedPoints, grad *variational.Gaussian) (float64, error) {
	rows, m := len(p.rest), p.points.phi.RawMatrix().Rows
	subsample := p.phi.RawMatrix().Cols
	count := float64(p.measured)

	clear(grad.Vector)
	f := o.mean.eval(v.M, &p.points)
	psi, psiS := mat.NewDense(m, rows, nil), mat.NewDense(m, subsample, nil)
	linalg.Mul(psi, 1, linalg.T, v.Ut, linalg.N, p.points.phi, 0)
	linalg.Mul(psiS, 1, linalg.T, v.Ut, linalg.N, p.phi, 0)
	variance := append([]float64(nil), p.rest...)
	linalg.AddColumnSquares(variance, psi)

	r, product := mat.DenseCopyOf(p.prior), mat.NewDense(subsample, subsample, nil)
	linalg.Mul(r, 1, linalg.T, psiS, linalg.N, left(psi, p.measured), 1)
	linalg.Mul(product, 1, linalg.N, r, linalg.T, p.cross, 0)
	root, slopes, err := rootTrace(product)
	if err != nil {
		return 0, err
	}
	share := 2 / math.Sqrt(count*float64(subsample))
	distance := p.trace/count - share*root
	for i, s := range variance[:p.measured] {
		e := f[i] - o.process.Mean
		distance += (e*e + s) / count
	}
	slope := 0.0 // derivative of D with respect to Ŵ²
	switch {
	case distance <= 0: // the estimate of a distance
		distance = 0
	case o.squared:
		slope = 1
	default:
		distance = math.Sqrt(distance)
		slope = 0.5 / distance
	}

	value, fbar, each := o.loss(v, &p.points, f, variance, distance, slope, grad)
	o.mean.vjp(grad.M, fbar, &p.points)

	// With R = r(S,X) = … + ψ(S)ᵀψ(X): R̄ = ∂F/∂product k(S,X), T̄ = φ(S) R̄ ψ(X)ᵀ + φ(X) R̄ᵀ ψ(S)ᵀ.
	rbar := mat.NewDense(subsample, p.measured, nil)
	linalg.Mul(rbar, -slope*share, linalg.N, slopes, linalg.N, p.cross, 0)
	half := mat.NewDense(m, subsample, nil)
	linalg.Mul(half, 1, linalg.N, left(psi, p.measured), linalg.T, rbar, 0)
	linalg.Mul(grad.Ut, 1, linalg.N, p.phi, linalg.T, half, 0)
	floats.Scale(2, each)
	scaled := mat.NewDense(m, rows, nil)
	linalg.ScaleColumns(scaled, psi, each)
	linalg.Mul(left(scaled, p.measured), 1, linalg.N, psiS, linalg.N, rbar, 1)
	linalg.Mul(grad.Ut, 1, linalg.N, p.points.phi, linalg.T, scaled, 1)
	return value, nil
}

// rootTrace returns Σ_s √λ_s over the eigenvalues λ_s of a, and its derivative with respect to a.
// With right and left eigenvectors v and u of λ, ∂λ = uᴴ ∂a v/(uᴴv). The eigenvalues of r(S,X)k(X,S)
// are positive for S = X. Otherwise some can be negative or complex: of these only the real part
// counts, and only if it is at least leastEigenvalue.
func rootTrace(a *mat.Dense) (root float64, slopes *mat.Dense, err error) {
	n, _ := a.Dims()
	if err := train.Diverged("rate", a.RawMatrix().Data); err != nil {
		return 0, nil, err // mat.Eigen does not end on a NaN
	}
	var eigen mat.Eigen
	if !eigen.Factorize(a, mat.EigenBoth) {
		return 0, nil, fmt.Errorf("eigenvalues of the product of the covariances: %w", surrogate.ErrNotPositiveDefinite)
	}
	values := eigen.Values(nil)
	var right, left mat.CDense
	eigen.VectorsTo(&right)
	eigen.LeftVectorsTo(&left)
	var largest float64
	for _, l := range values {
		largest = max(largest, real(l))
	}
	slopes = mat.NewDense(n, n, nil)
	for s, l := range values {
		lambda := real(l)
		if !(lambda > leastEigenvalue*largest) {
			continue
		}
		half := math.Sqrt(lambda)
		root += half
		var inner complex128
		for i := range n {
			inner += cmplx.Conj(left.At(i, s)) * right.At(i, s)
		}
		for i := range n {
			u := cmplx.Conj(left.At(i, s)) / (inner * complex(2*half, 0))
			row := slopes.RawRowView(i)
			for j := range row {
				row[j] += real(u * right.At(j, s))
			}
		}
	}
	return root, slopes, nil
}
