// Command bo minimises expensive functions by Bayesian optimisation. It also fits and scores
// surrogate models. Run bo --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	// The first signal ends the context. The second signal kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
