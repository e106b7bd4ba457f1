package fsplaplace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate"
)

// target is the distribution of f(C) under the prior given the data: the
// posterior that training aims at.
type target struct {
	c    *mat.Dense
	mean []float64
	cov  *mat.SymDense
}

// target conditions the prior at the rows of c: exactly for n ≤ maxExact, beyond
// by sparseTarget.
func (p *problem) target(c *mat.Dense) (target, error) {
	if n, _ := p.data.Dims(); n > maxExact {
		return p.sparseTarget(c)
	}
	return p.exactTarget(c)
}

// exactTarget is the posterior of the prior at the rows of c, in O(n³ + |C|²n).
func (p *problem) exactTarget(c *mat.Dense) (target, error) {
	to, kcx, y := p.priorAt(c)
	kxx := mat.NewSymDense(len(y), nil)
	p.process.Kernel.Gram(kxx, p.data.X)
	addDiagonal(kxx, p.noise)
	chol, err := linalg.Factorize(kxx)
	if err != nil {
		return target{}, fmt.Errorf("fsp-laplace: covariance of the data: %w", err)
	}
	chol.SolveVec(y)
	linalg.MulVec(to.mean, 1, linalg.N, kcx, y, 1)
	half := mat.DenseCopyOf(kcx.T())
	chol.SolveLower(half)
	linalg.Syrk(to.cov, -1, linalg.T, half, 1)
	return to, nil
}

// sparseTarget is the variational sparse GP with C as inducing points (Titsias
// 2009), in O(n|C|²): with K = L Lᵀ the prior covariance at C, V = L⁻¹k(C,X) and
// B = I + σ⁻² V Vᵀ the mean is μ + σ⁻² L B⁻¹ V (y - μ) and the covariance
// L B⁻¹ Lᵀ. K is given the jitter that it needs.
func (p *problem) sparseTarget(c *mat.Dense) (target, error) {
	to, v, y := p.priorAt(c)
	nc := len(to.mean)
	chol, err := linalg.Factorize(to.cov)
	if err != nil {
		return target{}, fmt.Errorf("fsp-laplace: prior covariance of the context: %w", err)
	}
	chol.SolveLower(v)
	b := mat.NewSymDense(nc, nil)
	addDiagonal(b, 1)
	linalg.Syrk(b, 1/p.noise, linalg.N, v, 1)
	inner, err := linalg.Factorize(b)
	if err != nil {
		return target{}, fmt.Errorf("fsp-laplace: covariance of the data: %w", err)
	}
	e := make([]float64, nc)
	linalg.MulVec(e, 1/p.noise, linalg.N, v, y, 0)
	inner.SolveVec(e)
	chol.MulLowerVec(e)
	linalg.Axpy(1, e, to.mean)
	lower := mat.NewDense(nc, nc, nil)
	chol.Lower(lower)
	half := mat.DenseCopyOf(lower.T())
	inner.SolveLower(half)
	linalg.Syrk(to.cov, 1, linalg.T, half, 0)
	return to, nil
}

// priorAt returns the prior at the rows of c, its covariance with the training
// inputs, and the targets less the prior mean.
func (p *problem) priorAt(c *mat.Dense) (prior target, kcx *mat.Dense, y []float64) {
	n, _ := p.data.Dims()
	nc, _ := c.Dims()
	prior = target{c, make([]float64, nc), mat.NewSymDense(nc, nil)}
	for i := range prior.mean {
		prior.mean[i] = p.process.Mean
	}
	p.process.Kernel.Gram(prior.cov, c)
	kcx = mat.NewDense(nc, n, nil)
	p.process.Kernel.Cross(kcx, c, p.data.X)
	y = make([]float64, n)
	for i, v := range p.data.Y {
		y[i] = v - p.process.Mean
	}
	return prior, kcx, y
}

// stages are the variances added to the target's covariance, relative to the
// mean prior variance. Training goes from a coarse fit, which asks little of the
// rough directions that the prior all but excludes, to a fine one.
var stages = []float64{1e-2, 1e-4, 1e-6}

// converged is the objective per context point, in nats, at which a stage ends:
// the network is then within 15 % of a posterior standard deviation of the
// optimum, in the root mean square. What is left the linearised network reads
// out.
const converged = 1e-2

// trainGaussNewton minimises R(w) = ½ rᵀV⁻¹r, r = m - f(C,w), from w, by
// Levenberg–Marquardt. A step is
//
//	δ = Jᵀ (Θ + λV)⁻¹ r,
//
// the minimiser of ½ (r - Jδ)ᵀV⁻¹(r - Jδ) + ½ λ|δ|². Each costs the tangent
// kernel Θ at C and one Cholesky factor, O(|C|³). It overwrites w and the
// covariance of the target.
func (p *problem) trainGaussNewton(ctx context.Context, w []float64, to target) error {
	lm := &levenbergMarquardt{net: p.net, inputs: p.inputs.Apply(to.c), target: to.mean, w: w, steps: p.Steps, tolerance: converged}
	scale, added := p.meanVariance(to.c), 0.0
	for _, s := range stages {
		addDiagonal(to.cov, s*scale-added)
		added = s * scale
		if err := lm.minimise(ctx, to.cov); err != nil {
			return err
		}
	}
	return nil
}

// levenbergMarquardt is the state of trainGaussNewton.
type levenbergMarquardt struct {
	net    *nn.Network
	inputs *mat.Dense
	target []float64
	w      []float64 // overwritten
	steps  int       // left
	best   float64   // objective at w

	tolerance float64 // objective per context point at which to stop
}

func (lm *levenbergMarquardt) minimise(ctx context.Context, v *mat.SymDense) error {
	nc := len(lm.target)
	vchol, err := linalg.Factorize(v)
	if err != nil {
		return fmt.Errorf("fsp-laplace: covariance of the target: %w", err)
	}
	objective := func(r []float64) float64 {
		s := append([]float64(nil), r...)
		vchol.SolveLowerVec(s)
		return 0.5 * linalg.Dot(s, s)
	}
	tape := lm.net.Record(lm.w, lm.inputs)
	r, alpha, tmp := make([]float64, nc), make([]float64, nc), make([]float64, nc)
	trial, value := make([]float64, len(lm.w)), make([]float64, nc)
	theta, a := mat.NewSymDense(nc, nil), mat.NewSymDense(nc, nil)
	nn.KernelSym(theta, tape)
	sub(r, lm.target, tape.Value())
	lm.best = objective(r)

	total := lm.steps
	lambda, grow, slow := 1e-2, 2.0, 0
	for ; lm.steps > 0 && lm.best > lm.tolerance*float64(nc) && slow < 3 && lambda < 1e12; lm.steps-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: total - lm.steps, Total: total})
		addScaled(a, theta, lambda, v)
		chol, err := linalg.Factorize(a)
		if err != nil {
			lambda *= 10
			continue
		}
		copy(alpha, r)
		chol.SolveVec(alpha)
		copy(trial, lm.w)
		tape.VJP(trial, alpha)
		lm.net.Forward(value, trial, lm.inputs)
		sub(tmp, lm.target, value)
		next := objective(tmp)
		// The linear model predicts the residual λVα, of objective ½λ²αᵀVα.
		symMulVec(tmp, v, alpha)
		predicted := lm.best - 0.5*lambda*lambda*linalg.Dot(alpha, tmp)
		gain := (lm.best - next) / predicted
		if !(gain > 0) {
			lambda *= grow
			grow *= 2
			continue
		}
		slow++
		if lm.best-next > 1e-2*lm.best {
			slow = 0
		}
		copy(lm.w, trial)
		tape.Record(lm.net, lm.w, lm.inputs)
		nn.KernelSym(theta, tape)
		sub(r, lm.target, tape.Value())
		lm.best = next
		lambda = max(lambda*max(0.1, 1-math.Pow(2*gain-1, 3)), 1e-12)
		grow = 2
	}
	return nil
}

// meanVariance is the mean prior variance at the rows of c.
func (p *problem) meanVariance(c *mat.Dense) float64 {
	n, _ := c.Dims()
	k := make([]float64, n)
	p.process.Kernel.Diag(k, c)
	var s float64
	for _, v := range k {
		s += v / float64(n)
	}
	return s
}

const (
	adamBatch     = 500   // rows of a step
	contextJitter = 1e-10 // on the diagonal of K, as published
	validateEvery = 10
	patience      = 5
	noiseLoSD     = 1e-2 // floor under a learned noise, when the objective is compared and at the end
)

// loss is the objective of Algorithm 1 at fixed context points, for the rows of
// a batch of a dataset of n:
//
//	R(w,ρ) = (n/b) Σ_batch [ (y - f)²/(2s²) + log s + ½ log 2π ] + ½ (f(C) - μ)ᵀ K⁻¹ (f(C) - μ),  s = softplus(ρ).
type loss struct {
	p     *problem
	x     *mat.Dense // batch inputs in network units
	y     []float64
	scale float64 // n/b
	c     *mat.Dense
	chol  *linalg.Cholesky // of K + jitter
}

func (p *problem) newLoss(x *mat.Dense, y []float64, c *mat.Dense) (*loss, error) {
	nc, _ := c.Dims()
	k := mat.NewSymDense(nc, nil)
	p.process.Kernel.Gram(k, c)
	addDiagonal(k, contextJitter)
	chol, err := linalg.Factorize(k)
	if err != nil {
		return nil, fmt.Errorf("fsp-laplace: prior covariance of the context: %w", err)
	}
	l := &loss{p: p, c: p.inputs.Apply(c), chol: chol}
	l.batch(x, y)
	return l, nil
}

// batch makes the rows of x those that the loss looks at.
func (l *loss) batch(x *mat.Dense, y []float64) {
	n, _ := l.p.data.Dims()
	l.x, l.y, l.scale = l.p.inputs.Apply(x), y, float64(n)/float64(len(y))
}

// eval returns R and, where dw is not nil, writes ∂R/∂w to it and returns
// ∂R/∂ρ.
func (l *loss) eval(w []float64, rho float64, dw []float64) (value, drho float64) {
	s := softplus(rho)
	tx, tc := l.p.net.Record(w, l.x), l.p.net.Record(w, l.c)
	fbar := make([]float64, len(l.y))
	var sq float64
	for i, f := range tx.Value() {
		e := f - l.y[i]
		sq += e * e
		fbar[i] = l.scale * e / (s * s)
	}
	b := float64(len(l.y))
	value = l.scale * (sq/(2*s*s) + b*(math.Log(s)+0.5*math.Log(2*math.Pi)))
	u := append([]float64(nil), tc.Value()...)
	for i := range u {
		u[i] -= l.p.process.Mean
	}
	l.chol.SolveLowerVec(u)
	value += 0.5 * linalg.Dot(u, u)
	if dw == nil {
		return value, 0
	}
	l.chol.SolveUpperVec(u)
	clear(dw)
	tx.VJP(dw, fbar)
	tc.VJP(dw, u)
	return value, l.scale * (b/s - sq/(s*s*s)) * sigmoid(rho)
}

// trainAdam is Algorithm 1 as published: Adam on w and ρ, new uniform context
// points at every step, the objective on the training data every ten steps,
// and the best of those kept after five in a row without a lower one. Where the
// noise is stated ρ stays.
func (p *problem) trainAdam(ctx context.Context, w []float64, rng *rand.Rand) ([]float64, float64, error) {
	n, d := p.data.Dims()
	learnNoise := p.Spec.Noise == nil
	rho := softplusInverse(p.NoiseStart)
	if !learnNoise {
		rho = softplusInverse(math.Sqrt(p.noise))
	}
	opt := optimize.Adam{Rate: p.Rate}
	theta := append(slices.Clone(w), rho)
	grad := make([]float64, len(theta))
	best := slices.Clone(theta)
	bestLoss, stale := math.Inf(1), 0

	for step := 0; stale < patience; step++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if step == p.Steps {
			p.notes = append(p.notes, fmt.Sprintf("training ran out of its %d steps", p.Steps))
			break
		}
		if step%50 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: step, Total: p.Steps})
		}
		l, err := p.newLoss(p.data.X, p.data.Y, p.box.Uniform(p.Context, rng))
		if err != nil {
			return nil, 0, err
		}
		if step%validateEvery == 0 {
			at := theta[len(w)]
			if learnNoise && softplus(at) < noiseLoSD {
				at = softplusInverse(noiseLoSD)
			}
			if v, _ := l.eval(theta[:len(w)], at, nil); v < bestLoss {
				bestLoss, stale = v, 0
				copy(best, theta)
			} else {
				stale++
			}
		}
		if n > adamBatch {
			x, y := mat.NewDense(adamBatch, d, nil), make([]float64, adamBatch)
			for i := range y {
				k := rng.IntN(n)
				x.SetRow(i, p.data.X.RawRowView(k))
				y[i] = p.data.Y[k]
			}
			l.batch(x, y)
		}
		_, drho := l.eval(theta[:len(w)], theta[len(w)], grad[:len(w)])
		grad[len(w)] = 0
		if learnNoise {
			grad[len(w)] = drho
		}
		opt.Step(theta, grad)
	}
	if math.IsInf(bestLoss, 1) {
		return nil, 0, fmt.Errorf("fsp-laplace: the training objective is finite nowhere: %w", surrogate.ErrNotPositiveDefinite)
	}
	if !learnNoise {
		return best[:len(w)], p.noise, nil
	}
	s := max(softplus(best[len(w)]), noiseLoSD)
	return best[:len(w)], s * s, nil
}

func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

func softplusInverse(y float64) float64 {
	return y + math.Log(-math.Expm1(-y))
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func sub(dst, a, b []float64) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

func addDiagonal(a *mat.SymDense, v float64) {
	for i := range a.SymmetricDim() {
		a.SetSym(i, i, a.At(i, i)+v)
	}
}

// addScaled writes a + s·b to dst.
func addScaled(dst, a *mat.SymDense, s float64, b *mat.SymDense) {
	n := dst.SymmetricDim()
	d, x, y := dst.RawSymmetric(), a.RawSymmetric(), b.RawSymmetric()
	for i := range n {
		dr, xr, yr := d.Data[i*d.Stride:i*d.Stride+n], x.Data[i*x.Stride:i*x.Stride+n], y.Data[i*y.Stride:i*y.Stride+n]
		for j := i; j < n; j++ {
			dr[j] = xr[j] + s*yr[j]
		}
	}
}

// symMulVec writes a·x to dst.
func symMulVec(dst []float64, a *mat.SymDense, x []float64) {
	mat.NewVecDense(len(dst), dst).MulVec(a, mat.NewVecDense(len(x), x))
}
