package mapnet

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// Settings are those that networks trained in this way share. The zero value is
// the default.
type Settings struct {
	Hidden     []int    `set:"hidden" default:"50,50" help:"widths of the hidden layers"`
	Activation string   `set:"activation" default:"tanh" help:"tanh, relu, gelu, erf or sin"`
	Precision  *float64 `set:"precision" default:"learned" help:"fixes the precision of the Gaussian prior on the weights"`
	Noise      *float64 `set:"noise" default:"learned" help:"fixes the variance of the observation noise"`

	// Trainer is "gauss-newton" or "adam"; empty is Gauss–Newton up to 1000
	// observations and Adam beyond.
	Trainer string  `set:"trainer" default:"by size" help:"gauss-newton or adam"`
	Steps   int     `set:"steps" default:"100 or 5000" help:"largest number of training steps (gauss-newton 100, adam 5000)"`
	Batch   int     `set:"batch" default:"500" help:"observations in a step of adam"`
	Rate    float64 `set:"rate" default:"0.005" help:"learning rate of adam, lowered to 0 along a cosine"`
}

const gaussNewtonRows = 1000

// WithDefaults fills in the defaults.
func (s Settings) WithDefaults() (Settings, error) {
	if err := cmp.Or(
		settings.Layers(&s.Hidden, 50, 50),
		settings.Choose("activation", &s.Activation, nn.Names()...),
		settings.Choose("trainer", &s.Trainer, "", "gauss-newton", "adam"),
		settings.Positive("steps", s.Steps), settings.Positive("batch", s.Batch), settings.Rate("rate", s.Rate),
		settings.Fixed("precision", s.Precision, settings.LeastFixed), settings.Fixed("noise", s.Noise, settings.LeastFixed),
	); err != nil {
		return s, err
	}
	s.Batch = cmp.Or(s.Batch, 500)
	s.Rate = cmp.Or(s.Rate, 0.005)
	return s, nil
}

// Problem is a network and the data it is trained on, in the network's units:
// inputs spread like a uniform variable of unit variance over the box of the
// dataset, targets less their mean.
type Problem struct {
	Settings
	Net    *nn.Network
	Inputs domain.Affine
	X      *mat.Dense
	Y      []float64
	Shift  float64

	Weights []float64 // of the observations in the curvature; nil is ones

	noiseFloor, noiseStart float64
	noisePrior             prior.Density
}

// New returns the problem of a dataset, or the error of its Validate. The settings
// have their defaults.
func New(s Settings, d surrogate.Dataset) (*Problem, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	activation, err := nn.ByName(s.Activation)
	if err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	p := &Problem{Settings: s, Net: &nn.Network{In: dim, Hidden: s.Hidden, Activation: activation}, Y: slices.Clone(d.Y)}
	lo, hi := d.Box()
	p.Inputs = domain.Affine{Shift: make([]float64, dim), Scale: make([]float64, dim)}
	for j := range dim {
		p.Inputs.Shift[j], p.Inputs.Scale[j] = (lo[j]+hi[j])/2, 1
		if w := hi[j] - lo[j]; w > 0 {
			p.Inputs.Scale[j] = 2 * math.Sqrt(3) / w
		}
	}
	p.X = p.Inputs.Apply(d.X)
	for _, y := range p.Y {
		p.Shift += y / float64(n)
	}
	for i := range p.Y {
		p.Y[i] -= p.Shift
	}
	p.noiseFloor, p.noisePrior = 1e-4, prior.NoisePrior()
	p.noiseStart = p.noisePrior.Mode()
	if d.NoiseFree {
		p.noiseFloor, p.noisePrior, p.noiseStart = 1e-6, prior.Gamma{Shape: 0.5, Rate: 1}, 1e-4
	}
	return p, nil
}

// hiddenBias is the standard deviation of the hidden biases that training starts
// from: without them a tanh network starts as an odd function about the centre of
// the box.
const hiddenBias = 0.5

// Initial draws weights to start from.
func (p *Problem) Initial(rng *rand.Rand) []float64 {
	w := p.Net.Init(rng)
	at, in := 0, p.Net.In
	for _, h := range p.Net.Hidden {
		at += in * h
		for i := range h {
			w[at+i] = hiddenBias * rng.NormFloat64()
		}
		at += h
		in = h
	}
	return w
}

// Subset returns the problem of some of the observations.
func (p *Problem) Subset(index []int) *Problem {
	q := *p
	q.X, q.Y = subset.TakeBoth(p.X, p.Y, index)
	return &q
}
