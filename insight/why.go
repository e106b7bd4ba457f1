package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Reasons explain why a point is evaluated next.
type Reasons struct {
	Point      space.Point `json:"point"`
	Prediction Band        `json:"prediction"` // of the latent objective, without pending trials
	Measured   Band        `json:"measured"`   // of a measurement: Prediction with the fitted noise
	Incumbent  Reference   `json:"incumbent"`
	// Improvement is the probability that the latent objective at the point is better than at the
	// incumbent. For a noise-free objective it is the probability of a value better than the
	// incumbent's.
	Improvement Number `json:"probability_of_improvement"`
	// Requirements are the outcome constraints with the probabilities that they hold at the point.
	Requirements []Probability `json:"requirements,omitempty"`
	// Failure is the probability that the trial fails; null if no trial has failed, or without a model of
	// failures.
	Failure Number `json:"probability_of_failure"`
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

// Probability is the probability that an outcome constraint holds.
type Probability struct {
	Requirement string `json:"requirement"` // such as latency <= 20
	Probability Number `json:"probability"`
}

// Reference is the incumbent to which a point is compared.
type Reference struct {
	Trial      int         `json:"trial"`
	Point      space.Point `json:"point"`
	Value      Number      `json:"value"` // observed
	Prediction Band        `json:"prediction"`
	// Feasible is the probability that the outcome constraints are met; nil without them.
	Feasible *Number `json:"feasible,omitempty"`
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
	if point, err = own(v, point); err != nil {
		return nil, err
	}
	best := &v.Trials[incumbent(v)]
	u := matrix([][]float64{v.Space.Encode(point), v.Space.Encode(best.Point)})
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	averaged := surrogate.Averaged(v.Posterior)
	averaged.Joint(mean, cov, u)
	r := &Reasons{
		Point: point, Prediction: band(v, mean[0], cov.At(0, 0)), Axes: axes,
		Measured:  band(v, mean[0], cov.At(0, 0)+averaged.Noise()),
		Incumbent: reference(v, best, mean[1], cov.At(1, 1)),
	}
	target, variance := mean[1], cov.At(0, 0)+cov.At(1, 1)-2*cov.At(0, 1)
	if v.Options.NoiseFree {
		target, variance = v.Units.Target(best.Value), cov.At(0, 0)
	}
	z := (target - mean[0]) / math.Sqrt(max(variance, math.SmallestNonzeroFloat64))
	r.Improvement = Number(0.5 * math.Erfc(-z/math.Sqrt2))
	r.Acquisition = acquisitions(v, mat.DenseCopyOf(u.Slice(0, 1, 0, v.Space.Dim())))[0]
	r.feasible(v, mat.DenseCopyOf(u.Slice(0, 1, 0, v.Space.Dim())))
	r.nearest(v, u.RawRowView(0))
	r.write(v)
	return r, nil
}

// feasible sets the probabilities of the outcome constraints and of a failure at the row of u, averaged over
// hyperparameters.
func (r *Reasons) feasible(v *loop.View, u *mat.Dense) {
	holds := func(c acquisition.Constraint) float64 {
		p := make([]float64, 1)
		(acquisition.Problem{Constraints: []acquisition.Constraint{c}}).AveragedFeasibility(p, u)
		return p[0]
	}
	for i, require := range v.Options.Require {
		r.Requirements = append(r.Requirements, Probability{require.String(), Number(holds(v.Problem.Constraints[i]))})
	}
	r.Failure = Number(math.NaN())
	if v.Success != nil {
		r.Failure = Number(1 - holds(*v.Success))
	}
}

// Explain returns sentences that explain a point by the views of all objectives and outcome constraints: the text
// of Why for one objective; for several, the prediction of each, the probabilities of Reasons and the
// nearest trial. A view of an outcome constraint adds the prediction of its number. Explain costs a prediction per
// view. The error wraps ErrArgument.
func Explain(views []*loop.View, point space.Point) ([]string, error) {
	var out, numbers []string
	var last *Reasons
	objectives := 0
	for _, v := range views {
		r, err := Why(v, point, SliceOptions{Points: 2})
		if err != nil {
			return nil, err
		}
		if v.Requirement != nil {
			numbers = append(numbers, r.predictionText(v))
			continue
		}
		objectives++
		last = r
		out = append(out, r.predictionText(v))
	}
	if objectives == 1 {
		return slices.Concat(last.Text[:1], numbers, last.Text[1:]), nil
	}
	out = append(out, numbers...)
	if last != nil {
		out = append(append(out, last.feasibleText()...), last.nearestText())
	}
	return out, nil
}

// SourceReason returns a sentence about a point that no surrogate model suggested, and none for others.
func SourceReason(source loop.Source) []string {
	switch source {
	case loop.Design:
		return []string{"It is a point of the initial design."}
	case loop.First:
		return []string{"It is a point to try first, from the definition of the study."}
	case loop.Enqueued:
		return []string{"It was enqueued."}
	case loop.Added:
		return []string{"It was evaluated elsewhere and added to the study."}
	}
	return nil
}

// predictionText describes the prediction of an objective or of the number of an outcome constraint.
func (r *Reasons) predictionText(v *loop.View) string {
	interval := func(b Band) []string {
		return figures.Distinct(4, float64(b.Mean), float64(b.P95.Low), float64(b.P95.High))
	}
	n := interval(r.Prediction)
	if Scaleless(v) {
		return fmt.Sprintf("The predicted %s is %s. An interval needs two different values.", cmp.Or(v.Objective, "value"), n[0])
	}
	text := fmt.Sprintf("The predicted %s is %s, with a 95 %% interval from %s to %s", cmp.Or(v.Objective, "value"), n[0], n[1], n[2])
	if v.Data.NoiseFree {
		return text + "."
	}
	m := interval(r.Measured)
	return text + fmt.Sprintf(" without noise, and from %s to %s for a measurement.", m[1], m[2])
}

// feasibleText describes the probabilities.
func (r *Reasons) feasibleText() []string {
	var out []string
	for _, p := range r.Requirements {
		out = append(out, fmt.Sprintf("The probability of %s is %s.", p.Requirement, percent(float64(p.Probability))))
	}
	if p := float64(r.Failure); !math.IsNaN(p) {
		out = append(out, fmt.Sprintf("The probability of a failed trial is %s.", percent(p)))
	}
	return out
}

func (r *Reasons) nearestText() string {
	return fmt.Sprintf("The nearest trial is %d, at a distance of %.3g in encoded coordinates.", r.Nearest, r.Distance)
}

// percent writes a probability under a normal distribution, which is never 0 or 1.
func percent(p float64) string {
	switch {
	case p < 0.01:
		return "below 1 %"
	case p > 0.99:
		return "above 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
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
	unnoisy := ", both without noise,"
	if v.Options.NoiseFree {
		unnoisy = ""
	}
	p, b := r.Prediction, r.Incumbent
	n := figures.Distinct(4, float64(b.Value), float64(b.Prediction.Mean), float64(p.Mean))
	r.Text = append(r.Text,
		r.predictionText(v),
		fmt.Sprintf("The incumbent, trial %d, has the value %s and the predicted value %s.", b.Trial, n[0], n[1]),
	)
	if !Scaleless(v) {
		r.Text = append(r.Text, fmt.Sprintf("The probability of a value %s the incumbent%s is %s.", word, unnoisy, percent(float64(r.Improvement))))
	}
	r.Text = append(append(r.Text, r.feasibleText()...), r.nearestText())
	better := p.Mean < b.Prediction.Mean
	if v.Options.Maximize {
		better = p.Mean > b.Prediction.Mean
	}
	switch complete, equal := equalValues(v); {
	case complete < 2 || equal: // the prediction is constant
	case better:
		r.Text = append(r.Text, "The point exploits: its predicted value is better than the incumbent's.")
	case p.SD > b.Prediction.SD:
		r.Text = append(r.Text, "The point explores: its predicted value is not better than the incumbent's, but less certain.")
	}
}
