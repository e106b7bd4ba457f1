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
	c    *mat.Dense // context points in network units
	k    *mat.SymDense
	chol linalg.Cholesky // of K + jitter

	atX, atC nn.Tape
	f, grad  mat.Dense // a row for each latent function
	u        []float64
}

// at makes the rows of c the context points.
func (l *labelLoss) at(c *mat.Dense) error {
	if l.c == nil {
		nc, d := c.Dims()
		l.c, l.k, l.u = mat.NewDense(nc, d, nil), mat.NewSymDense(nc, nil), make([]float64, nc)
	}
	l.p.prior.Kernel.Gram(l.k, c)
	linalg.AddDiagonal(l.k, contextJitter)
	if err := l.chol.Factorize(l.k); err != nil {
		return fmt.Errorf("prior covariance of the context: %w", err)
	}
	l.p.inputs.ApplyTo(l.c, c)
	return nil
}

// batch makes the rows of x, as inputs of the network, those that the loss looks at.
func (l *labelLoss) batch(x *mat.Dense, y []int) {
	l.x, l.y = x, y
	for _, m := range []*mat.Dense{&l.f, &l.grad} {
		m.Reset()
		m.ReuseAs(len(l.p.prior.Means), len(y))
	}
}

// eval returns R and, where dw is not nil, writes its gradient there.
func (l *labelLoss) eval(w, dw []float64) float64 {
	means := l.p.prior.Means
	size := l.p.net.NumParams()
	scale := float64(len(l.p.y)) / float64(len(l.y))
	for k := range means {
		l.p.net.Forward(l.f.RawRowView(k), w[k*size:(k+1)*size], l.x)
	}
	value := -scale * classify.LogProb(&l.f, &l.grad, &l.f, l.y)
	clear(dw)
	for k, mean := range means {
		own := w[k*size : (k+1)*size]
		l.atC.Record(l.p.net, own, l.c)
		for i, f := range l.atC.Value() {
			l.u[i] = f - mean
		}
		l.chol.SolveLowerVec(l.u)
		value += 0.5 * linalg.Dot(l.u, l.u)
		if dw != nil {
			l.chol.SolveUpperVec(l.u)
			l.atC.VJP(dw[k*size:(k+1)*size], l.u)
			l.atX.Record(l.p.net, own, l.x)
			scaleRow(l.grad.RawRowView(k), -scale)
			l.atX.VJP(dw[k*size:(k+1)*size], l.grad.RawRowView(k))
		}
	}
	return value
}

// trainAdam is trainAdam of regression for labels.
func (p *labelProblem) trainAdam(ctx context.Context, l *latents, rng *rand.Rand) error {
	var w []float64
	for _, q := range l.parts {
		w = append(w, q.W...)
	}
	t := p.newAdam(w)
	for step := 0; t.stale < patience; step++ {
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
		if err := t.step(step%validateEvery == 0, rng); err != nil {
			return err
		}
	}
	if math.IsInf(t.bestLoss, 1) {
		return fmt.Errorf("the training objective is finite nowhere: %w", surrogate.ErrNotPositiveDefinite)
	}
	size := p.net.NumParams()
	for k, q := range l.parts {
		q.W = t.best[k*size : (k+1)*size]
	}
	return nil
}

// labelAdam is a run of trainAdam.
type labelAdam struct {
	labelLoss
	opt      optimize.Adam
	w, dw    []float64
	best     []float64
	bestLoss float64
	stale    int // validations since then

	inputs  *mat.Dense // all training inputs in network units
	context *mat.Dense // in the dataset's units
	rows    *mat.Dense // of a step, where there are more
	labels  []int
}

func (p *labelProblem) newAdam(w []float64) *labelAdam {
	_, d := p.data.Dims()
	return &labelAdam{
		labelLoss: labelLoss{p: p}, bestLoss: math.Inf(1),
		w: w, dw: make([]float64, len(w)), best: slices.Clone(w),
		inputs: p.inputs.Apply(p.data.X), context: mat.NewDense(p.Context, d, nil),
		rows: mat.NewDense(adamBatch, d, nil), labels: make([]int, adamBatch),
	}
}

// step draws context points, compares the objective on all labels with the best if
// it is to validate, and moves w by the gradient at a batch of them.
func (t *labelAdam) step(validate bool, rng *rand.Rand) error {
	t.p.box.FillUniform(t.context, rng)
	if err := t.at(t.context); err != nil {
		return err
	}
	t.batch(t.inputs, t.p.y)
	if validate {
		if v := t.eval(t.w, nil); v < t.bestLoss {
			t.bestLoss, t.stale = v, 0
			copy(t.best, t.w)
		} else {
			t.stale++
		}
	}
	if n := len(t.p.y); n > adamBatch {
		for i := range t.labels {
			k := rng.IntN(n)
			t.rows.SetRow(i, t.inputs.RawRowView(k))
			t.labels[i] = t.p.y[k]
		}
		t.batch(t.rows, t.labels)
	}
	t.eval(t.w, t.dw)
	t.opt.Step(t.p.Rate, t.w, t.dw)
	return nil
}
