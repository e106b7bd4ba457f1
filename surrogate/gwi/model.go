package gwi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/target"
	"github.com/functionspace/bo/surrogate/internal/train"
	"github.com/functionspace/bo/surrogate/network"
	"github.com/functionspace/bo/surrogate/svgp"
)

// Options are the settings of both models. The zero value is the default.
type Options struct {
	// Preset is "default" or surrogate.Published: the loss, the start, the variables and the settings
	// of the paper, as far as other fields are not set.
	Preset string `set:"preset" default:"default" oneof:"default,published" help:"default, or published: the algorithm and settings of the paper, except for settings beside it"`

	prior.Spec `published:"kernel=rbf;mean=zero" range:"noise=(0,inf)"`

	Inducing  int    `set:"inducing" auto:"300" range:"[1,20000]" help:"largest number of inducing points (published: square root of the number of observations)"`
	Selection string `set:"selection" default:"kmeans" oneof:"kmeans,pivoted" help:"choice of inducing points: kmeans, centres of clusters; pivoted, largest remaining variance (published: random observations for any value)"`

	Distance string `set:"distance" default:"w2" oneof:"w2,w2-squared" help:"Wasserstein distance from the prior in the loss"`
	Measure  string `set:"measure" default:"all" published:"data" oneof:"all,data" help:"points at which the distance is measured: all, training inputs and as many points of the search box; data, training inputs alone"`
	// MeasurementPoints, unless nil, replaces the points of the box. It is called with half of
	// Points at each step, and with 100 for a fitted start of a network. With Measure "data" only the
	// start calls it. With the published preset it is called with Points at each step, for any
	// Measure: its points replace the training inputs in eq. 14 and 15.
	MeasurementPoints surrogate.PointSource `json:"-"`
	Points            int                   `set:"points" default:"100" range:"[1,20000]" help:"largest number of points at which the distance is measured"`

	// Steps is the number of steps of Adam. More steps let the mean follow the noise, which
	// the loss hardly penalises.
	Steps int     `set:"steps" auto:"100 or 1000" range:"[1,100000000]" help:"training steps (fitted start: 100, and a twentieth of the observations; random start: 1000; published: 1000 passes through the data)"`
	Rate  float64 `set:"rate" auto:"0.001 or 0.01" published:"0.01" range:"(0,1]" help:"learning rate at first (fitted start: 0.001; random start: 0.01), lowered to a hundredth along a cosine, or constant as published"`
	Batch int     `set:"batch" default:"1000" range:"[1,1000000]" help:"observations in a step"`

	LearnNoise bool `set:"learn-noise" default:"false" help:"train the noise variance with the weights instead of keeping the fitted value"`

	// HeldOut is the share of the observations that a first fit holds out. They determine the
	// number of steps, and a temperature that multiplies predictive variances, noise included.
	// The second fit uses all observations. As published there is no second fit.
	HeldOut *float64 `set:"held-out" default:"0" published:"0.1" range:"[0,1)" help:"share of the observations held out to choose the number of steps and a temperature of the predictive variance; 0 is none"`
}

func (o Options) published() bool { return o.Preset == surrogate.Published }

// Stated implements surrogate.PriorStater. The preset "published" states a prior.
func (o Options) Stated() bool { return o.published() || o.Spec.Stated() }

// SVGP is gwi-svgp: the mean is the mean of a sparse Gaussian process.
type SVGP struct {
	Options
}

// Net is gwi-net: the mean is a network.
type Net struct {
	Options

	Hidden     []int  `set:"hidden" default:"50,50" published:"10,10" range:"[1,10000]" weights:"10000000" help:"widths of the hidden layers"`
	Activation string `set:"activation" default:"tanh" oneof:"tanh,relu,gelu,erf,sin" help:"activation of the hidden units"`
	// Architecture, unless nil, replaces Hidden and Activation, as in surrogate.Network.
	Architecture network.Architecture `json:"-"`
	Bias         *float64             `set:"bias" default:"0.5" published:"0" range:"[0,inf)" help:"standard deviation of the initial biases"`
	Start        string               `set:"start" default:"fitted" published:"random" oneof:"fitted,random" help:"initial network: fitted to the mean of the sparse process, or random"`
}

var (
	_ surrogate.WarmStarter = SVGP{}
	_ surrogate.WarmStarter = Net{}
)

const (
	startFitted = "fitted"
	measureAll  = "all"
	squared     = "w2-squared"
)

// recipe is the common form of both models with their defaults.
type recipe struct {
	Options
	name string
	// declared is the network of the mean, nil for the sparse mean. forData sets net to it.
	declared *surrogate.Network
	net      *nn.Network
	bias     float64
	// fitted selects the start at the sparse mean.
	fitted bool
}

func (m SVGP) recipe() (recipe, error) {
	const name = "gwi-svgp"
	m, err := settings.Resolve(name, m)
	return newRecipe(name, m.Options), err
}

func (m Net) recipe() (recipe, error) {
	const name = "gwi-net"
	m, err := settings.Resolve(name, m)
	if err != nil {
		return recipe{}, err
	}
	r := newRecipe(name, m.Options)
	r.declared = &surrogate.Network{Hidden: m.Hidden, Activation: m.Activation, Architecture: m.Architecture}
	r.bias, r.fitted = *m.Bias, m.Start == startFitted
	return r, nil
}

func newRecipe(name string, o Options) recipe {
	o.LearnNoise = o.LearnNoise && o.Noise == nil
	if o.published() {
		o.Spec = o.Spec.ByLikelihood()
	}
	return recipe{Options: o, name: name}
}

// sparse returns the model of the initial sparse process.
func (r recipe) sparse() svgp.Model {
	return svgp.Model{Spec: r.Spec, Inducing: r.Inducing, Selection: r.Selection}
}

// Fit implements surrogate.Model.
func (m SVGP) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. The prior starts at the result of an earlier fit.
func (m SVGP) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return fit(ctx, m.recipe, start, d, rng)
}

// Fit implements surrogate.Model.
func (m Net) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. The prior and the network start at the result of
// an earlier fit.
func (m Net) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return fit(ctx, m.recipe, start, d, rng)
}

func fit(ctx context.Context, of func() (recipe, error), start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	r, err := of()
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	if r.published() {
		return r.fitPublished(ctx, start, d, rng)
	}
	if r, err = r.forData(n, dim); err != nil {
		return nil, err
	}
	stop, temperature := r.Steps, 1.0
	if n > 1 && *r.HeldOut > 0 {
		if stop, temperature, err = r.choose(ctx, start, d, random.Split(rng, "held out", 0)); err != nil {
			return nil, err
		}
	}
	p, err := r.prepare(ctx, start, d, rng)
	if err != nil {
		return nil, err
	}
	if err := p.train(ctx, stop, nil, rng); err != nil {
		return nil, err
	}
	p.coverErrors()
	return p.finish(temperature, random.Split(rng, "compare", 0))
}

// finish returns the posterior, or an error if training diverged. It warns if the intervals contain too
// little of the process, whose noise variance has no temperature, and if the temperature changes a stated
// noise variance.
func (p *problem) finish(temperature float64, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := train.Diverged("rate", p.v.Vector); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	post, err := p.posterior(temperature)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	process := p.q.Process
	process.Noise = p.v.Noise()
	narrow, err := target.CompareTo(post, process, p.data, p.box, p.remedy(temperature), rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	post.Notes = append(post.Notes, narrow...)
	if p.Noise != nil && temperature != 1 {
		post.Notes = append(post.Notes, fmt.Sprintf("the held-out observations multiply all variances by %.2g, also the stated noise: set held-out=0 to keep it", temperature))
	}
	return post, nil
}

// remedy returns the advice of a warning.
func (p *problem) remedy(temperature float64) string {
	remedy := "set steps lower"
	if temperature < 1 {
		remedy = "set held-out=0"
	}
	if p.net == nil {
		return remedy + ", or use svgp"
	}
	return remedy + ", or use gwi-svgp or svgp"
}

// forData returns r with the network of dim inputs and the default schedule and number of inducing
// points.
func (r recipe) forData(n, dim int) (recipe, error) {
	steps, rate, inducing := 100+n/20, 1e-3, 300
	if r.declared != nil {
		var err error
		if r.net, err = domain.Build(*r.declared, dim); err != nil {
			return r, err
		}
		if !r.fitted {
			steps, rate = 1000, 1e-2
		}
	}
	if r.published() {
		steps, inducing = publishedPasses*max(1, n/r.Batch), max(1, int(math.Round(math.Sqrt(float64(n)))))
	}
	r.Steps, r.Rate, r.Inducing = cmp.Or(r.Steps, steps), cmp.Or(r.Rate, rate), cmp.Or(r.Inducing, inducing)
	return r, nil
}

// prepare returns the problem of d with q at its start.
func (r recipe) prepare(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (*problem, error) {
	n, _ := d.Dims()
	weights := 0
	if r.net != nil {
		weights = r.net.NumParams()
	}
	ofPrior, w := summary.DecodeState(start, weights)
	sparse, err := r.sparse().FitFrom(ctx, ofPrior, d, random.Split(rng, "sparse", 0))
	if err != nil {
		return nil, err
	}
	p := &problem{
		recipe: r, data: d, box: domain.ContextBox("search", d), source: domain.NewSource(r.MeasurementPoints), order: rng.Perm(n),
		q: sparse.(*inducing.Posterior),
	}
	p.notes = p.q.Warnings()
	p.objective = objective{process: p.q.Process, squared: r.Distance == squared}
	return p, p.start(ctx, w, random.Split(rng, "start", 0))
}

// The temperature is within these bounds, because a few held-out observations can be close to
// their predictions, or far from them, by chance.
const leastTemperature, largestTemperature = 0.01, 100

// choose fits to a part of d. It returns the step and the temperature T at which the held-out
// observations have the largest density under N(m_Q, T(r + σ²)). At each step the best T is
// the mean of (y - m_Q)²/(r + σ²).
func (r recipe) choose(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (stop int, temperature float64, err error) {
	rest, held := domain.HoldOut(d, *r.HeldOut, rng)
	k := len(held.Y)
	p, err := r.prepare(ctx, start, rest, rng)
	if err != nil {
		return 0, 0, err
	}
	mean, variance, best := make([]float64, k), make([]float64, k), math.Inf(1)
	watch := func(step int) error {
		post, err := p.posterior(1)
		if err != nil {
			return err
		}
		post.Predict(mean, variance, held.X)
		var ratio, logs float64
		for i, m := range mean {
			v := variance[i] + post.Noise()
			ratio += (held.Y[i] - m) * (held.Y[i] - m) / v / float64(k)
			logs += math.Log(v) / float64(k)
		}
		t := min(max(ratio, leastTemperature), largestTemperature)
		if density := math.Log(t) + logs + ratio/t; density < best {
			stop, temperature, best = step, t, density
		}
		return nil
	}
	if err := p.train(ctx, r.Steps, watch, rng); err != nil {
		return 0, 0, err
	}
	if math.IsInf(best, 1) {
		return 0, 0, fmt.Errorf("%s: the density of the held-out observations is not finite", r.name)
	}
	return stop, temperature, nil
}
