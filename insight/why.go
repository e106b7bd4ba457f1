package insight

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Reasons explain why a point is evaluated next.
type Reasons struct {
	Point      space.Point `json:"point"`
	Prediction Band        `json:"prediction"` // of the latent objective, without pending trials
	Incumbent  Reference   `json:"incumbent"`
	// Improvement is the probability that the latent objective at the point is better than at the
	// incumbent. For a noise-free objective it is the probability of a value better than the
	// incumbent's.
	Improvement Number `json:"probability_of_improvement"`
	// Acquisition is the value of the acquisition function at the point.
	Acquisition Number `json:"acquisition"`
	// Nearest is the trial at the smallest Distance, the Euclidean distance in encoded
	// coordinates, each of which has length 1. Pending trials count.
	Nearest  int     `json:"nearest"`
	Distance float64 `json:"distance"`
	// Axes is the acquisition function along each parameter through the point.
	Axes []Slice `json:"axes"`
	// Text holds sentences for people.
	Text []string `json:"text"`
}

// Reference is the incumbent to which a point is compared.
type Reference struct {
	Trial      int         `json:"trial"`
	Point      space.Point `json:"point"`
	Value      Number      `json:"value"` // observed
	Prediction Band        `json:"prediction"`
}

// Why explains a point, such as the Point of a loop.Proposal. The points along each axis are
// the points of Slices with o, whose At and Average are not used. It costs a prediction and the
// slices. The error wraps ErrArgument, also for a point of another space.
func Why(v *loop.View, point space.Point, o SliceOptions) (*Reasons, error) {
	o.At, o.Average = point, 0
	axes, err := Slices(v, o)
	if err != nil {
		return nil, err
	}
	if point.Space() != v.Space {
		if point, err = v.Space.PointOf(point.Map()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrArgument, err)
		}
	}
	best := &v.Trials[incumbent(v)]
	u := matrix([][]float64{v.Space.Encode(point), v.Space.Encode(best.Point)})
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	v.Posterior.Joint(mean, cov, u)
	r := &Reasons{
		Point: point, Prediction: band(v, mean[0], cov.At(0, 0)), Axes: axes,
		Incumbent: Reference{best.ID, best.Point, Number(best.Value), band(v, mean[1], cov.At(1, 1))},
	}
	target, variance := mean[1], cov.At(0, 0)+cov.At(1, 1)-2*cov.At(0, 1)
	if v.Options.NoiseFree {
		target, variance = v.Units.Target(best.Value), cov.At(0, 0)
	}
	z := (target - mean[0]) / math.Sqrt(max(variance, math.SmallestNonzeroFloat64))
	r.Improvement = Number(0.5 * math.Erfc(-z/math.Sqrt2))
	r.Acquisition = acquisitions(v, mat.DenseCopyOf(u.Slice(0, 1, 0, v.Space.Dim())))[0]
	r.nearest(v, u.RawRowView(0))
	r.write(v)
	return r, nil
}

// Explain returns sentences that explain a point by the views of all objectives: the text of Why for one
// view; for several, the prediction of each objective and the nearest trial. It costs a prediction
// per view. The error wraps ErrArgument.
func Explain(views []*loop.View, point space.Point) ([]string, error) {
	var out []string
	for i, v := range views {
		r, err := Why(v, point, SliceOptions{Points: 2})
		if err != nil {
			return nil, err
		}
		if len(views) == 1 {
			return r.Text, nil
		}
		p := r.Prediction
		out = append(out, fmt.Sprintf("The predicted %s is %.4g, with a 95 %% interval from %.4g to %.4g.", v.Objective, p.Mean, p.P95.Low, p.P95.High))
		if i == len(views)-1 {
			out = append(out, r.nearestText())
		}
	}
	return out, nil
}

func (r *Reasons) nearestText() string {
	return fmt.Sprintf("The nearest trial is %d, at a distance of %.3g in encoded coordinates.", r.Nearest, r.Distance)
}

// nearest sets the trial nearest to the encoded point u, except a pending trial at u itself.
func (r *Reasons) nearest(v *loop.View, u []float64) {
	r.Distance = math.Inf(1)
	for i := range v.Trials {
		t := &v.Trials[i]
		var d float64
		for j, x := range v.Space.Encode(t.Point) {
			d += (x - u[j]) * (x - u[j])
		}
		if d = math.Sqrt(d); d < r.Distance && (d > 0 || t.State != loop.Pending) {
			r.Nearest, r.Distance = t.ID, d
		}
	}
}

// write sets Text.
func (r *Reasons) write(v *loop.View) {
	word := "below"
	if v.Options.Maximize {
		word = "above"
	}
	p, b := r.Prediction, r.Incumbent
	r.Text = append(r.Text,
		fmt.Sprintf("The predicted value is %.4g, with a 95 %% interval from %.4g to %.4g.", p.Mean, p.P95.Low, p.P95.High),
		fmt.Sprintf("The incumbent, trial %d, has the value %.4g and the predicted value %.4g.", b.Trial, b.Value, b.Prediction.Mean),
		fmt.Sprintf("The probability of a value %s the incumbent is %.0f %%.", word, 100*r.Improvement),
		r.nearestText(),
	)
	better := p.Mean < b.Prediction.Mean
	if v.Options.Maximize {
		better = p.Mean > b.Prediction.Mean
	}
	if better {
		r.Text = append(r.Text, "The point exploits: its predicted value is better than the incumbent's.")
	} else {
		r.Text = append(r.Text, "The point explores: its predicted value is not better than the incumbent's, but uncertain.")
	}
}
