package surrogate

import "context"

// Progress is a report from long work: the phase it is in, and how much of the
// phase is done. Total is 0 where the end is not known.
type Progress struct {
	Phase       string
	Done, Total int
}

type progressKey struct{}

// WithProgress returns a context under which fits report their progress to f.
// Reports come from the goroutine that fits.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Report hands p to the function given to WithProgress, if any. Models call it
// a few times a second at most.
func Report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		f(p)
	}
}
