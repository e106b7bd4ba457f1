package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/functionspace/bo/surrogate"
)

// watch tells on out how long a fit of n rows has been going on, and what it
// reports under the context that watch returns: on a terminal by a live line,
// elsewhere by a line every ten seconds. The function returned ends it.
func watch(ctx context.Context, out io.Writer, n int) (context.Context, func()) {
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
