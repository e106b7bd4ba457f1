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
	"github.com/functionspace/bo/surrogate/internal/target"
)

// target is what the prior has for f at the rows of c, given the data: what
// training aims at.
func (p *problem) target(c *mat.Dense) (target.Gaussian, error) {
	process := p.process
	process.Noise = p.noise
	to, err := target.New(process, c, p.data.X, p.data.Y)
	if err != nil {
		return to, fmt.Errorf("fsp-laplace: %w", err)
	}
	return to, nil
}

// converged is the objective per context point, in nats, at which a stage of
// Gauss–Newton training ends: the network is then within 15 % of a posterior
// standard deviation of the optimum, in the root mean square. What is left the
// linearised network reads out.
const converged = 1e-2

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
//
// It is a workspace: one per goroutine.
type loss struct {
	p     *problem
	x     *mat.Dense // batch inputs in network units
	y     []float64
	scale float64    // n/b
	c     *mat.Dense // context points in network units
	k     *mat.SymDense
	chol  linalg.Cholesky // of K + jitter

	jitter float64 // relative to the mean prior variance; 0 is contextJitter, absolute

	atX, atC nn.Tape
	fbar, u  []float64
}

// at makes the rows of c the context points.
func (l *loss) at(c *mat.Dense) error {
	if l.c == nil {
		nc, d := c.Dims()
		l.c, l.k, l.u = mat.NewDense(nc, d, nil), mat.NewSymDense(nc, nil), make([]float64, nc)
	}
	l.p.process.Kernel.Gram(l.k, c)
	jitter := contextJitter
	if l.jitter > 0 {
		jitter = l.jitter * mat.Trace(l.k) / float64(l.k.SymmetricDim())
	}
	linalg.AddDiagonal(l.k, jitter)
	if err := l.chol.Factorize(l.k); err != nil {
		return fmt.Errorf("fsp-laplace: prior covariance of the context: %w", err)
	}
	l.p.inputs.ApplyTo(l.c, c)
	return nil
}

// batch makes the rows of x, as inputs of the network, those that the loss looks at.
func (l *loss) batch(x *mat.Dense, y []float64) {
	n, _ := l.p.data.Dims()
	l.x, l.y, l.scale = x, y, float64(n)/float64(len(y))
	l.fbar = slices.Grow(l.fbar[:0], len(y))[:len(y)]
}

// eval returns R and, where dw is not nil, writes ∂R/∂w to it and returns
// ∂R/∂ρ.
func (l *loss) eval(w []float64, rho float64, dw []float64) (value, drho float64) {
	s := softplus(rho)
	l.atX.Record(l.p.net, w, l.x)
	l.atC.Record(l.p.net, w, l.c)
	var sq float64
	for i, f := range l.atX.Value() {
		e := f - l.y[i]
		sq += e * e
		l.fbar[i] = l.scale * e / (s * s)
	}
	b := float64(len(l.y))
	value = l.scale * (sq/(2*s*s) + b*(math.Log(s)+0.5*math.Log(2*math.Pi)))
	for i, f := range l.atC.Value() {
		l.u[i] = f - l.p.process.Mean
	}
	l.chol.SolveLowerVec(l.u)
	value += 0.5 * linalg.Dot(l.u, l.u)
	if dw == nil {
		return value, 0
	}
	l.chol.SolveUpperVec(l.u)
	clear(dw)
	l.atX.VJP(dw, l.fbar)
	l.atC.VJP(dw, l.u)
	return value, l.scale * (b/s - sq/(s*s*s)) * sigmoid(rho)
}

// trainAdam is Algorithm 1 as published: Adam on w and ρ, new uniform context
// points at every step, the objective on the training data every ten steps,
// and the best of those kept after five in a row without a lower one. Where the
// noise is stated ρ stays.
func (p *problem) trainAdam(ctx context.Context, w []float64, rng *rand.Rand) ([]float64, float64, error) {
	t := p.newAdam(w)
	for step := 0; t.stale < patience; step++ {
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
		if err := t.step(step%validateEvery == 0, rng); err != nil {
			return nil, 0, err
		}
	}
	if math.IsInf(t.bestLoss, 1) {
		return nil, 0, fmt.Errorf("fsp-laplace: the training objective is finite nowhere: %w", surrogate.ErrNotPositiveDefinite)
	}
	best, rho := t.best[:len(w)], t.best[len(w)]
	if !t.learnNoise {
		return best, p.noise, nil
	}
	s := max(softplus(rho), noiseLoSD)
	return best, s * s, nil
}

// adam is a run of trainAdam.
type adam struct {
	loss
	opt        optimize.Adam
	learnNoise bool
	theta      []float64 // w, then ρ
	grad       []float64
	best       []float64
	bestLoss   float64
	stale      int // validations since then

	inputs  *mat.Dense // all training inputs in network units
	context *mat.Dense // in the dataset's units
	x       *mat.Dense // rows of a step, where there are more
	y       []float64
}

func (p *problem) newAdam(w []float64) *adam {
	_, d := p.data.Dims()
	t := &adam{
		loss: loss{p: p}, learnNoise: p.Spec.Noise == nil, bestLoss: math.Inf(1),
		inputs: p.inputs.Apply(p.data.X), context: mat.NewDense(p.Context, d, nil),
		x: mat.NewDense(adamBatch, d, nil), y: make([]float64, adamBatch),
	}
	rho := softplusInverse(p.NoiseStart)
	if !t.learnNoise {
		rho = softplusInverse(math.Sqrt(p.noise))
	}
	t.theta = append(slices.Clone(w), rho)
	t.grad, t.best = make([]float64, len(t.theta)), slices.Clone(t.theta)
	return t
}

// step draws context points, compares the objective on all data with the best if
// it is to validate, and moves θ.
func (t *adam) step(validate bool, rng *rand.Rand) error {
	t.p.box.FillUniform(t.context, rng)
	if err := t.at(t.context); err != nil {
		return err
	}
	last := len(t.theta) - 1
	w := t.theta[:last]
	t.batch(t.inputs, t.p.data.Y)
	if validate {
		rho := t.theta[last]
		if t.learnNoise && softplus(rho) < noiseLoSD {
			rho = softplusInverse(noiseLoSD)
		}
		if v, _ := t.eval(w, rho, nil); v < t.bestLoss {
			t.bestLoss, t.stale = v, 0
			copy(t.best, t.theta)
		} else {
			t.stale++
		}
	}
	t.descend(t.p.Rate, rng)
	return nil
}

// descend moves θ by the gradient at a batch of the observations.
func (t *adam) descend(rate float64, rng *rand.Rand) {
	last := len(t.theta) - 1
	if n, _ := t.p.data.Dims(); n > adamBatch {
		for i := range t.y {
			k := rng.IntN(n)
			t.x.SetRow(i, t.inputs.RawRowView(k))
			t.y[i] = t.p.data.Y[k]
		}
		t.batch(t.x, t.y)
	}
	_, drho := t.eval(t.theta[:last], t.theta[last], t.grad[:last])
	t.grad[last] = 0
	if t.learnNoise {
		t.grad[last] = drho
	}
	t.opt.Step(rate, t.theta, t.grad)
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
