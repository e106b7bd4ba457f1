package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// GivenEstimate is an estimate at a point with given values. Its other values come from the trial of the Estimate.
type GivenEstimate struct {
	Point space.Point
	Estimate
}

// ErrUntried reports that no complete trial gives a point with the given values.
var ErrUntried = errors.New("loop: no complete trial has all other parameters at the given values and meets the constraints")

// RecommendGiven returns the point to choose for the values of h.Given, such as the humidity of the day. The points are the
// complete trials, with the given values in place of their own. One with the best posterior mean is selected, as in Recommend.
// Points that violate a constraint are left out, and so are trials without a value of a parameter that the given values make
// active. A noise-free objective is fitted too. Errors are as in Recommend. ErrHistory reports invalid values, and ErrUntried
// that no point is left.
func RecommendGiven(ctx context.Context, s *space.Space, o Options, h History) (GivenEstimate, error) {
	h.Queue = nil
	t, err := checkedTask(s, o, h)
	if err != nil {
		return GivenEstimate{}, err
	}
	if t.opts.Several() {
		return GivenEstimate{}, fmt.Errorf("%w: there are %d objectives, and no single settings are the best", ErrOptions, len(t.opts.Objectives))
	}
	if t.domain, err = slice(s, h.Given); err != nil {
		return GivenEstimate{}, fmt.Errorf("%w: given values: %w", ErrHistory, err)
	}
	t.encode()
	if t.count(Complete) == 0 {
		return GivenEstimate{}, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "recommend", t.next()))
	if err != nil {
		return GivenEstimate{}, err
	}
	x, n := mat.DenseCopyOf(f.x), len(f.trials)
	for i := range n {
		t.domain.Project(x.RawRowView(i))
	}
	mean, variance, likely := make([]float64, n), make([]float64, n), make([]float64, n)
	f.Predict(mean, variance, x)
	acquisition.Problem{Constraints: f.constraints[:len(t.opts.Require)]}.Feasibility(likely, x)
	best := -1
	for i := range n {
		if t.tried(x.RawRowView(i), t.trials[f.trials[i]].Point, h.Given) && (best < 0 || Preferred(mean[i], likely[i], mean[best], likely[best])) {
			best = i
		}
	}
	if best < 0 {
		return GivenEstimate{}, ErrUntried
	}
	u := x.RawRowView(best)
	out := GivenEstimate{t.domain.Decode(u), Estimate{Trial: t.trials[f.trials[best]].clone()}}
	out.Mean, out.SD, out.Feasible = t.moments(f, u)
	return out, nil
}

// tried reports whether u is a point of the slice all of whose active parameters are given or have a value in the trial p.
func (t *task) tried(u []float64, p space.Point, given map[string]any) bool {
	if !t.domain.Feasible(u) {
		return false
	}
	at := t.domain.Decode(u)
	return !slices.ContainsFunc(t.space.Parameters(), func(q space.Parameter) bool {
		_, stated := given[q.Name]
		return at.Active(q.Name) && !stated && !p.Active(q.Name)
	})
}
