package fsplaplace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// labelNoise is the variance of the Gaussian noise whose Fisher information equals the largest
// a label of two classes can have (¼, at p = ½). The choice of the ridge uses observations
// with this noise.
const labelNoise = 4

// FitLabels fits FSP-Laplace with the likelihood of labels. Each latent function is a network
// f_c(·,w_c) with the prior GP(μ_c, k), fitted by the Laplace evidence of the exact process.
// Training minimises
//
//	R(w) = -Σ_i log p(y_i|f(x_i,w)) + ½ Σ_c (f_c(C,w_c) - μ_c)ᵀ K⁻¹ (f_c(C,w_c) - μ_c).
//
// C contains the training inputs. Training by Adam minimises R, as published. Gauss–Newton training minimises the
// distance of each network from the posterior mean of the process that gp.Model has, in the metric (K⁻¹ + D)⁻¹, which
// omits the coupling of classes. Beyond 1000 labels it is the distance from the mode of R among the functions spanned by C.
//
// The posterior precision of the weights is the prior precision, as in regression, plus Σ_i Jᵀ W_i J. W is the
// curvature of the process with the trainer "gauss-newton", the factor "ridge" and up to 1000 labels, else diag(π) - ππᵀ
// at the networks' means. For more than two classes the factors "cholesky" and "lanczos" omit the coupling in W. A fixed
// noise variance is an error.
func (m Model) FitLabels(ctx context.Context, d surrogate.Labels, rng *rand.Rand) (surrogate.ClassPosterior, error) {
	m.Context = cmp.Or(m.Context, mostContext)
	_, dim := d.Dims()
	m, err := m.resolve(dim)
	if err != nil {
		return nil, err
	}
	if m.HeldOut > 0 {
		return nil, settings.Errorf("fsp-laplace: held-out is %v, but labels are not held out", m.HeldOut)
	}
	spec, err := m.publishedSpec(d.X)
	if err != nil {
		return nil, err
	}
	return classify.Fit(ctx, "fsp-laplace", spec, d, random.Split(rng, "prior", 0), func(fitted classify.Prior) (classify.Posterior, error) {
		return m.fitLabels(ctx, fitted, d, rng)
	})
}

func (m Model) fitLabels(ctx context.Context, fitted classify.Prior, d surrogate.Labels, rng *rand.Rand) (classify.Posterior, error) {
	_, dim := d.Dims()
	net, err := domain.Build(m.Network, dim)
	if err != nil {
		return classify.Posterior{}, err
	}
	data := surrogate.Dataset{X: mat.DenseCopyOf(d.X), Lo: d.Lo, Hi: d.Hi}
	p := &labelProblem{problem: *newProblem(m, net, data, prior.Process{Kernel: fitted.Kernel, Noise: labelNoise}), prior: fitted, y: d.Y}
	l := &latents{parts: make([]*posterior, len(fitted.Means))}
	spread := p.inputs.Spread(p.box)
	for c, mean := range fitted.Means {
		w := p.net.InitBiased(*m.Bias, spread, mean, random.Split(rng, "weights", c))
		l.parts[c] = &posterior{Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: w}, process: p.process, update: unobserved{}}
	}
	if err := p.solve(ctx, l, random.Split(rng, "context", 0)); err != nil {
		return classify.Posterior{}, err
	}
	numbers := fitted.Hypers()
	for c, q := range l.parts {
		if q.ridge != 0 {
			numbers = append(numbers, surrogate.Hyper{Name: fmt.Sprintf("log10 ridge[%d]", c), Value: q.ridge})
		}
	}
	return classify.Posterior{Process: l, Numbers: numbers, Notes: p.notes}, nil
}

// labelProblem holds the labels, prior and networks of one fit.
type labelProblem struct {
	problem
	prior classify.Prior
	y     []int
}

// solve trains the networks of l and sets their factors.
func (p *labelProblem) solve(ctx context.Context, l *latents, rng *rand.Rand) error {
	design, holdout := p.contextPoints(p.CovarianceContext, rng)
	c := p.withInputs(design, rng)
	newton := p.Trainer != "adam"
	var to classify.Target
	err := p.sourceErr()
	if err != nil {
		return err
	}
	if newton {
		surrogate.Report(ctx, surrogate.Progress{Phase: "train", Total: p.Steps})
		train := c
		if p.Context != p.CovarianceContext {
			other, _ := p.contextPoints(p.Context, rng)
			if err := p.sourceErr(); err != nil {
				return err
			}
			train = p.withInputs(other, rng)
		}
		if to, err = classify.NewTarget(ctx, p.prior, train, p.data.X, p.y); err != nil {
			return err
		}
		for k, q := range l.parts {
			if _, err := to.At[k].Train(ctx, p.net, p.inputs, p.process.Kernel, q.W, p.Steps, converged); err != nil {
				return err
			}
		}
		if p.Factor == "ridge" && train != c {
			if to, err = classify.NewTarget(ctx, p.prior, c, p.data.X, p.y); err != nil {
				return err
			}
		}
	} else if err := p.trainAdam(ctx, l, rng); err != nil {
		return err
	}
	p.notes = append(p.notes, to.Warnings...)
	surrogate.Report(ctx, surrogate.Progress{Phase: "covariance"})
	if p.Factor != "ridge" {
		return p.uncoupled(ctx, l, design)
	}
	exponent := 0.0
	for k, q := range l.parts {
		s, err := p.ridgeFactor(ctx, q.W, c, holdout, exponent)
		if err != nil {
			return err
		}
		exponent = s.exponent
		q.ridge, q.factor = s.exponent, &s.factor
		if newton {
			q.shift = s.readOut(to.At[k].Mean)
		}
	}
	if err := p.observe(ctx, l, to.Given); err != nil {
		return err
	}
	return p.compare(ctx, l, to.Given, holdout)
}

// trainAdam trains by Algorithm 1 as published, with the likelihood of labels.
func (p *labelProblem) trainAdam(ctx context.Context, l *latents, rng *rand.Rand) error {
	var w []float64
	for _, q := range l.parts {
		w = append(w, q.W...)
	}
	t := p.newAdam(w)
	if err := t.run(ctx, rng); err != nil {
		return err
	}
	size := p.net.NumParams()
	for k, q := range l.parts {
		q.W = t.Best[k*size : (k+1)*size]
	}
	return nil
}

func (p *labelProblem) newAdam(w []float64) *adam {
	l := p.newLoss(&labelled{y: p.y}, p.data.X, p.prior.Means...)
	l.contextFirst = true
	return newAdam(l, w)
}

// labelled is the likelihood of labels. It holds a workspace and serves one goroutine.
type labelled struct {
	y     []int
	batch []int
}

func (l *labelled) eval(fbar, f *mat.Dense, index []int, scale float64, _, _ []float64) float64 {
	l.batch = l.batch[:0]
	for _, i := range index {
		l.batch = append(l.batch, l.y[i])
	}
	value := -scale * classify.LogProb(f, fbar, f, l.batch)
	for c := range fbar.RawMatrix().Rows {
		floats.Scale(-scale, fbar.RawRowView(c))
	}
	return value
}

// uncoupled sets the factors of Algorithm 2, separately for each class.
func (p *labelProblem) uncoupled(ctx context.Context, l *latents, design *mat.Dense) error {
	prob := p.probabilities(l)
	for c, q := range l.parts {
		p.curvature = classify.Variances(prob.RawRowView(c))
		var err error
		if q.factor, err = p.precisionFactor(ctx, q.W, design); err != nil {
			return err
		}
	}
	return nil
}

// probabilities returns the probabilities at the means of the labelled points, L×n.
func (p *labelProblem) probabilities(l *latents) *mat.Dense {
	f := p.means(l)
	classify.LogProb(f, mat.DenseCopyOf(f), f, p.y)
	return f
}

// means returns the networks' means at the labelled points, L×n.
func (p *labelProblem) means(l *latents) *mat.Dense {
	f := mat.NewDense(len(l.parts), len(p.y), nil)
	for c, q := range l.parts {
		shape.Chunks(p.data.X, chunk, func(i, k int, x *mat.Dense) {
			q.networkMean(f.RawRowView(c)[i:k], q.Record(x))
		})
	}
	return f
}

// observe sets the factor of A = I + Σ_i Φ_iᵀ W_i Φ_i, with the features Φ_i of all networks at
// a labelled point. W is the curvature of the process given the labels or, without it, at the networks' means. With
// it observe also adds to the weights of the features
//
//	A⁻¹ Σ_i Φ_iᵀ W_i (F_i - mean_i),
//
// a regression on the difference from the mean F of the process that remains after the ridge solve.
func (p *labelProblem) observe(ctx context.Context, l *latents, given *classify.Approximation) error {
	n := len(p.y)
	d, pull := classify.Diagonal(p.probabilities(l)), mat.NewDense(len(l.parts), n, nil)
	if given != nil {
		d = given.D
		pull.Sub(given.F, p.means(l))
		classify.MulCurvature(pull, d)
	}
	sum := make([]float64, n) // 1ᵀD1
	for c := range l.parts {
		linalg.Axpy(1, d.RawRowView(c), sum)
	}
	at, total := l.offsets()
	a, e := mat.NewDense(total, total, nil), make([]float64, total)
	for i := 0; i < n; i += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(n, i+chunk)
		phi := make([]*mat.Dense, len(l.parts))
		for c, q := range l.parts {
			x := shape.Rows(p.data.X, i, k)
			phi[c] = q.at(new(workspace.Memory), x, q.Record(x)).phi
			linalg.MulVec(e[at[c]:at[c+1]], 1, linalg.T, phi[c], pull.RawRowView(c)[i:k], 1)
		}
		for c := range phi {
			for b := range c + 1 {
				weighted := mat.DenseCopyOf(phi[b])
				for r := range k - i {
					var w float64
					if b == c {
						w = d.At(c, i+r)
					}
					if len(l.parts) > 1 {
						w -= d.At(c, i+r) * d.At(b, i+r) / sum[i+r]
					}
					floats.Scale(w, weighted.RawRowView(r))
				}
				block := a.Slice(at[c], at[c+1], at[b], at[b+1]).(*mat.Dense)
				linalg.Mul(block, 1, linalg.T, phi[c], linalg.N, weighted, 1)
			}
		}
	}
	sym := mat.NewSymDense(total, mat.DenseCopyOf(a.T()).RawMatrix().Data)
	linalg.AddDiagonal(sym, 1)
	chol, err := linalg.Factorize(sym)
	if err != nil {
		return fmt.Errorf("posterior precision: %w", err)
	}
	if given != nil {
		chol.SolveVec(e)
		for c, q := range l.parts {
			q.m = e[at[c]:at[c+1]]
		}
	}
	if len(l.parts) == 1 {
		l.parts[0].update = byWeights{invert(chol)}
	} else {
		l.chol = chol
	}
	return nil
}

// compare adds a warning if the means at held-out points are far from the posterior means of the process.
func (p *labelProblem) compare(ctx context.Context, l *latents, given *classify.Approximation, holdout *mat.Dense) error {
	if given == nil {
		return nil
	}
	want := p.prior.At(given, holdout, p.data.X)
	m, _ := holdout.Dims()
	mean := make([]float64, m)
	var sum float64
	for c, q := range l.parts {
		q.mean(mean, q.at(new(workspace.Memory), holdout, q.Record(holdout)))
		for i, v := range mean {
			d := v - want[c].Mean[i]
			sum += d * d / (want[c].Cov.At(i, i) + p.noise) / float64(m*len(l.parts))
		}
	}
	if off := math.Sqrt(sum); off > farOff {
		p.notes = append(p.notes, fmt.Sprintf("the means are %.2g standard deviations off the exact process: set hidden higher, or use gp", off))
	}
	return ctx.Err()
}

// latents holds the linearised networks of the latent functions. Without chol their features are the features of the
// posterior. With chol they are the features of the prior, and chol factorises the precision
// of all latents given the labels.
type latents struct {
	parts []*posterior
	chol  *linalg.Cholesky
}

// offsets returns the index of the first feature of each network, and the number of features.
func (l *latents) offsets() (at []int, total int) {
	at = []int{0}
	for _, q := range l.parts {
		total += q.factor.rank()
		at = append(at, total)
	}
	return at, total
}

func (l *latents) Dim() int { return l.parts[0].Dim() }

// Moments implements classify.Process. For L > 1 networks of rank r it costs O(L(Lr)²) per
// point.
func (l *latents) Moments(mean, cov, x *mat.Dense) {
	m, _ := x.Dims()
	k := len(l.parts)
	at, total := l.offsets()
	column := make([]float64, m)
	mem := workspace.Borrow()
	defer mem.Return()
	white := make([]*mat.Dense, k) // a matrix for each network with L⁻¹φ of each point as rows
	for c, q := range l.parts {
		f := q.at(mem, x, q.Record(x))
		q.mean(column, f)
		mean.SetCol(c, column)
		if l.chol == nil {
			q.update.variance(column, f.phi, q.update.root(mem, f.phi))
			cov.SetCol(c*k+c, column)
			continue
		}
		b := mat.NewDense(total, m, nil)
		b.Slice(at[c], at[c+1], 0, m).(*mat.Dense).Copy(f.phi.T())
		l.chol.SolveLower(b)
		white[c] = mat.DenseCopyOf(b.T())
		for i := range m {
			for b := range c + 1 {
				v := linalg.Dot(white[c].RawRowView(i), white[b].RawRowView(i))
				cov.Set(i, c*k+b, v)
				cov.Set(i, b*k+c, v)
			}
		}
	}
}

func (l *latents) MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	l.parts[0].PredictGrad(mean, variance, dmean, dvariance, x)
}
