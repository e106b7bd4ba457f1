package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/functionspace/bo/surrogate"
)

// watch prints the elapsed time and the progress of a fit of n rows until stop is called: on
// a terminal as a live line, elsewhere every ten seconds. The fit reports to the context that
// watch returns.
func watch(ctx context.Context, out io.Writer, n int) (_ context.Context, stop func()) {
	var last atomic.Value
	last.Store(surrogate.Progress{})
	width := terminal(out)
	every := 10 * time.Second
	if width != nil {
		every = 100 * time.Millisecond
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		started, tick := time.Now(), time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				if width != nil {
					fmt.Fprint(out, "\r\x1b[K")
				}
				return
			case <-tick.C:
			}
			line := fmt.Sprintf("fit of %d rows   %s%s", n, duration(time.Since(started).Seconds()), detail(last.Load().(surrogate.Progress)))
			if width != nil {
				fmt.Fprintf(out, "\r%s\x1b[K", clip(line, width()-1))
			} else {
				fmt.Fprintln(out, line)
			}
		}
	}()
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) { last.Store(p) })
	return ctx, func() { close(quit); <-gone }
}
