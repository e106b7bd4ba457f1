package runner

import (
	"context"
	"sync"
)

// Execute performs the runs, up to workers (at least one) at once. It calls done with
// each record, one at a time, in the order in which runs end. Records do not depend
// on workers, except for times.
//
// If ctx is cancelled, Execute drops unfinished runs and returns the error of the
// context. An error of done stops all runs and is returned. Execute then calls done no more: after a failed
// write, a further record would follow an incomplete line.
func Execute(ctx context.Context, runs []Run, workers int, done func(Record) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan Run)
	var mu sync.Mutex
	var fault error // of done; mu guards it
	var all sync.WaitGroup
	for range max(1, workers) {
		all.Go(func() {
			for run := range queue {
				rec, err := run.Do(ctx)
				if err != nil {
					continue
				}
				mu.Lock()
				if fault == nil {
					if fault = done(rec); fault != nil {
						stop(fault)
					}
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, run := range runs {
		select {
		case queue <- run:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	all.Wait()
	return context.Cause(ctx)
}
