// Command bo-katib is a suggestion service of Katib, the hyperparameter tuning of Kubeflow. It is a
// program of its own, because Katib limits a suggestion service to 100 MiB of memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/functionspace/bo/server/katib"
)

const usage = `usage: bo-katib [--listen HOST:PORT] [--log text|json] [--quiet]

Serves api.v1.beta1.Suggestion of Katib and grpc.health.v1.Health, as gRPC without TLS, until it is
interrupted. It has no state, reads no files and runs no programs.

`

// memory is the limit of the Go heap, below Katib's default limit of 100 MiB for a container.
const memory = 64 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command and returns its exit code: 0 after an interruption, 1 after a fault, 2 after a
// usage error.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bo-katib", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	listen := flags.String("listen", ":6789", "address of the service; port 0 selects a free one")
	form := flags.String("log", "text", "form of the log on standard error: text or json")
	quiet := flags.Bool("quiet", false, "log warnings and errors alone")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "bo-katib: unexpected argument %q\n", flags.Arg(0))
		return 2
	case *form != "text" && *form != "json":
		fmt.Fprintf(stderr, "bo-katib: --log is %q, want text or json\n", *form)
		return 2
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		fmt.Fprintln(stderr, "bo-katib:", err)
		return 1
	}
	fmt.Fprintf(stdout, "serving suggestions for Katib on %s\n", l.Addr())
	if err := katib.New(katib.Options{Log: logger(stderr, *form, *quiet)}).Serve(ctx, l); err != nil {
		fmt.Fprintln(stderr, "bo-katib:", err)
		return 1
	}
	return 0
}

func logger(w io.Writer, form string, quiet bool) *slog.Logger {
	o := &slog.HandlerOptions{}
	if quiet {
		o.Level = slog.LevelWarn
	}
	if form == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
