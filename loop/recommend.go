package loop

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Recommendation names two evaluated points: the point with the best observed
// value and the point with the best posterior mean. Under noise a best observed
// value is partly luck, and Model is the better choice. For a noise-free objective
// without Conflicts the two are equal. With Options.Require, Model is feasible with a probability of at
// least Confident; if no trial is, it is the trial with the largest probability. The choice uses the
// best hyperparameters, and the moments and probabilities of an Estimate are averaged over them
// (surrogate.Averaged): a probability can then be below Confident.
type Recommendation struct {
	Observed, Model Estimate
	// Fit describes the fit; nil for a noise-free objective, which needs none.
	Fit *Fit
}

// Estimate is a complete trial with the posterior mean and standard deviation of
// the latent objective at its point, in the user's units. If the values were log
// transformed, Mean and SD are as in Prediction. For a noise-free objective they
// are the mean of the values at the trial's point and its standard error, which is 0
// without Conflicts.
type Estimate struct {
	Trial    Trial
	Mean, SD float64
	// Feasible is the probability that the latent numbers at the point meet
	// Options.Require. For a noise-free objective it is 1 or 0.
	Feasible float64
}

// Recommend returns the trials of h to choose as the result of an optimisation. It
// is a function of its arguments alone, like Propose, and does not use h.Queue. It
// fits the surrogate model to all finished trials; a noise-free objective needs no
// fit. The errors wrap ErrOptions, ErrHistory, or ErrNoValue if no trial is
// complete; or they come from the surrogate model or the context. The fit reports
// progress as in Propose.
func Recommend(ctx context.Context, s *space.Space, o Options, h History) (Recommendation, error) {
	h.Queue = nil
	t, err := newTask(s, o, h)
	if err != nil {
		return Recommendation{}, err
	}
	if t.opts.Several() {
		return Recommendation{}, fmt.Errorf("%w: there are %d objectives, and no single trial is the best: use RecommendFront", ErrOptions, len(t.opts.Objectives))
	}
	first := t.opts.Best(t.trials)
	if first < 0 {
		return Recommendation{}, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	if t.opts.NoiseFree {
		return t.recommendExact(first), nil
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "recommend", t.next()))
	if err != nil {
		return Recommendation{}, err
	}
	low, observed := 0, 0
	for i, k := range f.trials {
		if t.preferred(f, i, low) {
			low = i
		}
		if k == first {
			observed = i
		}
	}
	return Recommendation{Fit: &f.facts, Observed: t.estimate(f, observed), Model: t.estimate(f, low)}, nil
}

// Confident is the least probability of feasibility of a recommended trial of a noisy objective, if any trial
// reaches it. A constrained optimum is often at a bound, where this probability is ½ (ADR 42).
const Confident = 0.9

// preferred reports whether complete trial i is a better recommendation than trial k.
func (t *task) preferred(f *fitted, i, k int) bool {
	if f.likely == nil {
		return f.mean[i] < f.mean[k]
	}
	return Preferred(f.mean[i], f.likely[i], f.mean[k], f.likely[k])
}

// Preferred reports whether a trial is a better recommendation than another one. It compares the posterior
// means of the targets, which are minimised, and the probabilities of feasibility. If both are feasible with a
// probability of at least Confident, or with equal probabilities, the lower mean is better, else the larger
// probability.
func Preferred(mean, likely, otherMean, otherLikely float64) bool {
	if likely == otherLikely || likely >= Confident && otherLikely >= Confident {
		return mean < otherMean
	}
	return likely > otherLikely
}

// shownFeasible returns the probabilities that the first n constraints are met at the rows of x, averaged over
// hyperparameters.
func (f *fitted) shownFeasible(x *mat.Dense, n int) []float64 {
	rows, _ := x.Dims()
	prob := make([]float64, rows)
	acquisition.Problem{Constraints: f.constraints[:n]}.AveragedFeasibility(prob, x)
	return prob
}

// estimate returns the estimate of the i-th complete trial, averaged over hyperparameters.
func (t *task) estimate(f *fitted, i int) Estimate {
	e := Estimate{Trial: t.trials[f.trials[i]].clone()}
	e.Mean, e.SD, e.Feasible = t.moments(f, f.x.RawRowView(i))
	return e
}

// moments returns the mean and standard deviation at u in the user's units and the probability of feasibility, averaged over
// hyperparameters.
func (t *task) moments(f *fitted, u []float64) (mean, sd, feasible float64) {
	x, m, v := mat.NewDense(1, t.space.Dim(), slices.Clone(u)), []float64{0}, []float64{0}
	surrogate.Averaged(f.Posterior).Predict(m, v, x)
	mean, sd = f.warp.user(m[0], sqrt(v[0]))
	if feasible = 1; f.likely != nil {
		feasible = f.shownFeasible(x, len(t.opts.Require))[0]
	}
	return t.opts.sign() * mean, sd, feasible
}

// Recommend is the function Recommend for the study's trials, with events. It
// leaves the study unchanged.
func (s *Study) Recommend(ctx context.Context) (Recommendation, error) {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	var seconds float64
	rec, err := Recommend(s.observed(ctx, h, &seconds), s.space, s.opts, h)
	s.emitFit(rec.Fit, seconds)
	return rec, err
}
