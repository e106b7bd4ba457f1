package mapnet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Fitted is a network at a maximum of the posterior.
type Fitted struct {
	W         []float64
	Hypers    Hypers
	Curvature Curvature // curvature at W
	Evidence  float64
	Warnings  []string
}

// State returns the state from which a later fit can start.
func (f *Fitted) State() []float64 {
	return append([]float64{math.Log(f.Hypers.Precision), math.Log(f.Hypers.Noise)}, f.W...)
}

// Start returns the weights and hyperparameters of a State of this network. For a state of
// another length it returns initial weights.
func (p *Problem) Start(state []float64, rng *rand.Rand) ([]float64, Hypers) {
	h := p.start()
	if len(state) != 2+p.Net.NumParams() {
		return p.Initial(rng), h
	}
	return slices.Clone(state[2:]), p.Clamp(Hypers{math.Exp(state[0]), math.Exp(state[1])})
}

const (
	// strongRows is the number of observations from which StartStrong starts at a strong prior. With few
	// observations training from there can end at a constant function.
	strongRows      = 100
	strongPrecision = 30
	strongNoise     = 15 // factor of the noise
)

// StartStrong returns a start of training to a maximum of the posterior. It is Start, but initial
// weights for at least strongRows observations come with a strong prior and a large noise. Training
// from a weak prior follows the noise first, and the evidence does not recover.
func (p *Problem) StartStrong(state []float64, rng *rand.Rand) ([]float64, Hypers) {
	w, h := p.Start(state, rng)
	if len(state) != 2+len(w) && len(p.Y) >= strongRows && !p.published {
		h = p.fix(Hypers{strongPrecision, strongNoise * p.noiseStart})
	}
	return w, h
}

// Fit trains from w and h. The evidence uses the curvature with the given name.
func (p *Problem) Fit(ctx context.Context, curvature string, w []float64, h Hypers, rng *rand.Rand) (*Fitted, error) {
	switch {
	case p.Trainer == "gauss-newton" || p.Trainer == "" && len(p.Y) <= gaussNewtonRows:
		return p.gaussNewton(ctx, curvature, w, h)
	case p.published:
		return p.publishedAdam(ctx, curvature, w, h, rng)
	}
	return p.adam(ctx, curvature, w, h, rng)
}

// FitStrong is Fit from a start of StartStrong. A strong prior can end training at a constant or a linear
// function. If the evidence is no larger than the likelihood of the best linear function,
//
//	-½ n (log 2πs² + 1),
//
// with s² the mean square of its residuals, it trains again from a weak prior and returns the fit of the
// larger evidence.
func (p *Problem) FitStrong(ctx context.Context, curvature string, w []float64, h Hypers, rng *rand.Rand) (*Fitted, error) {
	f, err := p.Fit(ctx, curvature, w, h, rng)
	if err != nil || len(p.Y) < strongRows || p.published || p.Precision != nil && p.Noise != nil {
		return f, err
	}
	if s := p.linearResidual(); f.Evidence > -0.5*float64(len(p.Y))*(math.Log(2*math.Pi*s)+1) {
		return f, nil
	}
	rng = random.Split(rng, "weak prior", 0)
	w, h = p.Start(nil, rng)
	again, err := p.Fit(ctx, curvature, w, h, rng)
	if err != nil || again.Evidence > f.Evidence {
		return again, err
	}
	return f, nil
}

// linearResidual returns the mean square of the residuals of linear regression, or of the targets if there are
// no more observations than coefficients.
func (p *Problem) linearResidual() float64 {
	n, d := p.X.Dims()
	design := mat.NewDense(n, d+1, nil)
	for i := range n {
		row := design.RawRowView(i)
		row[copy(row, p.X.RawRowView(i))] = 1
	}
	gram, b := mat.NewSymDense(d+1, nil), make([]float64, d+1)
	linalg.Syrk(gram, 1, linalg.T, design, 0)
	linalg.MulVec(b, 1, linalg.T, design, p.Y, 0)
	chol, err := linalg.Factorize(gram)
	if n <= d+1 || err != nil {
		return linalg.Dot(p.Y, p.Y) / float64(n)
	}
	chol.SolveVec(b)
	r := slices.Clone(p.Y)
	linalg.MulVec(r, -1, linalg.N, design, b, 1)
	return linalg.Dot(r, r) / float64(n)
}

// Residuals writes y - f(X,w).
func (p *Problem) Residuals(r, w []float64) {
	p.Net.Forward(r, w, p.X)
	for i, y := range p.Y {
		r[i] = y - r[i]
	}
}

// Objective returns E(w), given the residuals at w.
func Objective(h Hypers, r, w []float64) float64 {
	return linalg.Dot(r, r)/(2*h.Noise) + 0.5*h.Precision*linalg.Dot(w, w)
}

// levenbergMarquardt minimises E. Each step s minimises
//
//	|r - Js|²/(2σ²) + ½ δ|w+s|² + ½ λ|s|²
//
// in the n-dimensional dual: with μ = δ+λ and g = Jᵀr/σ² - δw,
// s = (g - Jᵀ(Θ + σ²μI)⁻¹Jg)/μ. A step costs O(n²Σ_l h_l + n³/3 + np).
type levenbergMarquardt struct {
	p       *Problem
	w, r    []float64
	anchor  []float64 // a of Vanishing, or nil for 0
	tape    *nn.Tape
	dual    *dual
	damping train.Damping
}

func newLevenbergMarquardt(p *Problem, w []float64) *levenbergMarquardt {
	lm := &levenbergMarquardt{p: p, w: w, r: make([]float64, len(p.Y))}
	lm.record()
	return lm
}

func (lm *levenbergMarquardt) record() {
	lm.tape = lm.p.Net.Record(lm.w, lm.p.X)
	lm.dual = newDual(lm.tape)
	for i, f := range lm.tape.Value() {
		lm.r[i] = lm.p.Y[i] - f
	}
}

// fromAnchor returns w minus the anchor.
func (lm *levenbergMarquardt) fromAnchor(w []float64) []float64 {
	if lm.anchor == nil {
		return w
	}
	w = slices.Clone(w)
	linalg.Axpy(-1, lm.anchor, w)
	return w
}

// step tries one step and reports whether it accepts the step.
func (lm *levenbergMarquardt) step(h Hypers) (bool, error) {
	n, lambda := len(lm.r), &lm.damping.Lambda
	if *lambda == 0 {
		*lambda = 1e-3 * mat.Trace(lm.dual.a) / (float64(n) * h.Noise)
	}
	mu := h.Precision + *lambda
	chol, _, _, err := ridged(lm.dual.a, h.Noise*mu)
	if err != nil {
		return false, err
	}
	g := make([]float64, len(lm.w))
	a, jg := make([]float64, n), make([]float64, n)
	for i, r := range lm.r {
		a[i] = r / h.Noise
	}
	lm.tape.VJP(g, a)
	linalg.Axpy(-h.Precision, lm.fromAnchor(lm.w), g)
	lm.tape.JVP(jg, g)
	chol.SolveVec(jg)
	for i := range jg {
		jg[i] = -jg[i]
	}
	s := slices.Clone(g)
	lm.tape.VJP(s, jg)
	next := slices.Clone(lm.w)
	for i := range s {
		s[i] /= mu
		next[i] += s[i]
	}
	r := make([]float64, n)
	lm.p.Residuals(r, next)
	fell := Objective(h, lm.r, lm.fromAnchor(lm.w)) - Objective(h, r, lm.fromAnchor(next))
	if !lm.damping.Accept(fell, 0.5*linalg.Dot(g, s)+0.5**lambda*linalg.Dot(s, s), settled) {
		return false, nil
	}
	lm.w = next
	lm.record()
	return true, nil
}

const (
	settled    = 1e-4 // nats; training ends after three consecutive steps with a smaller decrease
	roundSteps = 5    // accepted steps between two updates of the hyperparameters
	stillness  = 0.01 // the fit ends below this relative change of the hyperparameters
	patience   = 5    // updates without a larger evidence after which the fit ends
)

// Update is the result of an update of the hyperparameters.
type Update struct {
	Moved  float64 // largest relative change of the hyperparameters
	Better bool    // the evidence is the largest of the training
}

// Rounds takes steps until damping stalls and the hyperparameters converge, or until patience updates after the
// last one that was better. After the number of steps of the settings it ends with a warning. step reports
// whether it accepted its step.
func (p *Problem) Rounds(ctx context.Context, damping *train.Damping, step func() (bool, error), update func() (Update, error)) (warnings []string, err error) {
	total, waited := cmp.Or(p.Steps, 100), 0
	for left := total; ; {
		for accepted := 0; accepted < roundSteps && left > 0; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: total - left, Total: total})
			left--
			took, err := step()
			if err != nil {
				return nil, err
			}
			if took {
				accepted++
			}
			if damping.Stalled() {
				break
			}
		}
		stalled := damping.Stalled()
		u, err := update()
		waited++
		if u.Better {
			waited = 0
		}
		switch {
		case err != nil || stalled && u.Moved < stillness || waited == patience:
			return nil, err
		case left == 0:
			return []string{fmt.Sprintf("training stopped at %d steps before it converged, the fit may be poor: set steps higher", total)}, nil
		}
	}
}

// gaussNewton returns the weights and hyperparameters of the largest evidence after an update, or the
// last weights if both hyperparameters are fixed. Further updates can lower the evidence, because an
// update neglects that weights and curvature depend on the hyperparameters.
func (p *Problem) gaussNewton(ctx context.Context, curvature string, w []float64, h Hypers) (*Fitted, error) {
	lm := newLevenbergMarquardt(p, w)
	best := &Fitted{Evidence: math.Inf(-1)}
	warnings, err := p.Rounds(ctx, &lm.damping, func() (bool, error) { return lm.step(h) }, func() (Update, error) {
		c, err := p.curvatureOf(ctx, curvature, lm)
		if err != nil {
			return Update{}, err
		}
		last, evidence := h, 0.
		if h, evidence, err = p.update(ctx, last, lm.r, lm.w, c); err != nil {
			return Update{}, err
		}
		u := Update{
			Moved:  max(math.Abs(math.Log(h.Noise/last.Noise)), math.Abs(math.Log(h.Precision/last.Precision))),
			Better: best.W == nil || evidence > best.Evidence || p.Precision != nil && p.Noise != nil,
		}
		if u.Better {
			best = &Fitted{W: lm.w, Hypers: h, Curvature: c, Evidence: evidence}
		}
		return u, nil
	})
	best.Warnings = warnings
	return best, err
}

// curvatureOf is NewCurvature, but reuses the tangent kernel of lm.
func (p *Problem) curvatureOf(ctx context.Context, name string, lm *levenbergMarquardt) (Curvature, error) {
	if name == Full && len(lm.r) <= len(lm.w) {
		return lm.dual, nil
	}
	return p.NewCurvature(ctx, name, lm.w)
}

// gradient writes the gradient of E/n, estimated on a batch, to grad. It overwrites fbar.
func gradient(grad, fbar []float64, t *nn.Tape, w, y []float64, h Hypers, n int) {
	for i, f := range t.Value() {
		fbar[i] = (f - y[i]) / (float64(len(y)) * h.Noise)
	}
	for i, v := range w {
		grad[i] = h.Precision * v / float64(n)
	}
	t.VJP(grad, fbar)
}

const (
	looks = 5 // updates of the hyperparameters in training by Adam

	// Adam takes stepsPerRow steps for each observation, within bounds.
	stepsPerRow           = 2
	leastSteps, mostSteps = 5000, 20000
)

// Looks runs the schedule of Adam, with all updates of the hyperparameters but the last.
func (p *Problem) Looks(ctx context.Context, step func(rate float64), update func() error) error {
	steps := cmp.Or(p.Steps, min(max(leastSteps, stepsPerRow*len(p.Y)), mostSteps))
	every := max(steps/looks, 1)
	s := train.Schedule{Phase: "train", Steps: steps, Every: 50, Rate: p.Rate}
	return s.Run(ctx, func(i int, rate float64) error {
		step(rate)
		if (i+1)%every != 0 || i+1+every > steps {
			return nil
		}
		return update()
	})
}

// adam minimises E/n on minibatches. It updates the hyperparameters looks times. All updates
// but the last use the factored curvature.
func (p *Problem) adam(ctx context.Context, curvature string, w []float64, h Hypers, rng *rand.Rand) (*Fitted, error) {
	n := len(p.Y)
	opt, grad, tape := optimize.Adam{}, make([]float64, len(w)), new(nn.Tape)
	fbar, r := make([]float64, min(p.Batch, n)), make([]float64, n)
	err := p.Looks(ctx, func(rate float64) {
		x, y := Minibatch(rng, p.X, p.Y, p.Batch)
		tape.Record(p.Net, w, x)
		gradient(grad, fbar, tape, w, y, h, n)
		opt.Step(rate, w, grad)
	}, func() error {
		c, err := p.NewCurvature(ctx, p.Factored(), w)
		if err != nil {
			return err
		}
		p.Residuals(r, w)
		h, _, err = p.update(ctx, h, r, w, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "covariance"})
	c, err := p.NewCurvature(ctx, curvature, w)
	if err != nil {
		return nil, err
	}
	p.Residuals(r, w)
	h, evidence, err := p.update(ctx, h, r, w, c)
	if err != nil {
		return nil, err
	}
	return &Fitted{W: w, Hypers: h, Curvature: c, Evidence: evidence}, nil
}
