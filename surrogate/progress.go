package surrogate

import "context"

// Progress is a progress report of a fit: the current phase, and the number of steps
// done. Total is 0 if the number of steps is unknown.
type Progress struct {
	Phase       string
	Done, Total int
}

type progressKey struct{}

// WithProgress returns a context with which fits report their progress to f. The
// goroutine of the fit calls f.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Report calls the function given to WithProgress, if any, with p. Models call it a
// few times a second at most.
func Report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		f(p)
	}
}
