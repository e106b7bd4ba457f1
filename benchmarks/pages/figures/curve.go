package figures

import (
	"context"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// drawn is the number of functions in a panel.
const drawn = 4

// curve is a posterior on the grid.
type curve struct {
	mean, sd []float64
	paths    [][]float64
}

func newCurve(p surrogate.Posterior, seed uint64) curve { return curveAt(p, grid(), seed) }

// curveAt evaluates a posterior at the rows of x.
func curveAt(p surrogate.Posterior, x *mat.Dense, seed uint64) curve {
	n, _ := x.Dims()
	c := curve{mean: make([]float64, n), sd: make([]float64, n)}
	p.Predict(c.mean, c.sd, x)
	for i, v := range c.sd {
		c.sd[i] = math.Sqrt(v)
	}
	for _, f := range p.Paths(drawn, random.New(seed, "figures paths", 0)) {
		value := make([]float64, n)
		f.Eval(value, nil, x)
		c.paths = append(c.paths, value)
	}
	return c
}

// distance returns the distance defined in the package comment.
func distance(a, b curve) float64 {
	var sum float64
	for i := range a.mean {
		sum += math.Hypot(a.mean[i]-b.mean[i], a.sd[i]-b.sd[i])
	}
	return sum / float64(len(a.mean))
}

// exact returns the posterior of the Gaussian process for the data of a seed.
func exact(p Prior, seed uint64) (curve, error) {
	d := Data(seed)
	process, err := p.Spec().Process(1)
	if err != nil {
		return curve{}, err
	}
	post, err := gp.New(process, d)
	if err != nil {
		return curve{}, err
	}
	return newCurve(post, seed), nil
}

// priorCurve returns the prior itself.
func priorCurve() curve {
	c := curve{mean: make([]float64, gridPoints), sd: make([]float64, gridPoints)}
	for i := range c.sd {
		c.sd[i] = 1
	}
	return c
}

// fit fits a surrogate under a prior, with further settings, to the data of a seed. It
// returns the posterior and the seconds of the fit.
func fit(ctx context.Context, name string, p Prior, seed uint64, settings ...string) (c curve, seconds float64, err error) {
	m, err := model(name, p, settings...)
	if err != nil {
		return curve{}, 0, err
	}
	begin := time.Now()
	post, err := m.Fit(ctx, Data(seed), random.New(seed, "figures fit", 0))
	if err != nil {
		return curve{}, 0, err
	}
	seconds = time.Since(begin).Seconds()
	return newCurve(post, seed), seconds, nil
}
