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
	"github.com/functionspace/bo/surrogate/internal/classify"
)

// labelLoss is R(w) at fixed context points, for a batch of b of the n labels:
//
//	-(n/b) Σ_batch log p(y|f) + ½ Σ_c (f_c(C) - μ_c)ᵀ K⁻¹ (f_c(C) - μ_c).
//
// w holds the weights of one network after the other.
type labelLoss struct {
	p    *labelProblem
	x    *mat.Dense // batch inputs in network units
	y    []int
	c    *mat.Dense
	chol *linalg.Cholesky // of K + jitter
}

func (p *labelProblem) newLoss(c *mat.Dense) (*labelLoss, error) {
	nc, _ := c.Dims()
	k := mat.NewSymDense(nc, nil)
	p.prior.Kernel.Gram(k, c)
	fspace.AddDiagonal(k, contextJitter)
	chol, err := linalg.Factorize(k)
	if err != nil {
		return nil, fmt.Errorf("prior covariance of the context: %w", err)
	}
	return &labelLoss{p, p.inputs.Apply(p.data.X), p.y, p.inputs.Apply(c), chol}, nil
}

// eval returns R and, where dw is not nil, writes its gradient there.
func (l *labelLoss) eval(w, dw []float64) float64 {
	means := l.p.prior.Means
	size := l.p.net.NumParams()
	scale := float64(len(l.p.y)) / float64(len(l.y))
	f, grad := mat.NewDense(len(means), len(l.y), nil), mat.NewDense(len(means), len(l.y), nil)
	for k := range means {
		l.p.net.Forward(f.RawRowView(k), w[k*size:(k+1)*size], l.x)
	}
	value := -scale * classify.LogProb(f, grad, f, l.y)
	grad.Scale(-scale, grad)
	clear(dw)
	for k, mean := range means {
		own := w[k*size : (k+1)*size]
		tc := l.p.net.Record(own, l.c)
		u := append([]float64(nil), tc.Value()...)
		for i := range u {
			u[i] -= mean
		}
		l.chol.SolveLowerVec(u)
		value += 0.5 * linalg.Dot(u, u)
		if dw != nil {
			l.chol.SolveUpperVec(u)
			tc.VJP(dw[k*size:(k+1)*size], u)
			l.p.net.Record(own, l.x).VJP(dw[k*size:(k+1)*size], grad.RawRowView(k))
		}
	}
	return value
}

// trainAdam is trainAdam of regression for labels.
func (p *labelProblem) trainAdam(ctx context.Context, l *latents, rng *rand.Rand) error {
	n, d := p.data.Dims()
	var w []float64
	for _, q := range l.parts {
		w = append(w, q.W...)
	}
	opt, grad, best := optimize.Adam{Rate: p.Rate}, make([]float64, len(w)), slices.Clone(w)
	bestLoss, stale := math.Inf(1), 0
	for step := 0; stale < patience; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step == p.Steps {
			p.notes = append(p.notes, fmt.Sprintf("training ran out of its %d steps", p.Steps))
			break
		}
		if step%50 == 0 {
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: step, Total: p.Steps})
		}
		loss, err := p.newLoss(p.box.Uniform(p.Context, rng))
		if err != nil {
			return err
		}
		if step%validateEvery == 0 {
			if v := loss.eval(w, nil); v < bestLoss {
				bestLoss, stale = v, 0
				copy(best, w)
			} else {
				stale++
			}
		}
		if n > adamBatch {
			all := loss.x
			loss.x, loss.y = mat.NewDense(adamBatch, d, nil), make([]int, adamBatch)
			for i := range loss.y {
				k := rng.IntN(n)
				loss.x.SetRow(i, all.RawRowView(k))
				loss.y[i] = p.y[k]
			}
		}
		loss.eval(w, grad)
		opt.Step(w, grad)
	}
	if math.IsInf(bestLoss, 1) {
		return fmt.Errorf("the training objective is finite nowhere: %w", surrogate.ErrNotPositiveDefinite)
	}
	size := p.net.NumParams()
	for k, q := range l.parts {
		q.W = best[k*size : (k+1)*size]
	}
	return nil
}
