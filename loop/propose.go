package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// History is the state of an optimisation from which Propose computes the next
// points. Propose and Recommend read it and leave it unchanged.
type History struct {
	// Trials are all trials in ascending order of ID. Only ID, Point, State, Value and Numbers of each are
	// used, and Steps if trials were stopped. Source is used for the next points of the initial design: a trial
	// of the Design at another point than the design has stands for a point of it.
	Trials []Trial
	// Queue holds points to propose ahead of the initial design and of
	// suggestions, in this order.
	Queue []space.Point
	// Given are values that the points of Propose and RecommendGiven have, by parameter. Points of Queue and of Options.First
	// with other values are not proposed. Other functions do not use it.
	Given map[string]any
	// Warm is Proposals.Warm of an earlier call with the same options; nil starts
	// the fit afresh. Its content is private to the surrogate model.
	Warm surrogate.State
}

// Proposal is a point to evaluate next.
type Proposal struct {
	Point  space.Point
	Source Source // First, Enqueued, Design or Suggested
	Local  bool   // suggested by the local model (LocalAuto)
	// Prediction is the surrogate model's prediction at Point; nil unless Suggested.
	Prediction *Prediction
	// Warnings report how the fit or the choice of Point was degraded.
	Warnings []string
}

// Proposals is the result of Propose.
type Proposals struct {
	Points []Proposal
	// Warm is the History.Warm of the next call: the state of this call's fit, or
	// the given one if there was no fit with a finite state. It survives a round
	// trip through JSON.
	Warm surrogate.State
	// Fit describes the fit; nil if enqueued points and the design were enough, or
	// if the fit failed.
	Fit *Fit
}

// Fit describes a surrogate model fitted to the finished trials.
type Fit struct {
	Observations int               // trials in the fit: complete, failed and, of one objective, stopped ones
	Hypers       []surrogate.Hyper // hyperparameters, in the surrogate model's units
	Warped       bool              // the values were log transformed (Options.Warp)
	// Selection is the selection by a surrogate model that selects another; else nil.
	Selection *surrogate.Selection
	Warnings  []string
}

// Propose returns n points to evaluate next, with the values of History.Given. It returns fewer if the objective is
// noise-free and a finite space has fewer points without a trial. If all its points have one,
// the points of lost trials are proposed again. The points come from four sources, in this order:
//
//   - Options.First, without points that have a trial;
//   - h.Queue, for a noise-free objective without points that have a trial;
//   - the initial design, while there are fewer than Options.Initial trials, or no trial
//     has a value, or all values are equal (see Options.Initial);
//   - suggestions of the acquisition function, for which pending trials and earlier
//     points of the same call are pending.
//
// Propose does not use the fields Batch, Budget, Workers and OnEvent of o.
//
// The result is a function of the arguments alone: Propose has no state, reads no clock
// and draws its random numbers from streams of (Options.Seed, purpose, ID of the last
// trial plus one). GOMAXPROCS does not change it. It may differ between versions of
// this module and between processors.
//
// The errors wrap ErrOptions, ErrHistory, or ErrExhausted if there is no point left; or
// they come from the surrogate model, or from the context within a second after its
// cancellation. If the fit fails numerically, the points come
// from the design and carry a warning. Such a failure is an error that wraps
// surrogate.ErrNotPositiveDefinite, or a posterior mean or variance that is not finite.
//
// A suggestion costs a fit, for a Gaussian process O(k³) with k finished trials, and a
// maximisation of the acquisition function. A suggestion of a local model (LocalAuto) also costs a
// fit to at most 200 trials. Other points cost O(k).
//
// Progress goes to the function given to surrogate.WithProgress. The phase "surrogate"
// is 0 of 1 done when the fit begins and 1 of 1 when it ends. The phase "acquisition"
// counts suggestions. A fit reports phases of its own.
func Propose(ctx context.Context, s *space.Space, o Options, h History, n int) (Proposals, error) {
	if err := checkCount("points to propose", n); err != nil {
		return Proposals{}, err
	}
	t, err := checkedTask(s, o, h)
	if err != nil {
		return Proposals{}, err
	}
	if t.domain, err = slice(s, h.Given); err != nil {
		return Proposals{}, fmt.Errorf("%w: given values: %w", ErrHistory, err)
	}
	t.size = t.domain.Count()
	return t.proposeFrom(ctx, nil, n)
}

// proposeFrom is propose with the errors of Propose.
func (t *task) proposeFrom(ctx context.Context, f *fitted, n int) (Proposals, error) {
	if err := ctx.Err(); err != nil {
		return Proposals{}, err
	}
	if err := t.space.CheckGiven(t.domain.Given()); err != nil {
		return Proposals{}, fmt.Errorf("%w: given values: %w", ErrHistory, err)
	}
	out, err := t.propose(ctx, f, n)
	if err != nil {
		return Proposals{}, err
	}
	if len(out.Points) == 0 {
		return Proposals{}, fmt.Errorf("%w: %d trials", ErrExhausted, len(t.trials))
	}
	return out, nil
}

// MaxPoints is the largest number of points of Propose and of trials of Ask.
const MaxPoints = 10_000

func checkCount(what string, n int) error {
	if n < 1 || n > MaxPoints {
		return fmt.Errorf("%w: %d %s, want 1 to %d", ErrOptions, n, what, MaxPoints)
	}
	return nil
}

// propose returns the n points of Propose, or fewer. f is the fit to the trials of t; nil computes it if
// it is needed.
func (t *task) propose(ctx context.Context, f *fitted, n int) (Proposals, error) {
	seen := t.seen()
	if t.opts.NoiseFree && t.unseen(seen) <= 0 { // only points of lost trials are left
		t = t.retrying()
		seen = t.seen()
	}
	out := Proposals{Points: t.ahead(n, seen), Warm: t.warm}
	n -= len(out.Points)
	if t.opts.NoiseFree {
		n = min(n, t.unseen(seen))
	}
	byDesign := t.opts.Initial - len(t.trials) - len(out.Points)
	flat := t.flat()
	if flat || t.count(Complete) == 0 {
		byDesign = n
	}
	if byDesign = min(n, byDesign); byDesign > 0 {
		points, err := t.designed(ctx, byDesign, seen)
		if err != nil {
			return Proposals{}, err
		}
		for _, p := range points {
			var warnings []string
			if flat && len(t.trials)+len(out.Points) >= t.opts.Initial {
				warnings = []string{flatWarning}
			}
			out.Points = append(out.Points, Proposal{Point: p, Source: Design, Warnings: warnings})
		}
		n -= byDesign
	}
	if n <= 0 {
		return out, nil
	}
	f, suggested, err := t.suggest(ctx, f, out.Points, n, seen)
	if f != nil {
		out.Fit = &f.facts
	}
	switch {
	case ctx.Err() != nil:
		return Proposals{}, ctx.Err()
	case errors.Is(err, surrogate.ErrNotPositiveDefinite), errors.Is(err, errPosterior):
		points, ctxErr := t.designed(ctx, n, seen)
		if ctxErr != nil {
			return Proposals{}, ctxErr
		}
		for _, p := range points {
			suggested = append(suggested, Proposal{Point: p, Source: Design, Warnings: []string{"the fit failed, a point of the initial design is suggested: " + err.Error()}})
		}
	case err != nil:
		return Proposals{}, err
	case f.warm != nil:
		out.Warm = f.warm
	}
	out.Points = append(out.Points, suggested...)
	return out, nil
}

// ahead returns at most n points of Options.First that are not in seen, which it adds to seen, and then of the queue. The
// points have the given values.
func (t *task) ahead(n int, seen map[string]bool) []Proposal {
	var out []Proposal
	for _, p := range t.first {
		if key := p.Key(); !seen[key] && len(out) < n && t.domain.Contains(p) {
			seen[key] = true
			out = append(out, Proposal{Point: p, Source: First})
		}
	}
	for _, p := range t.queue {
		if len(out) < n && t.domain.Contains(p) {
			out = append(out, Proposal{Point: p, Source: Enqueued})
		}
	}
	return out
}

// designed returns the next k points of the design. If the design finds fewer, the points of a noisy objective repeat.
func (t *task) designed(ctx context.Context, k int, seen map[string]bool) ([]space.Point, error) {
	points, err := t.design(ctx, k, t.next(), seen)
	if err != nil || t.opts.NoiseFree {
		return points, err
	}
	return t.repeat(ctx, points, k, t.next())
}

const flatWarning = "all values are equal: further points of the initial design are spread over the space"

// flat reports whether at least two trials are complete and all have equal values of each objective, up to
// rounding errors. A surrogate model would then predict one value everywhere with near certainty, and its
// suggestions would lie in the corners. It is false with outcome constraints or a prior mean: these inform about the
// next point. Failed trials inform about it too, but would leave no trial between the corners.
func (t *task) flat() bool {
	if len(t.opts.Require) > 0 || !t.opts.PriorMean.isZero() {
		return false
	}
	if !t.opts.Several() {
		return equalValues(t.trials, func(trial *Trial) float64 { return trial.Value })
	}
	for _, g := range t.opts.Objectives {
		if !equalValues(t.trials, func(trial *Trial) float64 { return trial.Numbers[g.Name] }) {
			return false
		}
	}
	return true
}

// equalValues reports whether at least two trials are complete and their values differ by rounding errors alone.
func equalValues(trials []Trial, value func(*Trial) float64) bool {
	var first *Trial
	n := 0
	for i := range trials {
		t := &trials[i]
		switch {
		case t.State != Complete:
			continue
		case first == nil:
			first = t
		case !equal(value(t), value(first)):
			return false
		}
		n++
	}
	return n > 1
}

// suggest returns n points that the acquisition function chooses, with the fit f, which it computes if f is nil;
// chosen are points of the same call, which count as pending.
func (t *task) suggest(ctx context.Context, f *fitted, chosen []Proposal, n int, seen map[string]bool) (*fitted, []Proposal, error) {
	t.encode()
	if t.scalarizes() {
		return t.suggestScalarized(ctx, chosen, n, seen)
	}
	if f == nil {
		var err error
		if f, err = t.fit(ctx, random.New(t.opts.Seed, "fit", t.next())); err != nil {
			return nil, nil, err
		}
	}
	t = t.selected(f)
	pending := t.with(chosen)
	for _, c := range chosen {
		seen[c.Point.Key()] = true
	}
	found, err := t.candidates(ctx, f, pending, n)
	if err != nil {
		return f, nil, err
	}
	out := make([]Proposal, 0, len(found))
	for i, c := range found {
		q := Proposal{Point: t.domain.Decode(c.X), Source: Suggested, Local: c.fit != f, Warnings: slices.Concat(f.facts.Warnings, c.Warnings)}
		mean, sd := c.fit.warp.user(c.Mean, c.SD)
		q.Prediction = &Prediction{
			Mean: t.opts.sign() * mean, SD: sd, Acquisition: c.Value, Interval: c.fit.warp.interval(c.Mean, c.SD, t.opts.sign()), Selection: f.facts.Selection,
		}
		if t.repeated(q.Point, seen) {
			other, err := t.design(ctx, 1, t.next()+i, seen)
			if err != nil {
				return f, nil, err
			}
			if len(other) == 0 { // no other point is found
				if t.opts.NoiseFree {
					continue
				}
				other = []space.Point{q.Point}
			}
			q.Point = other[0]
			q.Source, q.Local, q.Prediction = Design, false, nil
			q.Warnings = append(q.Warnings, "the suggestion repeats a trial, a point of the initial design is used: the search may have converged")
		}
		seen[q.Point.Key()] = true
		out = append(out, q)
	}
	return f, out, nil
}

// repeated reports whether p repeats a trial needlessly: other points are left,
// and the space is finite or the objective noise-free.
func (t *task) repeated(p space.Point, seen map[string]bool) bool {
	if !seen[p.Key()] || t.unseen(seen) <= 0 {
		return false
	}
	_, finite := t.domain.Size()
	return finite || t.opts.NoiseFree
}
