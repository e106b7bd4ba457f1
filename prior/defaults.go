package prior

import "math"

// Defaults of the package.
const (
	// Starts of the marginal-likelihood fit, fewer from manyRows observations. On
	// Branin and Hartmann-6 all starts of the default kernel reach the same
	// optimum. A start at the modes needs half the steps of a random start.
	defaultStarts  = 3
	manyRows       = 500
	manyRowsStarts = 2

	// Rows of the first stage of a search on many rows: at least leastRows and rowsPerHyper for each
	// free hyperparameter, and fewer than twice as many.
	leastRows    = 250
	rowsPerHyper = 5

	// The factor by which a lengthscale is divided in starts of the last stage.
	ripple = 5

	// A noisy search goes on while the other search finds less noise by this factor.
	littleNoise = 16

	// Gain, in nats, at which a stage ends: the loss of a hyperparameter at a tenth of its posterior
	// standard deviation from the maximum.
	stageGain = 0.005

	// Starts for kernels of several parts or with a period, whose likelihood has
	// many optima. On the load forecast of the guide with eight seeds, 3 starts find the best optimum for none.
	// 5 starts find it for four seeds, and 10 starts for seven.
	manyOptimaStarts = 10

	// Rows that the search for hyperparameters uses at most.
	maxRows = 2000

	// Bounds on hyperparameters keep the Gram matrix finite. They are wide enough
	// for inputs and targets that are not scaled.
	tiny, huge = 1e-6, 1e9

	// Lower bound of a learned noise variance.
	noiseFloor = 1e-4

	// With a bound of 1e-10 the fit of a smooth function to 200 observations is
	// limited by rounding errors of the Cholesky factor (docs/adr/0012).
	noiseFreeFloor = 1e-8
)

// LengthscalePrior is LogNormal(√2 + ½ ln d, √3) (Hvarfner, Hellsten and Nardi
// 2024, section 4). Its mode √d·exp(√2-3) grows with √d, like distances in the
// unit cube.
func LengthscalePrior(dim int) Density {
	return LogNormal{Mu: math.Sqrt2 + 0.5*math.Log(float64(dim)), Sigma: math.Sqrt(3)}
}

// NoisePrior is LogNormal(-4, 1), the hyperprior of the noise variance.
func NoisePrior() Density { return LogNormal{Mu: -4, Sigma: 1} }

// noiseFreePrior is the hyperprior of the noise variance for exact data: the standard
// deviation of the noise is half-normal with variance ½. The density varies by 10 nats
// between the lower bound and the variance of the data, so the likelihood dominates. On
// Branin and Hartmann-6 the fitted noise is at the lower bound. If no smooth kernel fits
// the ripples of the data, the fit keeps noise (docs/adr/0009). With NoisePrior, 80 exact
// observations of Hartmann-6 give a standard deviation of 8 % of the data's. Shapes 1 and 2 gain
// nothing (docs/adr/appendix/0012-noise-of-exact-data.md).
var noiseFreePrior = Gamma{Shape: 0.5, Rate: 1}

// unitPrior has mode 1 and 95 % of its mass between 0.4 and 19. It is the hyperprior
// of numbers with natural scale 1: output variances, α of the rational quadratic,
// offsets, variances of weights and biases.
var unitPrior = LogNormal{Mu: 1, Sigma: 1}

// periodPrior has median 1, the side of the unit cube, and mode 0.37.
var periodPrior = LogNormal{Mu: 0, Sigma: 1}

// lengthscaleParam returns a lengthscale of a kernel of dim inputs. Below its lower bound,
// observations are uncorrelated along the input and the fit overfits.
func lengthscaleParam(name string, dim int) Param {
	p := LengthscalePrior(dim)
	return Param{Name: name, Value: p.Mode(), Lo: 1e-2, Hi: 1e4, Prior: p}
}

func unitParam(name string, lo, hi float64) Param {
	return Param{Name: name, Value: unitPrior.Mode(), Lo: lo, Hi: hi, Prior: unitPrior}
}

func varianceParam() Param { return unitParam("variance", tiny, huge) }

func periodParam(name string) Param {
	return Param{Name: name, Value: periodPrior.Mode(), Lo: 1e-3, Hi: 1e4, Prior: periodPrior}
}
