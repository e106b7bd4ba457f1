package prior

import "math"

// Every default number of the package stands here.
const (
	// Starts of the marginal-likelihood fit, and from how many observations on
	// there are only two. On Branin and Hartmann-6 all starts of the default
	// kernel reach one optimum, and a start at the modes gets there in half the
	// steps of a draw.
	defaultStarts  = 3
	manyRows       = 1000
	manyRowsStarts = 2

	// Starts where the kernel has several parts or a period, whose likelihood has
	// many optima: of eight seeds of the guide's load forecast three starts find
	// the best one in none, five in four and ten in seven.
	manyOptimaStarts = 10

	// The most rows that the search for hyper-parameters looks at.
	maxRows = 2000

	// Bounds on hyper-parameters. Priors do the work; bounds keep the Gram
	// matrix finite. They are wide enough for data in units of their own.
	tiny, huge = 1e-6, 1e9

	noiseFloor = 1e-4

	// A hundred times lower the fit of a smooth function from 200 observations meets
	// the rounding errors of the Cholesky factor (docs/adr/0012).
	noiseFreeFloor = 1e-8
)

// LengthscalePrior is LogNormal(√2 + ½ ln d, √3) (Hvarfner, Hellsten & Nardi
// 2024, section 4): lengthscales grow with √d as distances in the unit cube do.
// Its mode is √d·exp(√2-3).
func LengthscalePrior(dim int) Density {
	return LogNormal{Mu: math.Sqrt2 + 0.5*math.Log(float64(dim)), Sigma: math.Sqrt(3)}
}

// NoisePrior is LogNormal(-4, 1) on the noise variance.
func NoisePrior() Density { return LogNormal{Mu: -4, Sigma: 1} }

// noiseFreePrior stands on the noise variance of data declared exact: the noise's
// standard deviation is half-normal with variance ½. Between the floor and the
// variance of the data it varies by 10 nats, so the likelihood decides: it finds
// the floor on Branin and Hartmann-6, and noise where no smooth kernel follows
// the ripples of the data (docs/adr/0009). Under NoisePrior the likelihood of 80
// exact observations of Hartmann-6 leaves the noise at the prior's mode, a
// standard deviation of 8 % of that of the data.
var noiseFreePrior = Gamma{Shape: 0.5, Rate: 1}

// unitPrior has mode 1 and 95 % of its mass between 0.4 and 19. It stands on
// numbers whose natural scale is 1: output variances, α of the rational
// quadratic, offsets, weight and bias variances.
var unitPrior = LogNormal{Mu: 1, Sigma: 1}

// periodPrior has its median at the side of the unit cube and its mode at 0.37.
var periodPrior = LogNormal{Mu: 0, Sigma: 1}

// Below the floor of a lengthscale an input only numbers the observations: they
// share nothing along it, and a few of them are soon explained that way.
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
