package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// maxWarnings is the largest number of warnings in a record.
const maxWarnings = 8

// noiseFree reports whether the method may treat the objective as noise-free.
func (r Run) noiseFree() bool {
	return r.Problem.objective(r.Seed).NoiseFree && !r.Problem.HideNoiseFree && !r.Method.hidden
}

// warp returns the transform of the method. Without one, a known prior turns the
// transform off, because it is a prior on the raw values.
func (r Run) warp() loop.Warp {
	if r.Method.warp == "" && r.Problem.Prior != nil {
		return loop.WarpNone
	}
	return r.Method.warp
}

// Do performs the run. The record holds a failure of the run, including a panic. The
// error reports cancellation.
func (r Run) Do(ctx context.Context) (Record, error) {
	if r.Table != nil {
		r.Table = r.Table.ready()
		_, dim := r.Table.X.Dims()
		return r.timed(ctx, Record{Suite: r.Suite, Problem: r.Table.Name, Method: r.Method.Name, Seed: r.Seed, As: r.Method.as, Dim: dim}, r.fit)
	}
	if r.Measure != nil {
		return r.timed(ctx, Record{Suite: r.Suite, Problem: r.Experiment, Method: r.Method.Name, Seed: r.Seed, As: r.Method.as}, r.experiment)
	}
	p := r.Problem
	observed := p.objective(r.Seed)
	rec := Record{
		Suite: r.Suite, Problem: observed.Name, Method: r.Method.Name, Seed: r.Seed, As: r.Method.as,
		Dim: observed.Dim(), Budget: p.Budget, Initial: p.Initial, Batch: p.Batch, NoiseFree: r.noiseFree(),
	}
	if !math.IsNaN(observed.Minimum) {
		rec.Minimum = &observed.Minimum
	}
	rec, err := r.timed(ctx, rec, r.evaluate)
	if err == nil && rec.Minimum != nil {
		for _, best := range rec.Best() {
			rec.Regret = append(rec.Regret, best-observed.Minimum)
		}
	}
	return rec, err
}

// timed runs work and adds error, time and date to the record.
func (r Run) timed(ctx context.Context, rec Record, work func(context.Context, *Record) error) (Record, error) {
	start := time.Now()
	err := work(ctx, &rec)
	if err == nil {
		err = rec.finite()
	}
	if err != nil {
		if ctx.Err() != nil {
			return rec, ctx.Err()
		}
		rec.Score, rec.Measures, rec.Prediction = nil, nil, nil
		rec.Error = err.Error()
	}
	rec.Elapsed = nanoseconds(time.Since(start).Seconds())
	rec.Date = time.Now().UTC().Format(time.RFC3339)
	return rec, nil
}

// evaluate spends the budget and records each evaluation.
func (r Run) evaluate(ctx context.Context, rec *Record) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	p := r.Problem
	observed := p.objective(r.Seed)
	c, err := r.Method.chooser(p.Prior...)
	if err != nil {
		return err
	}
	o := loop.Options{
		Surrogate: c.Surrogate, Acquisition: c.Acquisition, Maximizer: c.Maximizer,
		Initial: p.Initial, Batch: p.Batch, Seed: r.Seed, NoiseFree: r.noiseFree(),
		Warp: r.warp(), Local: r.Method.local,
	}
	evaluator := single(observed, rec)
	if observed.Outcomes != nil {
		o.Objectives, o.Require = goals(observed.Outcomes, r.noiseFree())
		evaluator = several(observed.Outcomes, rec)
	}
	study, err := loop.New(observed.Space, o)
	if err != nil {
		return err
	}
	if err := study.Enqueue(r.points(observed.Space)...); err != nil {
		return err
	}
	for done := 0; done < p.Budget; done = len(rec.Values) {
		n := p.Batch
		if done < p.Initial {
			n = p.Initial - done
		}
		trials, err := study.Ask(ctx, min(n, p.Budget-done))
		if err != nil {
			return err
		}
		for _, t := range trials {
			rec.Suggest = append(rec.Suggest, nanoseconds(t.SuggestSeconds))
			rec.warn(t.Warnings)
			if err := evaluator(study, t.ID, observed.Coordinates(t.Point)); err != nil {
				return err
			}
		}
	}
	return nil
}

// single returns the function that evaluates a point, records the result and passes it to a
// study.
func single(o benchmarks.Objective, rec *Record) func(study *loop.Study, id int, x []float64) error {
	return func(study *loop.Study, id int, x []float64) error {
		value := o.Func(x)
		rec.Values = append(rec.Values, value)
		if o.Latent != nil {
			rec.Latent = append(rec.Latent, o.Latent(x))
		}
		return tell(study, id, value)
	}
}

func tell(study *loop.Study, id int, value float64) error {
	if math.IsNaN(value) || math.Abs(value) > loop.MaxValue {
		return study.Fail(id, fmt.Sprintf("value %v", value))
	}
	return study.Tell(id, value)
}

func (rec *Record) warn(warnings []string) {
	if len(warnings) > 0 {
		rec.Warned++
	}
	for _, w := range warnings {
		if len(rec.Warnings) < maxWarnings && !slices.Contains(rec.Warnings, w) {
			rec.Warnings = append(rec.Warnings, w)
		}
	}
}

// nanoseconds rounds to whole nanoseconds.
func nanoseconds(seconds float64) float64 { return math.Round(1e9*seconds) / 1e9 }

// points returns the points that do not depend on values: the initial points, which
// all methods share, and all other points of a design.
func (r Run) points(s *space.Space) []space.Point {
	d, name := s.Dim(), r.Problem.Name()
	n := r.Problem.Initial
	if r.Method.base == Sobol {
		n = r.Problem.Budget
	}
	u := space.Sobol(n, d, random.New(r.Seed, "initial points of "+name, 0))
	points := make([]space.Point, 0, r.Problem.Budget)
	for i := range n {
		points = append(points, s.Decode(u.RawRowView(i)))
	}
	if left := r.Problem.Budget - n; r.Method.base == Random && left > 0 {
		v := space.Uniform(left, d, random.New(r.Seed, "random search of "+name, 0))
		for i := range left {
			points = append(points, s.Decode(v.RawRowView(i)))
		}
	}
	return points
}
