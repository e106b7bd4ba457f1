package laplace

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// labelProblem is a fit of l networks to labels.
type labelProblem struct {
	*mapnet.Problem
	curvature string
	published bool // train by Adam as published
	labels    []int
	l         int
	shift     []float64 // constant added to the output of each network
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

// trained is the state of one training run.
type trained struct {
	w         [][]float64
	tapes     []*nn.Tape // networks, recorded at the labelled points
	prob      *mat.Dense // L×n
	precision float64
	evidence  float64
	merit     float64 // last evidence during training; the best of the restarts has the largest
	notes     []string

	factor     *classify.Factor   // for the full curvature
	curvatures []mapnet.Curvature // for the other curvatures
}

// kernels returns the tangent kernels at the labelled points.
func (s *trained) kernels() []*mat.SymDense {
	out := make([]*mat.SymDense, len(s.tapes))
	for c, t := range s.tapes {
		out[c] = mat.NewSymDense(t.Len(), nil)
		nn.KernelSym(out[c], t)
	}
	return out
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

// record evaluates the networks at the labelled points and returns the values of the latent functions.
func (p *labelProblem) record(s *trained) *mat.Dense {
	for c, w := range s.w {
		s.tapes[c] = p.Net.Record(w, p.X)
	}
	return p.values(s)
}

// values returns the values of the latent functions at the recorded points, L×n.
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
	switch {
	case p.Trainer == "gauss-newton" || p.Trainer == "" && p.few():
		return s, p.gaussNewton(ctx, s)
	case p.published:
		return s, p.publishedAdam(ctx, s, rng)
	}
	return s, p.adam(ctx, s, rng)
}

const (
	settled = 1e-3 // nats; training ends after three consecutive steps with a smaller decrease

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
	n := len(p.labels)
	grad, next := mat.NewDense(p.l, n, nil), mat.NewDense(p.l, n, nil)
	value := p.objective(s.prob, grad, p.record(s), s.w, s.precision)
	kernels := s.kernels()
	damping := train.Damping{Lambda: 1e-3 * mat.Trace(kernels[0]) / (4 * float64(n))}
	step := func() (bool, error) {
		steps, predicted, err := p.step(s, kernels, grad, damping.Lambda)
		if err != nil {
			return false, err
		}
		w := make([][]float64, p.l)
		for c, v := range s.w {
			w[c] = slices.Clone(v)
			linalg.Axpy(1, steps[c], w[c])
			p.Net.Forward(next.RawRowView(c), w[c], p.X)
			floats.AddConst(p.shift[c], next.RawRowView(c))
		}
		fell := value - p.objective(mat.NewDense(p.l, n, nil), mat.NewDense(p.l, n, nil), next, w, s.precision)
		if !damping.Accept(fell, predicted, settled) {
			return false, nil
		}
		s.w = w
		value = p.objective(s.prob, grad, p.record(s), s.w, s.precision)
		kernels = s.kernels()
		return true, nil
	}
	update := func() (mapnet.Update, error) {
		last := s.precision
		err := p.weigh(ctx, s, mapnet.Full, kernels)
		damping.Resume()
		value = p.objective(s.prob, grad, p.values(s), s.w, s.precision)
		return mapnet.Update{Moved: math.Abs(math.Log(s.precision / last)), Better: true}, err
	}
	var err error
	s.notes, err = p.Rounds(ctx, &damping, step, update)
	s.merit = s.evidence
	if err != nil || p.curvature == mapnet.Full {
		return err
	}
	return p.weigh(ctx, s, p.curvature, nil)
}

// step returns a step for each network and the decrease of the quadratic model.
func (p *labelProblem) step(s *trained, kernels []*mat.SymDense, grad *mat.Dense, lambda float64) (steps [][]float64, predicted float64, err error) {
	mu := s.precision + lambda
	factor, err := classify.NewFactor(scaled(kernels, 1/mu), classify.Diagonal(s.prob))
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
// weights and curvature. It sets the evidence and the curvature of s. For the full curvature,
// kernels holds the tangent kernels at the labelled points.
func (p *labelProblem) weigh(ctx context.Context, s *trained, curvature string, kernels []*mat.SymDense) error {
	f := p.values(s)
	fit := -p.objective(s.prob, mat.DenseCopyOf(f), f, nil, 0)
	s.factor, s.curvatures = nil, nil
	var ww float64
	for c, w := range s.w {
		ww += linalg.Dot(w, w)
		if curvature == mapnet.Full {
			continue
		}
		q := *p.Problem
		q.Weights = classify.Variances(s.prob.RawRowView(c))
		g, err := q.NewCurvature(ctx, curvature, w)
		if err != nil {
			return err
		}
		s.curvatures = append(s.curvatures, g)
	}
	h, evidence, err := p.Maximize(ctx, mapnet.Hypers{Precision: s.precision, Noise: 1}, func(h mapnet.Hypers) (value, dprecision, dnoise float64, err error) {
		var logDet, gamma float64
		for _, g := range s.curvatures {
			l, effective, err := g.LogDet(h.Precision)
			if err != nil {
				return 0, 0, 0, err
			}
			logDet += l
			gamma += effective
		}
		if s.curvatures == nil {
			if s.factor, err = classify.NewFactor(scaled(kernels, 1/h.Precision), classify.Diagonal(s.prob)); err != nil {
				return 0, 0, 0, err
			}
			logDet, gamma = s.factor.LogDet(), s.factor.Effective()
		}
		size := 0.5 * h.Precision * ww
		return fit - size - 0.5*logDet, 0.5*gamma - size, 0, nil
	})
	s.precision, s.evidence = h.Precision, evidence
	return err
}

// adam minimises the objective divided by n on minibatches. All updates of δ but the last use
// the factored curvature.
func (p *labelProblem) adam(ctx context.Context, s *trained, rng *rand.Rand) error {
	err := p.Looks(ctx, p.descent(s, rng), func() error {
		p.record(s)
		return p.weigh(ctx, s, p.Factored(), nil)
	})
	if err != nil {
		return err
	}
	return p.finish(ctx, s)
}

// descent returns a function that takes a step of Adam along the gradient of the objective divided by n
// on a minibatch.
func (p *labelProblem) descent(s *trained, rng *rand.Rand) func(rate float64) {
	n := len(p.labels)
	size := min(p.Batch, n)
	opt, tapes := make([]optimize.Adam, p.l), make([]nn.Tape, p.l)
	f, grad := mat.NewDense(p.l, size, nil), mat.NewDense(p.l, size, nil)
	dw := make([]float64, len(s.w[0]))
	return func(rate float64) {
		x, y := mapnet.Minibatch(rng, p.X, p.labels, size)
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
	}
}

// publishedAdam minimises the objective by Adam with a constant rate, which ends early by the
// objective on all labels.
func (p *labelProblem) publishedAdam(ctx context.Context, s *trained, rng *rand.Rand) error {
	var early train.Early
	descend, grad := p.descent(s, rng), mat.NewDense(p.l, len(p.labels), nil)
	var err error
	s.notes, err = early.Run(ctx, p.Steps, func(check bool) error {
		if check {
			early.Observe(p.objective(s.prob, grad, p.record(s), s.w, s.precision), slices.Concat(s.w...))
		}
		descend(p.Rate)
		return nil
	})
	if err != nil {
		return err
	}
	for c, w := range s.w {
		copy(w, early.Best[c*len(w):])
	}
	return p.finish(ctx, s)
}

// finish computes the evidence and the curvature of the settings at the weights of s.
func (p *labelProblem) finish(ctx context.Context, s *trained) error {
	p.record(s)
	var kernels []*mat.SymDense
	if p.curvature == mapnet.Full {
		kernels = s.kernels()
	}
	err := p.weigh(ctx, s, p.curvature, kernels)
	s.merit = s.evidence
	return err
}
