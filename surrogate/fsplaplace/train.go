package fsplaplace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate"
)

// target is what the prior has for f at the rows of c, given the data: what
// training aims at.
func (p *problem) target(c *mat.Dense) (fspace.Target, error) {
	process := p.process
	process.Noise = p.noise
	to, err := fspace.NewTarget(process, c, p.data.X, p.data.Y)
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
	fspace.AddDiagonal(k, contextJitter)
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

// symMulVec writes a·x to dst.
func symMulVec(dst []float64, a *mat.SymDense, x []float64) {
	mat.NewVecDense(len(dst), dst).MulVec(a, mat.NewVecDense(len(x), x))
}
