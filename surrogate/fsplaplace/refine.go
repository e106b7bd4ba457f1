package fsplaplace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// explained is a bound on the mean squared error at the observations, in units of the fitted
// noise variance. Above it, training continues with all observations.
const explained = 1.5

const (
	refineSteps   = 4000 // steps of Adam, plus one for every ten observations
	refineRate    = 3e-3 // initial learning rate, which falls to a hundredth along half a cosine
	refineContext = 200  // context points in a step, and as many observed inputs
	refineEvery   = 10   // steps with the same context points
	refineJitter  = 1e-4 // variance added to the diagonal of K, relative to the prior variance
)

// refineIfBetter refines post if that lowers its squared error at the observations. Else post stays
// as it was. It adds a warning if the error remains far above the noise.
func (p *problem) refineIfBetter(ctx context.Context, post *posterior, to target.Gaussian, c, holdout *mat.Dense, rng *rand.Rand) error {
	other, noise := *post, p.noise
	other.W = slices.Clone(post.W)
	if err := p.refine(ctx, &other, rng); err != nil {
		return err
	}
	if p.squaredError(&other) < p.squaredError(post) {
		*post, p.refined = other, true
		if err := p.byRidge(ctx, post, to, c, holdout, post.ridge); err != nil {
			return err
		}
	} else {
		p.noise = noise
	}
	if ratio := p.squaredError(post) / p.noise; ratio > explained {
		p.notes = append(p.notes, fmt.Sprintf("the mean squared error at the observations is %.2g times the noise variance, so intervals are too narrow: use svgp", ratio))
	}
	return nil
}

// refine continues training by Algorithm 1 with all observations. It starts at weights trained
// to the sparse process of inducingRows observations. Adam trains w and the noise on batches.
// The context points are points of the box and observed inputs: with many inputs, few points
// of the box are correlated with observations.
func (p *problem) refine(ctx context.Context, post *posterior, rng *rand.Rand) error {
	n, d := p.data.Dims()
	w := post.W
	t := p.newAdam(w)
	t.jitter = refineJitter
	k := min(refineContext, n)
	drawn, observed := mat.NewDense(refineContext, d, nil), mat.NewDense(k, d, nil)
	last := len(w)
	if p.Spec.Noise == nil {
		t.theta[last] = specfn.SoftplusInverse(math.Sqrt(max(p.noise, p.squaredError(post))))
	}
	s := train.Schedule{Phase: "train", Steps: refineSteps + n/10, Every: 50, Rate: refineRate, End: 0.01}
	err := s.Run(ctx, func(step int, rate float64) error {
		if step%refineEvery == 0 {
			c := p.source.Points(p.box, refineContext, rng, func(_ int, rng *rand.Rand) *mat.Dense {
				p.box.FillUniform(drawn, rng)
				return drawn
			})
			if err := p.sourceErr(); err != nil {
				return err
			}
			for i := range k {
				observed.SetRow(i, p.data.X.RawRowView(rng.IntN(n)))
			}
			both := new(mat.Dense)
			both.Stack(c, observed)
			if err := t.at(both); err != nil {
				return err
			}
		}
		t.descend(rate, rng)
		return nil
	})
	if err != nil {
		return err
	}
	copy(w, t.theta[:last])
	if p.Spec.Noise == nil {
		s, _ := specfn.Softplus(t.theta[last])
		s = max(s, noiseLoSD)
		p.noise = s * s
	}
	post.shift, post.NoiseVariance = nil, p.noise
	return nil
}

// squaredError returns the mean squared error at the observations.
func (p *problem) squaredError(post *posterior) float64 {
	mean, sum := make([]float64, chunk), 0.0
	shape.Chunks(p.data.X, chunk, func(i, k int, x *mat.Dense) {
		post.networkMean(mean[:k-i], p.tape(post.W, x))
		for j, y := range p.data.Y[i:k] {
			sum += (y - mean[j]) * (y - mean[j])
		}
	})
	return sum / float64(len(p.data.Y))
}

// large reports whether there are more observations than target.MaxExact.
func (p *problem) large() bool { return len(p.data.Y) > target.MaxExact }
