package performance

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Options configures Page. The working directory is the root of the repository.
type Options struct {
	Rounds int       // runs of each measurement, of which the fastest counts
	Before string    // commit to compare suggestions with, called in turn; "" is none
	Python string    // interpreter with BoTorch
	Only   string    // regular expression of the titles of sections to measure
	Log    io.Writer // progress
}

// section is a part of the page with one table.
type section struct {
	title, text string
	question    string // answered in the summary by the range of the column "ratio", "" for no answer
	command     string // repeats the table alone
	measure     func(ctx context.Context, o Options) ([][]string, error)
}

// Page measures and returns the page docs/performance.md. A section whose programs are absent says so in place
// of its table.
func Page(ctx context.Context, o Options) (string, error) {
	only, err := regexp.Compile(o.Only)
	if err != nil {
		return "", err
	}
	w, body := &document.Writer{Markdown: true}, &document.Writer{Markdown: true}
	summary := [][]string{{"question", "ratio"}}
	w.Line("# Performance\n")
	w.Line("How long suggestions take, and the operations in them. This command measures all numbers and writes the page:\n")
	w.Line("    %s\n", o.command())
	machine, commit := runner.ThisMachine(1), ""
	if _, commit = runner.Version(); commit == "" {
		commit = "unknown"
	}
	w.Line("Commit %s, %s, %d cores, %s, kernels %s, %s. A time is the fastest of the runs (%d) on a machine that", commit, machine.CPU, machine.Cores, machine.Go, kernels(), time.Now().UTC().Format(time.DateOnly), o.Rounds)
	w.Line("may do other work; compared programs run in turn. Ratios carry over to other machines better than times.")
	w.Line("`BO_KERNEL=avx2` or `BO_KERNEL=go` selects slower kernels. Results are identical to the last bit for any number")
	w.Line("of threads, and for AVX2 and AVX-512.")
	for _, s := range sections {
		if !only.MatchString(s.title) {
			continue
		}
		fmt.Fprintln(o.Log, s.title)
		body.Line("\n## %s\n\n%s\n", s.title, s.text)
		t, err := s.measure(ctx, o)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			body.Line("Not measured: %v.", err)
		default:
			body.Table(t)
			if r := span(t); s.question != "" && r != "" {
				summary = append(summary, []string{fmt.Sprintf("[%s](#%s)", s.question, anchor(s.title)), r})
			}
		}
		if s.command != "" {
			body.Line("\n    %s", s.command)
		}
	}
	if len(summary) > 1 {
		w.Line("")
		w.Table(summary)
	}
	return w.String() + body.String(), nil
}

// span returns the range of the column "ratio", or "" without such a column.
func span(t [][]string) string {
	column := slices.Index(t[0], "ratio")
	if column < 0 {
		return ""
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range t[1:] {
		if r, err := strconv.ParseFloat(row[column], 64); err == nil {
			lo, hi = min(lo, r), max(hi, r)
		}
	}
	if lo > hi {
		return ""
	}
	return fmt.Sprintf("%.2f to %.2f", lo, hi)
}

// anchor returns the address of a heading within its page.
func anchor(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

func (o Options) command() string {
	c := fmt.Sprintf("go run ./benchmarks/pages performance --rounds %d", o.Rounds)
	if core := os.Getenv("OPENBLAS_CORETYPE"); core != "" {
		c = "OPENBLAS_CORETYPE=" + core + " " + c
	}
	if o.Before != "" {
		c += " --before " + o.Before
	}
	return c + " --python PYTHON"
}

// kernels returns the kernel set, or its default.
func kernels() string {
	if k := os.Getenv("BO_KERNEL"); k != "" {
		return k
	}
	return "chosen at run time"
}

var sections = []section{
	{
		"Suggestions", `One suggestion is a fit with restarts and a maximisation of the acquisition function, with all defaults. The objective
is Levy's function of d inputs after a Sobol design of n points, declared exact. "Cold" is the first fit of a study, and
"warm" a later fit. "Before" is the commit in the command above.`,
		"A suggestion, in times of the earlier commit",
		"go test ./loop -run xxx -bench Suggestion -benchtime 1x", suggestions,
	},
	{
		"Acquisition under noise", "The whole suggestion with `logei` and with `lognei`, on the same data.",
		"A suggestion with `lognei`, in times with `logei`",
		"go test ./loop -run xxx -bench Noisy -benchtime 1x", gotest("./loop", "^BenchmarkNoisy$", (*results).pivot),
	},
	{
		"Batches", "One suggestion and 64 at once, with their fit, for an objective of six inputs that is declared exact or not.",
		"64 suggestions, in times of one",
		"go test ./loop -run xxx -bench Batch$ -benchtime 1x", gotest("./loop", "^BenchmarkBatch$", (*results).pivot),
	},
	{
		"Batches of several outcomes", "One suggestion of `gp` and 64 at once, with their fits, after 50 trials of six inputs: for two objectives, and for\none objective while no trial meets its constraint.",
		"The same for two objectives or before a feasible trial",
		"go test ./loop -run xxx -bench BatchOfOutcomes -benchtime 1x", gotest("./loop", "^BenchmarkBatchOfOutcomes$", (*results).pivot),
	},
	{
		"BoTorch", "A suggestion at 50 values of Levy's function of two inputs, beside BoTorch's `SingleTaskGP` (`benchmarks/peers`). BoTorch\nhas `LogExpectedImprovement` for exact and `qLogNoisyExpectedImprovement` for noisy values, and `optimize_acqf` with 10\nrestarts and 512 raw samples. The values are the same; they are declared exact, or not.",
		"A suggestion, in times of BoTorch",
		"go run ./benchmarks/pages performance --only BoTorch --python PYTHON",
		func(ctx context.Context, o Options) ([][]string, error) {
			return besideBoTorch(ctx, o.Python, o.Rounds)
		},
	},
	{
		"Products and factorisations", "GFLOP/s of `internal/dense` and of OpenBLAS, called in turn, and the ratio of the fastest calls and its median over\nrounds. Above 1, `internal/dense` is faster. If OpenBLAS does not recognise\nthe processor, `OPENBLAS_CORETYPE` selects its kernels.",
		"Speed of products and factorisations, in multiples of OpenBLAS", "cd internal/dense/bench && cc -O2 -o peer openblas/openblas.c -lopenblas -lm && go run . ./peer", besideOpenBLAS,
	},
	{
		"Pure Go beside gonum", "Nanoseconds with the build tag `noasm`, for which gonum has no assembly either, of 20 and 200 rows on one thread. The\nratio is the time of gonum divided by the time of `internal/dense`.",
		"", "cd internal/dense/bench/gonum && go run -tags noasm . -sizes 20,200",
		program("internal/dense/bench/gonum", 20, "go", "run", "-tags", "noasm", ".", "-sizes", "20,200"),
	},
	{
		"Eigenvectors beside gonum", "Nanoseconds for all eigenvectors on one thread.",
		"", "cd internal/dense/bench/gonum && go run . -only eigen -sizes 10,20,50,100,200",
		program("internal/dense/bench/gonum", 20, "go", "run", ".", "-only", "eigen", "-sizes", "10,20,50,100,200"),
	},
	{
		"Row spaces", "A row space replaces a thin singular value decomposition.",
		"", "go test ./internal/linalg -run xxx -bench RowSpace -benchtime 1x", gotest("./internal/linalg", "RowSpace", listed),
	},
	{
		"Elementary functions", "Per element, one core.",
		"", "go test ./internal/vecmath -run xxx -bench Functions", gotest("./internal/vecmath", "Functions", listed, "-test.benchtime=20ms"),
	},
	{
		"Kernel matrices", "Matérn-5/2 of six inputs, per pair of points.",
		"", "go test ./prior -run xxx -bench Matern52 -benchtime 1x", gotest("./prior", "Matern52", listed),
	},
	{
		"Networks", "Passes of a 10-50-50-1 tanh network at 500 points, with own products and with gonum's.",
		"", "go test ./internal/nn -run xxx -bench 500", gotest("./internal/nn", "500", listed, "-test.benchtime=20ms"),
	},
}

func listed(b *results) [][]string { return b.list(nil) }

// gotest returns the measurement of the benchmarks of a package.
func gotest(pkg, pattern string, table func(*results) [][]string, flags ...string) func(context.Context, Options) ([][]string, error) {
	return func(ctx context.Context, o Options) ([][]string, error) {
		dir, err := os.MkdirTemp("", "performance")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		p, err := compile(ctx, ".", pkg, filepath.Join(dir, "now"))
		if err != nil {
			return nil, err
		}
		var b results
		for range o.Rounds {
			if err := p.run(ctx, &b, pattern, flags...); err != nil {
				return nil, err
			}
		}
		return table(&b), nil
	}
}

// suggestions measures this version and, in turn, the version o.Before.
func suggestions(ctx context.Context, o Options) ([][]string, error) {
	const pkg, pattern = "./loop", "^BenchmarkSuggestion$"
	dir, err := os.MkdirTemp("", "performance")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	now, err := compile(ctx, ".", pkg, filepath.Join(dir, "now"))
	if err != nil {
		return nil, err
	}
	var b, old results
	if o.Before == "" {
		for range o.Rounds {
			if err := now.run(ctx, &b, pattern); err != nil {
				return nil, err
			}
		}
		return b.list(nil), nil
	}
	tree := filepath.Join(dir, "tree")
	if _, err := output(ctx, ".", "git", "worktree", "add", "--detach", tree, o.Before); err != nil {
		return nil, err
	}
	defer func() {
		_, _ = output(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", tree)
	}()
	then, err := compile(ctx, tree, pkg, filepath.Join(dir, "then"))
	if err != nil {
		return nil, err
	}
	for range o.Rounds {
		if err := then.run(ctx, &old, pattern); err != nil {
			return nil, err
		}
		if err := now.run(ctx, &b, pattern); err != nil {
			return nil, err
		}
	}
	return b.list(&old), nil
}

// besideOpenBLAS measures package dense and OpenBLAS.
func besideOpenBLAS(ctx context.Context, o Options) ([][]string, error) {
	dir, err := os.MkdirTemp("", "performance")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	peer := filepath.Join(dir, "peer")
	const at = "internal/dense/bench"
	if _, err := output(ctx, at, "cc", "-O2", "-o", peer, "openblas/openblas.c", "-lopenblas", "-lm"); err != nil {
		return nil, err
	}
	threads := "1," + strconv.Itoa(runtime.GOMAXPROCS(0))
	return program(at, 22, "go", "run", ".", "-threads", threads, peer)(ctx, o)
}

// program returns the measurement of a program that prints a table in columns.
func program(dir string, width int, command ...string) func(context.Context, Options) ([][]string, error) {
	return func(ctx context.Context, o Options) ([][]string, error) {
		args := append([]string{}, command[1:]...)
		if i := len(args) - 1; strings.HasSuffix(args[i], "peer") { // flags come before arguments
			args = append(args[:i], "-rounds", strconv.Itoa(o.Rounds), args[i])
		} else {
			args = append(args, "-rounds", strconv.Itoa(o.Rounds))
		}
		text, err := output(ctx, dir, command[0], args...)
		if err != nil {
			return nil, err
		}
		return columns(text, width), nil
	}
}

// compiled is a test binary and the directory that it runs in.
type compiled struct{ path, dir string }

func compile(ctx context.Context, tree, pkg, path string) (compiled, error) {
	_, err := output(ctx, tree, "go", "test", "-c", "-o", path, pkg)
	return compiled{path, filepath.Join(tree, pkg)}, err
}

// run runs the benchmarks once and adds their times to b.
func (c compiled) run(ctx context.Context, b *results, pattern string, flags ...string) error {
	args := append([]string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=1x"}, flags...)
	text, err := output(ctx, c.dir, c.path, args...)
	b.add(text)
	return err
}

// output runs a program and returns its standard output.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, lastLine(stderr.String()))
	}
	return string(out), err
}
