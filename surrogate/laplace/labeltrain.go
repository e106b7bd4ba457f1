package laplace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// labelProblem is a fit of l networks to labels.
type labelProblem struct {
	*mapnet.Problem
	curvature string
	labels    []int
	l         int
	shift     []float64 // of each latent, added to the output of its network
}

// logOdds returns the log-odds of the classes, with half a label added to each count. For two
// classes it is the logarithm of the ratio, else the logarithms of the frequencies minus
// their mean.
func logOdds(y []int, classes int) []float64 {
	count := make([]float64, classes)
	linalg.Fill(count, 0.5)
	for _, c := range y {
		count[c]++
	}
	if classes == 2 {
		return []float64{math.Log(count[1] / count[0])}
	}
	var mean float64
	for c, v := range count {
		count[c] = math.Log(v)
		mean += count[c] / float64(classes)
	}
	floats.AddConst(-mean, count)
	return count
}

// trained is the state of a training.
type trained struct {
	w         [][]float64
	tapes     []*nn.Tape // at the labelled points
	prob      *mat.Dense // L×n
	precision float64
	evidence  float64
	merit     float64 // last evidence during training; the best of the restarts has the largest
	notes     []string

	factor     *classify.Factor   // for the full curvature
	curvatures []mapnet.Curvature // for the other curvatures
}

// objective returns -log p(y|f) + ½ δ Σ|w_c|² at values f. It writes the probabilities and
// ∂log p/∂f.
func (p *labelProblem) objective(prob, grad, f *mat.Dense, w [][]float64, precision float64) float64 {
	value := -classify.LogProb(prob, grad, f, p.labels)
	for _, v := range w {
		value += 0.5 * precision * linalg.Dot(v, v)
	}
	return value
}

// record evaluates the networks at the labelled points and returns the values of the latents.
func (p *labelProblem) record(s *trained) *mat.Dense {
	for c, w := range s.w {
		s.tapes[c] = p.Net.Record(w, p.X)
	}
	return p.values(s)
}

// values returns the values of the latents at the tapes, L×n.
func (p *labelProblem) values(s *trained) *mat.Dense {
	f := mat.NewDense(p.l, len(p.labels), nil)
	for c, t := range s.tapes {
		f.SetRow(c, t.Value())
		floats.AddConst(p.shift[c], f.RawRowView(c))
	}
	return f
}

// few reports whether a step of Gauss–Newton training is cheap.
func (p *labelProblem) few() bool { return p.l*len(p.labels) <= manyRows }

// train trains new networks. Unless the settings name a trainer, it uses Gauss–Newton steps
// for few labels, else Adam.
func (p *labelProblem) train(ctx context.Context, rng *rand.Rand) (*trained, error) {
	s := &trained{w: make([][]float64, p.l), tapes: make([]*nn.Tape, p.l), prob: mat.NewDense(p.l, len(p.labels), nil), precision: startPrecision}
	if p.Precision != nil {
		s.precision = *p.Precision
	}
	for c := range s.w {
		s.w[c] = p.Initial(rng)
	}
	if p.Trainer == "gauss-newton" || p.Trainer == "" && p.few() {
		return s, p.gaussNewton(ctx, s)
	}
	return s, p.adam(ctx, s, rng)
}

const (
	settled    = 1e-3 // nats; training ends after three consecutive steps with a smaller gain
	roundSteps = 5    // accepted steps between two updates of the precision
	stillness  = 0.01 // the fit ends below this relative change of the precision
	maxDamping = 1e12

	// startPrecision is the initial value of a learned δ. With 1 or more, most networks converge
	// to a linear function on two moons, and the evidence does not leave that solution.
	startPrecision = 0.1
)

// gaussNewton takes steps that solve, for all networks together,
//
//	(JᵀWJ + μI) s = g,  g = Jᵀ ∂log p/∂f - δw,  μ = δ+λ,
//
// in the dual: s = (g - Jᵀ(Θ/μ + W⁻¹)⁻¹Jg/μ)/μ with Θ = JJᵀ. A step costs O(Ln³). In turns
// with these steps, δ maximises the evidence with the full curvature. At the end it maximises
// the evidence with the curvature of the settings.
func (p *labelProblem) gaussNewton(ctx context.Context, s *trained) error {
	total := cmp.Or(p.Steps, 100)
	n := len(p.labels)
	grad, next := mat.NewDense(p.l, n, nil), mat.NewDense(p.l, n, nil)
	kernels := make([]*mat.SymDense, p.l)
	for c := range kernels {
		kernels[c] = mat.NewSymDense(n, nil)
	}
	look := func() float64 {
		value := p.objective(s.prob, grad, p.record(s), s.w, s.precision)
		for c, t := range s.tapes {
			nn.KernelSym(kernels[c], t)
		}
		return value
	}
	value := look()
	lambda, grow, slow := 1e-3*mat.Trace(kernels[0])/(4*float64(n)), 2.0, 0
	for left := total; ; {
		for accepted := 0; accepted < roundSteps && left > 0 && slow < 3 && lambda < maxDamping; left-- {
			if err := ctx.Err(); err != nil {
				return err
			}
			surrogate.Report(ctx, surrogate.Progress{Phase: "train", Done: total - left, Total: total})
			steps, predicted, err := p.step(s, kernels, grad, lambda)
			if err != nil {
				return err
			}
			w := make([][]float64, p.l)
			for c, v := range s.w {
				w[c] = slices.Clone(v)
				linalg.Axpy(1, steps[c], w[c])
				p.Net.Forward(next.RawRowView(c), w[c], p.X)
				floats.AddConst(p.shift[c], next.RawRowView(c))
			}
			fell := value - p.objective(mat.NewDense(p.l, n, nil), mat.NewDense(p.l, n, nil), next, w, s.precision)
			gain := fell / predicted
			if !(gain > 0) {
				lambda *= grow
				grow *= 2
				continue
			}
			accepted++
			slow++
			if fell > settled {
				slow = 0
			}
			s.w = w
			value = look()
			lambda = max(lambda*max(0.1, 1-math.Pow(2*min(gain, 1.5)-1, 3)), 1e-12)
			grow = 2
		}
		before := s.precision
		if err := p.weigh(ctx, s, mapnet.Full, kernels); err != nil {
			return err
		}
		still := (slow >= 3 || lambda >= maxDamping) && math.Abs(math.Log(s.precision/before)) < stillness
		if left == 0 && !still {
			s.notes = []string{fmt.Sprintf("training stopped at %d steps before it converged, the fit may be poor: set steps higher", total)}
		}
		if left == 0 || still {
			s.merit = s.evidence
			if p.curvature == mapnet.Full {
				return nil
			}
			return p.weigh(ctx, s, p.curvature, kernels)
		}
		slow, lambda = 0, min(lambda, maxDamping/1e6)
		value = p.objective(s.prob, grad, p.values(s), s.w, s.precision)
	}
}

// step returns a step for each network and the decrease of the quadratic model.
func (p *labelProblem) step(s *trained, kernels []*mat.SymDense, grad *mat.Dense, lambda float64) (steps [][]float64, predicted float64, err error) {
	mu := s.precision + lambda
	factor, err := classify.NewFactor(scaled(kernels, 1/mu), s.prob)
	if err != nil {
		return nil, 0, err
	}
	jg := mat.NewDense(p.l, len(p.labels), nil)
	var gs [][]float64
	for c, w := range s.w {
		g := make([]float64, len(w))
		linalg.Axpy(-s.precision, w, g)
		s.tapes[c].VJP(g, grad.RawRowView(c))
		s.tapes[c].JVP(jg.RawRowView(c), g)
		gs = append(gs, g)
	}
	factor.Solve(jg)
	jg.Scale(-1/mu, jg)
	for c, g := range gs {
		step := slices.Clone(g)
		s.tapes[c].VJP(step, jg.RawRowView(c))
		for i := range step {
			step[i] /= mu
		}
		predicted += 0.5*linalg.Dot(g, step) + 0.5*lambda*linalg.Dot(step, step)
		steps = append(steps, step)
	}
	return steps, predicted, nil
}

// scaled returns the kernels multiplied by s.
func scaled(kernels []*mat.SymDense, s float64) []*mat.SymDense {
	out := make([]*mat.SymDense, len(kernels))
	for c, k := range kernels {
		out[c] = mat.NewSymDense(k.SymmetricDim(), nil)
		out[c].ScaleSym(s, k)
	}
	return out
}

// weigh maximises the evidence plus its log prior over the precision of s, with constant
// weights and curvature. It sets the evidence and the curvature of s. kernels holds the
// tangent kernels at the labelled points, or is nil.
func (p *labelProblem) weigh(ctx context.Context, s *trained, curvature string, kernels []*mat.SymDense) error {
	f := p.values(s)
	fit := -p.objective(s.prob, mat.DenseCopyOf(f), f, nil, 0)
	var ww float64
	for _, w := range s.w {
		ww += linalg.Dot(w, w)
	}
	s.factor, s.curvatures = nil, nil
	if curvature == mapnet.Full {
		if kernels == nil {
			kernels = make([]*mat.SymDense, p.l)
			for c, t := range s.tapes {
				kernels[c] = mat.NewSymDense(t.Len(), nil)
				nn.KernelSym(kernels[c], t)
			}
		}
	} else {
		for c, w := range s.w {
			weights := make([]float64, len(p.labels))
			for i, v := range s.prob.RawRowView(c) {
				weights[i] = v * (1 - v)
			}
			q := *p.Problem
			q.Weights = weights
			g, err := q.NewCurvature(ctx, curvature, w)
			if err != nil {
				return err
			}
			s.curvatures = append(s.curvatures, g)
		}
	}
	evidence := func(precision float64) (value, slope float64, factor *classify.Factor, err error) {
		var logDet, gamma float64
		for _, g := range s.curvatures {
			l, effective, err := g.LogDet(precision)
			if err != nil {
				return 0, 0, nil, err
			}
			logDet += l
			gamma += effective
		}
		if s.curvatures == nil {
			if factor, err = classify.NewFactor(scaled(kernels, 1/precision), s.prob); err != nil {
				return 0, 0, nil, err
			}
			logDet, gamma = factor.LogDet(), factor.Effective()
		}
		return fit - 0.5*precision*ww - 0.5*logDet, 0.5*gamma - 0.5*precision*ww, factor, nil
	}
	if p.Precision == nil {
		loss := func(v, grad []float64) float64 {
			h := mapnet.Hypers{Precision: math.Exp(v[0]), Noise: 1}
			value, slope, _, err := evidence(h.Precision)
			if err != nil {
				return math.Inf(1)
			}
			lp, dlp, _ := p.LogPrior(h)
			grad[0] = -slope - dlp
			return -value - lp
		}
		lo := p.Clamp(mapnet.Hypers{Noise: 1}).Precision
		hi := p.Clamp(mapnet.Hypers{Precision: math.Inf(1), Noise: 1}).Precision
		best, err := optimize.Minimize(ctx, loss, []float64{math.Log(s.precision)}, []float64{math.Log(lo)}, []float64{math.Log(hi)},
			optimize.Settings{MaxIter: 10, MaxEval: 20, GradTol: 1e-2})
		if err != nil {
			return err
		}
		s.precision = math.Exp(best.X[0])
	}
	var err error
	s.evidence, _, s.factor, err = evidence(s.precision)
	return err
}

// looks is the number of updates of the precision in training by Adam.
const looks = 5

// adam minimises the objective divided by n on minibatches. It updates δ looks times. All
// updates but the last use the Kronecker-factored curvature.
func (p *labelProblem) adam(ctx context.Context, s *trained, rng *rand.Rand) error {
	n, dim := p.X.Dims()
	size, steps := min(p.Batch, n), cmp.Or(p.Steps, 5000)
	opt := make([]optimize.Adam, p.l)
	tapes := make([]nn.Tape, p.l)
	x, y := mat.NewDense(size, dim, nil), make([]int, size)
	f, grad := mat.NewDense(p.l, size, nil), mat.NewDense(p.l, size, nil)
	dw := make([]float64, len(s.w[0]))
	schedule := train.Schedule{Phase: "train", Steps: steps, Every: 50, Rate: p.Rate}
	err := schedule.Run(ctx, func(step int, rate float64) error {
		for i := range y {
			r := i
			if size < n {
				r = rng.IntN(n)
			}
			x.SetRow(i, p.X.RawRowView(r))
			y[i] = p.labels[r]
		}
		for c := range tapes {
			tapes[c].Record(p.Net, s.w[c], x)
			f.SetRow(c, tapes[c].Value())
			floats.AddConst(p.shift[c], f.RawRowView(c))
		}
		classify.LogProb(f, grad, f, y)
		grad.Scale(-1/float64(size), grad)
		for c := range tapes {
			for i, v := range s.w[c] {
				dw[i] = s.precision * v / float64(n)
			}
			tapes[c].VJP(dw, grad.RawRowView(c))
			opt[c].Step(rate, s.w[c], dw)
		}
		if every := max(steps/looks, 1); (step+1)%every != 0 || step+1+every > steps {
			return nil
		}
		p.record(s)
		return p.weigh(ctx, s, mapnet.Kron, nil)
	})
	if err != nil {
		return err
	}
	p.record(s)
	err = p.weigh(ctx, s, p.curvature, nil)
	s.merit = s.evidence
	return err
}
