package classify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/hyper"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Prior is a Gaussian-process prior on each latent function: one kernel for all
// and a constant mean for each.
type Prior struct {
	Kernel   prior.Kernel
	Means    []float64
	Warnings []string
}

const (
	// searchSize is the largest number of labels in the search for hyperparameters, for
	// L = 1.
	searchSize = 600

	defaultStarts = 2

	// meanSD is the prior standard deviation of a learned mean. A mean is within
	// ±meanReach.
	meanSD, meanReach = 2.0, 10.0
)

// ErrNoise reports a Spec that fixes a noise variance.
var ErrNoise = fmt.Errorf("%w: labels have no noise variance", prior.ErrSpec)

// checkSpec returns an error if s does not define a prior on latent functions of dim inputs.
func checkSpec(s prior.Spec, dim int) error {
	if s.Noise != nil {
		return ErrNoise
	}
	_, err := s.Process(dim)
	return err
}

// fitPrior maximises the evidence of the labels times the priors of the hyperparameters that
// s does not fix: the hyperpriors of package prior, and N(0, 2²) for each mean, unless s
// has a zero mean. Bounded L-BFGS runs from s.Restarts starts (0 is 2): the modes of the
// hyperpriors, then draws from them. The search uses at most 600/√L labels, drawn at
// random. A step costs O(Ln³).
func fitPrior(ctx context.Context, s prior.Spec, d surrogate.Labels, rng *rand.Rand) (Prior, error) {
	_, dim := d.Dims()
	if err := checkSpec(s, dim); err != nil {
		return Prior{}, err
	}
	// The last hyperparameter, the noise variance, does not apply to labels.
	s.Noise = new(1.)
	layout, err := hyper.New(s, dim, false)
	if err != nil {
		return Prior{}, err
	}
	p := &search{Vector: layout, l: Latents(d.Classes), means: s.Mean != prior.MeanZero}
	starts := s.Restarts
	if starts == 0 {
		starts = defaultStarts
	}
	begin := p.starts(starts, rng)
	p.x, p.y = subset.AtMost(d.X, d.Y, int(searchSize/math.Sqrt(float64(p.l))), rng)
	best := begin[0]
	if len(best) > 0 {
		if best, err = p.run(ctx, begin); err != nil {
			return Prior{}, err
		}
	}
	theta, means := p.unpack(best)
	out := Prior{Kernel: p.Kernel.WithParams(theta), Means: means}
	for _, i := range p.Free {
		if h := p.Params[i]; theta[i] <= h.Lo*(1+1e-9) || theta[i] >= h.Hi*(1-1e-9) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is at its bound %.3g, the fit may be poor: scale the inputs", h.Name, theta[i]))
		}
	}
	return out, nil
}

// Hypers lists the hyperparameters and the means.
func (p Prior) Hypers() []surrogate.Hyper {
	return append(summary.KernelHypers(p.Kernel), MeanHypers(p.Means)...)
}

// MeanHypers names the means of latent functions.
func MeanHypers(means []float64) []surrogate.Hyper {
	if len(means) == 1 {
		return []surrogate.Hyper{{Name: "mean", Value: means[0]}}
	}
	var out []surrogate.Hyper
	for c, m := range means {
		out = append(out, surrogate.Hyper{Name: fmt.Sprintf("mean[%d]", c), Value: m})
	}
	return out
}

// Grams returns k(x,x), once for each latent function.
func (p Prior) Grams(x *mat.Dense) []*mat.SymDense {
	n, _ := x.Dims()
	k := mat.NewSymDense(n, nil)
	p.Kernel.Gram(k, x)
	return slices.Repeat([]*mat.SymDense{k}, len(p.Means))
}

// Condition returns the variational approximation of the latent processes given labels y at the rows of x. If it
// does not converge, the result is Laplace's approximation, with a warning. It costs O(Ln³) for each step.
func (p Prior) Condition(ctx context.Context, x *mat.Dense, y []int) (mode *Approximation, warnings []string, err error) {
	k := p.Grams(x)
	laplace, err := FindMode(ctx, k, p.Means, y, nil)
	if err != nil {
		return nil, nil, err
	}
	mode, err = Variational(ctx, k, p.Means, y, laplace)
	if errors.Is(err, ErrNoFixedPoint) {
		warning := ErrNoFixedPoint.Error() + ", so Laplace's replaces it and probabilities are too close to equal: fix variance to a smaller value"
		return laplace, []string{warning}, nil
	}
	return mode, nil, err
}

// search is the fit of a prior. Its variables are the logarithms of the free
// hyperparameters followed by the learned means.
type search struct {
	hyper.Vector
	l     int
	means bool
	x     *mat.Dense
	y     []int
}

func (p *search) starts(k int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, k)
	for s := range out {
		for _, i := range p.Free {
			h := p.Params[i]
			v := h.Value
			if s > 0 {
				if h.Prior != nil {
					v = h.Prior.Sample(rng)
				} else {
					v = h.Lo * math.Pow(h.Hi/h.Lo, rng.Float64())
				}
			}
			out[s] = append(out[s], math.Log(min(max(v, h.Lo), h.Hi)))
		}
		if p.means {
			out[s] = append(out[s], make([]float64, p.l)...)
		}
	}
	return out
}

func (p *search) unpack(v []float64) (theta, means []float64) {
	theta = p.Values(v)
	theta = theta[:len(theta)-1]
	means = make([]float64, p.l)
	copy(means, v[len(p.Free):])
	return theta, means
}

// run returns the best result over the starts; of equal results, the first.
func (p *search) run(ctx context.Context, starts [][]float64) ([]float64, error) {
	lo, hi := p.Bounds(len(starts[0]), meanReach)
	objective := func() func(v, grad []float64) float64 {
		var a *mat.Dense
		return func(v, grad []float64) float64 { return p.loss(ctx, v, grad, &a) }
	}
	best, err := optimize.Multistart(ctx, objective, starts, lo, hi, optimize.Settings{MaxIter: 100, GradTol: 1e-2, FuncTol: 1e-6})
	if err != nil {
		return nil, err
	}
	if math.IsInf(best.F, 1) || floats.HasNaN(best.X) {
		return nil, fmt.Errorf("no start of the fit has a finite evidence: %w", surrogate.ErrNotPositiveDefinite)
	}
	return best.X, nil
}

// loss returns minus the log posterior of the variables and writes its gradient. Newton's
// method starts from a, the result of the last call.
func (p *search) loss(ctx context.Context, v, grad []float64, a **mat.Dense) float64 {
	theta, means := p.unpack(v)
	kernel := p.Kernel.WithParams(theta)
	n := len(p.y)
	gram := mat.NewSymDense(n, nil)
	kernel.Gram(gram, p.x)
	mode, err := FindMode(ctx, slices.Repeat([]*mat.SymDense{gram}, p.l), means, p.y, *a)
	if err != nil {
		return math.Inf(1)
	}
	*a = mode.A
	kbar, dmean := mode.Adjoint()
	if ctx.Err() != nil {
		return math.Inf(1)
	}
	dtheta := make([]float64, len(theta))
	kernel.ParamVJP(dtheta, p.x, kbar)
	floats.Scale(-1, dtheta)
	loss := p.Penalize(-mode.Evidence, grad, v, dtheta)
	if p.means {
		for c, m := range means {
			loss += m * m / (2 * meanSD * meanSD)
			grad[len(p.Free)+c] = m/(meanSD*meanSD) - dmean[c]
		}
	}
	return loss
}
