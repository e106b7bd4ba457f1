package loop

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// ErrStopped reports that a trial is stopped early: its evaluation should return. An objective with a rule of
// its own reports its steps and returns an error that wraps ErrStopped. Run then stops the trial as Study.Stop
// does. Without steps the trial has failed.
var ErrStopped = errors.New("the trial is stopped")

type reporterKey struct{}

// WithReporter returns a context whose steps Report and ReportSteps pass to report. Run calls it.
func WithReporter(ctx context.Context, report func(steps ...Step) error) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Report reports the value that the objective has at a step, such as an epoch. An objective
// calls it with its context and returns if the error is not nil:
//
//	for epoch := 1; epoch <= 100; epoch++ {
//		loss := train(epoch)
//		if err := loop.Report(ctx, float64(epoch), loss); err != nil {
//			return 0, err
//		}
//	}
//
// The error wraps ErrStopped if the rule of Options.Stop stops the trial. Without a reporter in
// ctx, Report does nothing.
func Report(ctx context.Context, step, value float64) error {
	return ReportSteps(ctx, Step{step, value})
}

// ReportSteps is Report for several steps, in their order.
func ReportSteps(ctx context.Context, steps ...Step) error {
	if report, ok := ctx.Value(reporterKey{}).(func(steps ...Step) error); ok {
		return report(steps...)
	}
	return nil
}

// LastStep returns the step with the largest number; the zero Step if there is none.
func LastStep(steps []Step) Step {
	if len(steps) == 0 {
		return Step{}
	}
	return slices.MaxFunc(steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
}
