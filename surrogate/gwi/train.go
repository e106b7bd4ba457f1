package gwi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

const (
	// The initial least-squares fit of the network uses at most startRows observations,
	// startContext points of the box and startSteps steps.
	startRows      = 400
	startContext   = 100
	startSteps     = 50
	startTolerance = 3e-3 // nats per point

	// Beyond manyRows observations the noise variance is at least the squared error of the network.
	manyRows = 500

	// watchSteps is the number of steps between reports of progress and evaluations of held-out
	// data.
	watchSteps = 10
)

// problem holds one fit: the initial sparse process, and q.
type problem struct {
	recipe
	objective
	data   surrogate.Dataset
	box    domain.Box
	source *domain.Source // of measurement points; nil is the box
	order  []int          // a permutation of the observations
	q      *inducing.Posterior
	v      *variational.Gaussian
	notes  []string
}

// start sets q to the optimum of the sparse process (Titsias 2009). A network approximates the
// mean by least squares.
func (p *problem) start(ctx context.Context, warm []float64, rng *rand.Rand) error {
	m := p.q.L.N()
	if p.net == nil {
		p.objective.mean = sparseMean{p.q.Process.Mean}
		p.v = variational.New(m, 0, m, m)
		// φᵀa = wᵀm for a = L_Bᵀm.
		lower := mat.NewDense(m, m, nil)
		p.q.B.Lower(lower)
		mat.NewVecDense(m, p.v.M).MulVec(lower.T(), mat.NewVecDense(m, p.q.M))
	} else {
		inputs := domain.ScaleInputs(p.q.Process.Kernel, p.box.Lo, p.box.Hi).For(p.net)
		if p.published() {
			inputs = domain.ZScore(p.data.X).For(p.net)
		}
		p.objective.mean = &networkMean{net: p.net, inputs: inputs}
		p.v = variational.New(p.net.NumParams(), 0, m, m)
		copy(p.v.M, p.net.InitBiased(p.bias, inputs.Spread(p.box), p.q.Process.Mean, rng))
		copy(p.v.M, warm)
		if p.fitted {
			if err := p.startNetwork(ctx, inputs, rng); err != nil {
				return err
			}
		}
	}
	linalg.SetIdentity(p.v.Ut)
	p.v.LogSD[0] = 0.5 * math.Log(p.q.Process.Noise)
	return nil
}

func (p *problem) startNetwork(ctx context.Context, inputs domain.Affine, rng *rand.Rand) error {
	c := new(mat.Dense)
	c.Stack(p.source.Points(p.box, startContext, rng, p.box.Halton), subset.Take(p.data.X, p.order[:min(len(p.order), startRows)]))
	if err := p.source.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	n, _ := c.Dims()
	to := target.Gaussian{C: c, Mean: make([]float64, n), Cov: mat.NewSymDense(n, nil)}
	p.q.Joint(to.Mean, to.Cov, c)
	left, err := to.Train(ctx, p.net, inputs, p.q.Process.Kernel, p.v.M, startSteps, startTolerance)
	if err != nil {
		return fmt.Errorf("%s: start: %w", p.name, err)
	}
	p.notes = append(p.notes, target.Missed(left)...)
	return nil
}

// points returns the given observations and the points of the distance: the first of these
// observations and, if Measure is "all", points drawn from the box or the source.
func (p *problem) points(index []int, rng *rand.Rand) *points {
	x, y := subset.TakeBoth(p.data.X, p.data.Y, index)
	drawn := 0
	if p.Measure == measureAll && p.Points > 1 {
		c, observed := p.source.Points(p.box, p.Points/2, rng, p.box.Uniform), x
		drawn = c.RawMatrix().Rows
		x = new(mat.Dense)
		x.Stack(c, observed)
	}
	measured := drawn + min(len(y), max(p.Points-drawn, 0))
	return newPoints(p.q, x, measured, y, float64(len(p.order))/float64(len(y)))
}

// train lowers F by Adam. Each step draws new points of the box and, for more than Batch
// observations, takes the next batch. The rate falls along half a cosine to a hundredth at
// Steps; training ends there or at stop. It calls a watch that is not nil every ten steps and
// at the end.
func (p *problem) train(ctx context.Context, stop int, watch func(step int) error, rng *rand.Rand) error {
	opt, grad := optimize.Adam{}, p.v.Like()
	size, at, least := min(p.Batch, len(p.order)), 0, min(p.v.LogSD[0], math.Log(variational.LeastSD(false)))
	s := train.Schedule{Phase: "train", Steps: stop, Every: watchSteps, Rate: p.Rate, End: 0.01, Fall: p.Steps}
	err := s.Run(ctx, func(step int, rate float64) error {
		if watch != nil && step%watchSteps == 0 {
			if err := watch(step); err != nil {
				return err
			}
		}
		if at+size > len(p.order) {
			rng.Shuffle(len(p.order), func(i, j int) { p.order[i], p.order[j] = p.order[j], p.order[i] })
			at = 0
		}
		points := p.points(p.order[at:at+size], rng)
		if err := p.source.Err(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := p.objective.eval(p.v, points, grad); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		at += size
		if !p.LearnNoise {
			grad.LogSD[0] = 0
		}
		opt.Step(rate, p.v.Vector, grad.Vector)
		p.v.LogSD[0] = max(p.v.LogSD[0], least)
		return nil
	})
	if err != nil || watch == nil {
		return err
	}
	return watch(stop)
}

// coverErrors raises a learned σ² to the mean squared error of the network at the observations. The sparse process may
// have a much smaller σ² because its own mean is closer to them. A temperature includes these errors.
func (p *problem) coverErrors() {
	if p.net == nil || p.Noise != nil || *p.HeldOut > 0 || len(p.data.Y) <= manyRows {
		return
	}
	q, sum := &withNetwork{net: p.net, inputs: p.objective.mean.(*networkMean).inputs, w: p.v.M}, 0.0
	mean := make([]float64, len(p.data.Y))
	q.add(mean, nil, p.data.X)
	for i, y := range p.data.Y {
		sum += (y - mean[i]) * (y - mean[i]) / float64(len(mean))
	}
	p.v.LogSD[0] = max(p.v.LogSD[0], 0.5*math.Log(sum))
}
