package figures

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Observations is the number of observations, Noise the variance of their noise.
const (
	Observations = 40
	Noise        = 0.01
)

// Prior is the Gaussian process under which posteriors are compared, with mean 0 and
// output variance 1.
type Prior struct {
	Name, Title string
	Kernel      string // in the syntax of prior.Parse
	Lengthscale float64
}

// Priors returns a smooth, a rough and a periodic prior.
func Priors() []Prior {
	return []Prior{
		{"rbf", "RBF", "rbf", 0.25},
		{"matern12", "Matérn-1/2", "matern12", 1},
		{"periodic", "periodic", "periodic(period=1)", 1},
	}
}

// Spec returns the prior with the noise variance.
func (p Prior) Spec() prior.Spec {
	return prior.Spec{Kernel: p.Kernel, Lengthscale: []float64{p.Lengthscale}, Variance: new(1.0), Noise: new(Noise), Mean: prior.MeanZero}
}

// Data returns the observations of a seed.
func Data(seed uint64) surrogate.Dataset { return noisyData(seed, Noise) }

// noisyData returns the observations of a seed with another noise variance.
func noisyData(seed uint64, noise float64) surrogate.Dataset {
	rng := random.New(seed, "figures", 0)
	d := surrogate.Dataset{X: mat.NewDense(Observations, 1, nil), Y: make([]float64, Observations), Lo: []float64{-2}, Hi: []float64{2}}
	for i := range d.Y {
		x := 0.5 + 0.5*rng.Float64()
		if i%2 == 0 {
			x = -x
		}
		d.X.Set(i, 0, x)
		d.Y[i] = math.Sin(2*math.Pi*x) + math.Sqrt(noise)*rng.NormFloat64()
	}
	return d
}

// gridPoints is the number of points of [-2,2] at which posteriors are compared and
// drawn.
const gridPoints = 161

func grid() *mat.Dense {
	x := mat.NewDense(gridPoints, 1, nil)
	for i := range gridPoints {
		x.Set(i, 0, -2+4*float64(i)/(gridPoints-1))
	}
	return x
}

// Stated reports whether a surrogate of the catalog accepts a prior stated as a
// kernel. The error wraps catalog.ErrUnknown.
func Stated(name string) (bool, error) {
	m, err := catalog.NewMethod(name)
	return err == nil && m.Has("kernel"), err
}

// model returns a surrogate under a prior with further settings.
func model(name string, p Prior, more ...string) (surrogate.Model, error) {
	method, err := catalog.NewMethod(name)
	if err != nil {
		return nil, err
	}
	pairs := []string{fmt.Sprintf("noise=%v", Noise)}
	if method.Has("kernel") {
		pairs = append(pairs, "kernel="+p.Kernel, fmt.Sprintf("lengthscale=%v", p.Lengthscale), "variance=1")
	}
	if method.Has("mean") {
		pairs = append(pairs, "mean="+prior.MeanZero)
	}
	return configured(name, append(pairs, more...))
}

// configured returns a surrogate with settings key=value.
func configured(name string, settings []string) (surrogate.Model, error) {
	method, err := catalog.NewMethod(name)
	if err != nil {
		return nil, err
	}
	for _, setting := range settings {
		if err := method.Set(setting); err != nil {
			return nil, err
		}
	}
	return method.Surrogate, nil
}
