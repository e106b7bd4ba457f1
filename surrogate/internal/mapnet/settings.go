package mapnet

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/network"
)

// Network declares a network with a Gaussian prior on its weights.
type Network struct {
	Hidden     []int  `set:"hidden" default:"50,50" range:"[1,10000]" weights:"10000000" help:"widths of the hidden layers"`
	Activation string `set:"activation" default:"tanh" oneof:"tanh,relu,gelu,erf,sin" help:"activation of the hidden units"`
	// Architecture, unless nil, replaces Hidden and Activation, as in surrogate.Network.
	Architecture network.Architecture `json:"-"`
	Precision    *float64             `set:"precision" auto:"learned" range:"[1e-10,1e100]" help:"fixes the precision of the Gaussian prior on the weights"`
	Noise        *float64             `set:"noise" auto:"learned" range:"[1e-10,1e100]" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`
}

// Stated implements surrogate.PriorStater. It reports whether the precision or the noise
// variance is fixed, in the units of the given targets.
func (n Network) Stated() bool { return n.Precision != nil || n.Noise != nil }

// Settings declares a network and its training to a maximum of the posterior. The zero value
// is the default.
type Settings struct {
	Network

	Trainer string  `set:"trainer" auto:"by size" oneof:"gauss-newton,adam" help:"training method (gauss-newton up to 1000 observations, adam beyond)"`
	Steps   int     `set:"steps" auto:"100, or 5000 to 20000" range:"[1,100000000]" help:"largest number of training steps (gauss-newton 100; adam two for each observation, from 5000 to 20000)"`
	Batch   int     `set:"batch" default:"500" range:"[1,1000000]" help:"observations in a step of adam"`
	Rate    float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate of adam, lowered to 0 along a cosine"`
}

const gaussNewtonRows = 1000

// Problem is a network and its training data in the network's units. Scaled inputs have the
// variance 1 for a uniform distribution over the dataset's box. Targets have the mean 0.
type Problem struct {
	Settings
	Net    *nn.Network
	Inputs domain.Affine
	X      *mat.Dense
	Y      []float64
	Shift  float64

	Weights []float64 // weights of the observations in the curvature; nil means 1 for each

	noiseFloor, noiseStart float64
	noisePrior             prior.Density

	bias      float64 // standard deviation of the initial hidden biases
	published bool    // see NewPublished

	// The observations that end the published training, and its patience.
	lastX    *mat.Dense
	lastY    []float64
	patience int
}

// New returns the problem of a dataset. Errors are errors of settings.Resolve and of
// Dataset.Validate.
func New(s Settings, d surrogate.Dataset) (*Problem, error) {
	s, err := settings.Resolve("", s)
	if err != nil {
		return nil, err
	}
	net, err := domain.Network(surrogate.Network{Hidden: s.Hidden, Activation: s.Activation, Architecture: s.Architecture}, d)
	if err != nil {
		return nil, err
	}
	p := &Problem{Settings: s, Net: net, Y: slices.Clone(d.Y)}
	lo, hi := d.Box()
	p.Inputs = domain.UnitVariance(lo, hi).For(net)
	p.X = p.Inputs.Apply(d.X)
	p.Shift = linalg.Mean(p.Y)
	floats.AddConst(-p.Shift, p.Y)
	p.bias = hiddenBias
	p.noiseFloor, p.noisePrior = 1e-4, prior.NoisePrior()
	p.noiseStart = p.noisePrior.Mode()
	if d.NoiseFree {
		p.noiseFloor, p.noisePrior, p.noiseStart = 1e-6, prior.Gamma{Shape: 0.5, Rate: 1}, 1e-4
	}
	return p, nil
}

// hiddenBias is the standard deviation of the initial hidden biases. With zero biases a tanh
// network is an odd function about the centre of the box.
const hiddenBias = 0.5

// Initial draws initial weights.
func (p *Problem) Initial(rng *rand.Rand) []float64 { return p.Net.InitBiased(p.bias, 1, 0, rng) }

// fewInputs is the number of distinct inputs below which a learned precision can be so large that the
// variance is almost 0 everywhere.
const fewInputs = 4

// FewForPrior returns a warning for fewer than fewInputs distinct inputs, unless the precision is fixed.
func (p *Problem) FewForPrior() []string {
	if p.Precision != nil || p.distinct() >= fewInputs {
		return nil
	}
	return []string{fmt.Sprintf("fewer than %d distinct inputs determine the prior of the weights poorly, the variance may be too small: use gp, or set precision", fewInputs)}
}

// FewForSpread returns a warning for fewer distinct inputs than twice the coefficients of a linear
// function. The networks of a sampled posterior then hardly differ between the observations.
func (p *Problem) FewForSpread() []string {
	_, dim := p.X.Dims()
	least := 2 * (dim + 1)
	if p.distinct() >= least {
		return nil
	}
	return []string{fmt.Sprintf("fewer than %d distinct inputs determine a network poorly, the variance may be too small: use gp", least)}
}

// distinct returns the number of distinct inputs.
func (p *Problem) distinct() int { return len(subset.Distinct(p.X, subset.All(len(p.Y)))) }

// Subset returns the problem with the observations at the given indices.
func (p *Problem) Subset(index []int) *Problem {
	q := *p
	q.X, q.Y = subset.TakeBoth(p.X, p.Y, index)
	return &q
}
