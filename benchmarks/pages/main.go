// Command pages makes the documents of this repository about benchmarks: pages,
// tables and plots from stored results, and pictures of posteriors. Run it at the
// root of the repository:
//
//	go run ./benchmarks/pages --help
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

type commands struct {
	Suites      suitesCmd      `cmd:"" help:"Write docs/benchmarks.md, its tables and its plots."`
	Results     resultsCmd     `cmd:"" help:"Print the Markdown report of the results in a directory and write its plots."`
	Features    featuresCmd    `cmd:"" help:"Print a table of features of the loop beside the loop without them, from stored results."`
	Refresh     refreshCmd     `cmd:"" help:"Make the generated blocks of documents again, from stored results."`
	Posteriors  posteriorsCmd  `cmd:"" help:"Draw the posterior of every surrogate beside the exact process and measure the distance."`
	Settings    settingsCmd    `cmd:"" help:"Measure the distance of surrogates with changed settings from the exact process and print the tables."`
	Performance performanceCmd `cmd:"" help:"Measure the speed of the library and write docs/performance.md."`
	Study       studyCmd       `cmd:"" help:"Run a study of context points or eigenvalues and print its table."`
}

// env holds the context and the outputs of a command.
type env struct {
	ctx            context.Context
	stdout, stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "pages: %v\n", err)
		os.Exit(1)
	}
}

// errExit ends a command that only printed its help.
var errExit = errors.New("exit")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	defer func() {
		if fault := recover(); fault == errExit {
			err = nil
		} else if fault != nil {
			panic(fault)
		}
	}()
	parser := kong.Must(&commands{},
		kong.Name("pages"),
		kong.Description("Make the documents of this repository about benchmarks. Run it at the root of the repository."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { panic(errExit) }),
	)
	parsed, err := parser.Parse(args)
	if err != nil {
		return err
	}
	return parsed.Run(&env{ctx, stdout, stderr})
}
