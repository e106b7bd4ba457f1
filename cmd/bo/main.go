// Command bo minimises expensive functions, and fits and judges the surrogate
// models that it does so with. Run bo --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup asks for
		signals = append(signals, syscall.SIGHUP)
	}
	// After the first signal the context ends and the second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
