package insight

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Quantiles of the standard normal distribution: half the lengths of central intervals of
// 50 % and 95 %.
const (
	half50 = 0.6744897501960817
	half95 = 1.959963984540054
)

// Interval is a range of values, with Low ≤ High.
type Interval struct {
	Low  Number `json:"low"`
	High Number `json:"high"`
}

// Band is a prediction in the user's units: the posterior mean, or median after a log
// transform, and central intervals of 50 % and 95 %.
type Band struct {
	Mean Number   `json:"mean"`
	SD   Number   `json:"sd"` // half the length of the central interval of 68 %
	P50  Interval `json:"p50"`
	P95  Interval `json:"p95"`
}

// band converts a normal prediction of targets to the user's units.
func band(v *loop.View, mean, variance float64) Band {
	sd := math.Sqrt(max(0, variance))
	around := func(z float64) Interval {
		a, b := v.Units.Value(mean-z*sd), v.Units.Value(mean+z*sd)
		return Interval{Number(min(a, b)), Number(max(a, b))}
	}
	one := around(1)
	return Band{Mean: Number(v.Units.Value(mean)), SD: one.High/2 - one.Low/2, P50: around(half50), P95: around(half95)}
}

// predict returns the means and variances of the latent targets at the rows of x, averaged over hyperparameters.
func predict(v *loop.View, x *mat.Dense) (mean, variance []float64) {
	n, _ := x.Dims()
	mean, variance = make([]float64, n), make([]float64, n)
	surrogate.Averaged(v.Posterior).Predict(mean, variance, x)
	return mean, variance
}

// acquisitions returns the values of the acquisition function at the rows of x.
func acquisitions(v *loop.View, x *mat.Dense) []Number {
	n, _ := x.Dims()
	value := make([]float64, n)
	v.Acquisition.Eval(value, nil, x)
	out := make([]Number, n)
	for i, a := range value {
		out[i] = Number(a)
	}
	return out
}

// PointPrediction is the prediction at a point.
type PointPrediction struct {
	Point      space.Point `json:"point"`
	Prediction Band        `json:"prediction"` // of the function
	Measured   Band        `json:"measured"`   // of a measurement: with noise
	// Feasible is the probability that the outcome constraints are met; nil without them.
	Feasible *Number `json:"feasible,omitempty"`
}

// Predict returns the predictions of v at points. The error wraps ErrArgument for a point that the space of v does not have.
func Predict(v *loop.View, points []space.Point) ([]PointPrediction, error) {
	if len(points) == 0 {
		return nil, nil
	}
	x := make([][]float64, len(points))
	for i, p := range points {
		p, err := own(v, p)
		if err != nil {
			return nil, err
		}
		x[i] = v.Space.Encode(p)
	}
	mean, variance := predict(v, matrix(x))
	noise := surrogate.Averaged(v.Posterior).Noise()
	out := make([]PointPrediction, len(points))
	for i, p := range points {
		out[i] = PointPrediction{Point: p, Prediction: band(v, mean[i], variance[i]), Measured: band(v, mean[i], variance[i]+noise)}
	}
	if n := len(v.Options.Require); n > 0 {
		for i, p := range probabilities(v, matrix(x), n) {
			likely := Number(p)
			out[i].Feasible = &likely
		}
	}
	return out, nil
}

// own returns a point as a point of the space of v. The error wraps ErrArgument.
func own(v *loop.View, p space.Point) (space.Point, error) {
	if p.Space() == v.Space {
		return p, nil
	}
	p, err := v.Space.PointOf(p.Map())
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	return p, nil
}

// Incumbent returns the trial that the study would recommend, which slices and maps pass through. It has the
// best observed value of a noise-free objective. Otherwise it has the best posterior mean among the complete
// trials that meet the outcome constraints with a probability of at least loop.Confident. If there is no such
// trial, it is the trial with the largest probability. The choice uses the best hyperparameters, as
// loop.Recommend does. It costs a prediction at the observations.
func Incumbent(v *loop.View) Reference {
	t := &v.Trials[incumbent(v)]
	mean, variance := predict(v, matrix([][]float64{v.Space.Encode(t.Point)}))
	return reference(v, t, mean[0], variance[0])
}

// reference describes a trial with the moments of the prediction at its point.
func reference(v *loop.View, t *loop.Trial, mean, variance float64) Reference {
	r := Reference{Trial: t.ID, Point: t.Point, Value: Number(t.Value), Prediction: band(v, mean, variance)}
	if n := len(v.Options.Require); n > 0 {
		likely := Number(probabilities(v, matrix([][]float64{v.Space.Encode(t.Point)}), n)[0])
		r.Feasible = &likely
	}
	return r
}

// incumbent returns the index among v.Trials of the trial of Incumbent. Trials outside the constraints count only if there are
// no others.
func incumbent(v *loop.View) int {
	if v.Options.NoiseFree {
		if best := v.Options.Best(v.Trials); best >= 0 {
			return best
		}
	}
	mean := make([]float64, len(v.Data.Y))
	surrogate.Means(v.Posterior, mean, v.Data.X)
	likely := make([]float64, len(v.Data.Y))
	constraints(v, len(v.Options.Require)).Feasibility(likely, v.Data.X)
	best := -1
	for i, row := range v.Rows {
		if v.Trials[row].State != loop.Complete {
			continue
		}
		if v.Trials[row].Outside {
			likely[i] = -1
		}
		if best < 0 || loop.Preferred(mean[i], likely[i], mean[best], likely[best]) {
			best = i
		}
	}
	return v.Rows[best]
}

// constraints returns the first n constraints of the problem.
func constraints(v *loop.View, n int) acquisition.Problem {
	return acquisition.Problem{Constraints: v.Problem.Constraints[:min(n, len(v.Problem.Constraints))]}
}

// probabilities returns the probability that the first n constraints of the problem hold at the rows
// of x, averaged over hyperparameters.
func probabilities(v *loop.View, x *mat.Dense, n int) []float64 {
	rows, _ := x.Dims()
	prob := make([]float64, rows)
	constraints(v, n).AveragedFeasibility(prob, x)
	return prob
}
