package loop

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// Settings are the point with given values that has the other values of a complete trial, with the posterior mean and
// standard deviation and the probability of feasibility there, as in Estimate.
type Settings struct {
	Point    space.Point
	Trial    Trial
	Mean, SD float64
	Feasible float64
}

// RecommendGiven returns the settings to choose for the values of h.Given, such as the humidity of the day: among the
// complete trials, with the given values in place of their own, the point with the best posterior mean. It is selected as
// Recommend selects a trial. Points that violate a constraint are left out. A noise-free objective is fitted too. The errors are
// those of Recommend; ErrHistory reports invalid values, and ErrNoValue that no point is left.
func RecommendGiven(ctx context.Context, s *space.Space, o Options, h History) (Settings, error) {
	h.Queue = nil
	t, err := checkedTask(s, o, h)
	if err != nil {
		return Settings{}, err
	}
	if t.opts.Several() {
		return Settings{}, fmt.Errorf("%w: there are %d objectives, and no single settings are the best", ErrOptions, len(t.opts.Objectives))
	}
	if t.domain, err = slice(s, h.Given); err != nil {
		return Settings{}, fmt.Errorf("%w: given values: %w", ErrHistory, err)
	}
	t.encode()
	if t.count(Complete) == 0 {
		return Settings{}, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "recommend", t.next()))
	if err != nil {
		return Settings{}, err
	}
	x, n := mat.DenseCopyOf(f.x), len(f.trials)
	for i := range n {
		t.domain.Project(x.RawRowView(i))
	}
	mean, variance, likely := make([]float64, n), make([]float64, n), make([]float64, n)
	f.Predict(mean, variance, x)
	acquisition.Problem{Constraints: f.constraints}.Feasibility(likely, x)
	best := -1
	for i := range n {
		if t.domain.Feasible(x.RawRowView(i)) && (best < 0 || Preferred(mean[i], likely[i], mean[best], likely[best])) {
			best = i
		}
	}
	if best < 0 {
		return Settings{}, fmt.Errorf("%w: no complete trial meets the constraints at the given values", ErrNoValue)
	}
	out := Settings{Point: t.domain.Decode(x.RawRowView(best)), Trial: t.trials[f.trials[best]].clone()}
	out.Mean, out.SD, out.Feasible = t.moments(f, x.RawRowView(best))
	return out, nil
}
