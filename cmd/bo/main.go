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
	// After the first signal the context ends and the second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
