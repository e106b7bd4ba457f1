package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/functionspace/bo/catalog"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFault       = 3 // bo check found a fault
	exitRefused     = 4 // the state of the study does not allow the verb
	exitInterrupted = 130
)

const about = `Bayesian optimisation: minimise an expensive function with few evaluations.

Examples:

    bo run --objective branin
    bo run --command 'python train.py --lr {lr}' --space space.yaml --budget 30
    bo predict --train runs.csv --at grid.csv

Results go to standard output, progress and messages to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bo check found a fault, 4 the study exists, has no trial to give or has another result of the trial, 130 interrupted.`

type cli struct {
	Run      runCmd      `cmd:"" help:"Minimise or maximise an objective."`
	Init     initCmd     `cmd:"" help:"Write a study file from an example command line."`
	Validate validateCmd `cmd:"" help:"Report every fault of a study file."`
	Schema   schemaCmd   `cmd:"" help:"Print the JSON Schema of study files."`
	Study    studyCmd    `cmd:"" help:"List, show, create, edit and delete stored studies, and predict."`
	Store    storeCmd    `cmd:"" help:"Show, upgrade and copy a store of studies."`
	Ask      askCmd      `cmd:"" help:"Issue trials of a study, to be evaluated by hand."`
	Tell     tellCmd     `cmd:"" help:"Record the result of a trial."`
	Fail     failCmd     `cmd:"" help:"Record that a trial failed."`
	Enqueue  enqueueCmd  `cmd:"" help:"Add a point to evaluate ahead of suggestions."`
	Import   importCmd   `cmd:"" help:"Add points that were evaluated elsewhere to a study."`
	Trials   trialsCmd   `cmd:"" help:"Print the trials of a study."`
	Best     bestCmd     `cmd:"" help:"Print the best trial of a study."`
	Check    checkCmd    `cmd:"" help:"Check whether the surrogate model agrees with the trials of a study."`
	Plot     plotCmd     `cmd:"" help:"Draw a study: history, slices, maps, importance, calibration and more."`
	Report   reportCmd   `cmd:"" help:"Write a report of a study to an HTML file, with pictures and tables."`
	Evaluate evaluateCmd `cmd:"" help:"Exchange the trials of a stored study and their results by pipes, for a program that evaluates them."`
	Suggest  suggestCmd  `cmd:"" help:"Answer requests for suggestions on standard input, without a store."`
	Serve    serveCmd    `cmd:"" help:"Serve the studies of a store over HTTP: gRPC, and JSON for curl."`
	Worker   workerCmd   `cmd:"" help:"Evaluate trials of a study of bo serve by a program."`
	Token    tokenCmd    `cmd:"" help:"Make, list and remove the tokens of bo serve."`
	Predict  predictCmd  `cmd:"" help:"Fit a surrogate model to a table and predict at the rows of another table."`
	Score    scoreCmd    `cmd:"" help:"Fit a surrogate model to a table and score its predictions on held-out data."`
	List     listCmd     `cmd:"" help:"List objectives, surrogate models, acquisition functions or kernels."`
	Describe describeCmd `cmd:"" help:"Show the settings of a surrogate model or an acquisition function, or the definition of an objective or a kernel."`
	Bench    benchCmd    `cmd:"" help:"Compare methods on suites of problems."`
	Info     versionCmd  `cmd:"" name:"version" help:"Show the version."`

	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`

	Version versionFlag `help:"Show the version."`
}

// env holds the context and the streams of a command.
type env struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
}

// usageError is a fault of the command line. Its exit code is exitUsage.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// refusal is an error of a right command line that the state of the study does not allow. Its exit code is
// exitRefused.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// errInterrupted ends a command that has printed its partial result.
var errInterrupted = errors.New("interrupted")

// run executes a command line and returns its exit code. Results go to stdout,
// everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			code = report(stderr, internalError(fault))
		}
	}()
	var grammar cli
	exited := false
	e := &env{ctx, stdin, stdout, stderr}
	parser := kong.Must(&grammar,
		kong.Name("bo"),
		kong.Description(about),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 96}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "what", Title: "Objective:"},
			{Key: "how", Title: "Search:"},
			{Key: "end", Title: "End of the run:"},
			{Key: "program", Title: "Program:"},
			{Key: "store", Title: "Store:"},
			{Key: "service", Title: "Service:"},
			{Key: "limit", Title: "Limits:"},
			{Key: "result", Title: "Output:"},
			{Key: "data", Title: "Data:"},
			{Key: "model", Title: "Model:"},
		}),
		kong.Bind(e),
		kong.PostBuild(describeOptions),
	)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == completeWord {
		return report(stderr, printCandidates(stdout, parser.Model.Node, args[1:]))
	}
	args, err := checkLine(parser.Model.Node, args)
	if err != nil {
		return report(stderr, usageError{err})
	}
	parsed, err := parser.Parse(args)
	switch {
	case exited: // --help and --version have printed
		return exitDone
	case err != nil:
		return report(stderr, usageError{err})
	}
	return report(stderr, parsed.Run())
}

// patience is the time that work has to return after an interrupt. Some work, such as the
// factorisation of a large matrix, cannot be stopped. The time includes one second for
// programs that keep their output open.
const patience = 1500 * time.Millisecond

// heed runs work and returns its error. If work does not return within patience of the end
// of ctx, heed returns the error of ctx, and work continues in its goroutine.
func heed(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				done <- internalError(fault)
			}
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return ctx.Err()
	}
}

func internalError(fault any) error { return fmt.Errorf("internal error, please report it: %v", fault) }

// report writes err as one line and returns the exit code for it.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, errPrinted), errors.Is(err, errFault): // printed already
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "bo: interrupted")
	default:
		fmt.Fprintf(stderr, "bo: %s\n", oneLine(err.Error()))
	}
	var usage usageError
	var refused refusal
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errFault):
		return exitFault
	case errors.As(err, &usage), errors.Is(err, catalog.ErrUnknown), errors.Is(err, catalog.ErrSetting):
		return exitUsage
	case errors.As(err, &refused):
		return exitRefused
	}
	return exitFailed
}

// oneLine joins the lines of a message, drops the prefix of package loop, and escapes control characters.
func oneLine(text string) string { return joinedLines(strings.ReplaceAll(text, "loop: ", "")) }

// joinedLines writes a text of users on one line.
func joinedLines(text string) string {
	return printable(strings.NewReplacer("\r\n", "; ", "\n", "; ").Replace(strings.TrimSpace(text)))
}

// printable escapes control characters as Go does, such as \x1b: a terminal would obey them.
func printable(text string) string { return escaped(text, unicode.IsControl) }

// escaped escapes the characters for which special is true, and replaces bytes that are not UTF-8.
func escaped(text string, special func(rune) bool) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, special) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if special(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// copyPrintable copies lines of text, with control characters other than tabs escaped.
func copyPrintable(w io.Writer, r io.Reader) error {
	special := func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if _, failed := io.WriteString(w, escaped(strings.Replace(line, "\r\n", "\n", 1), special)); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
