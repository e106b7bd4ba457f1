package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// call runs a command line and returns its outputs and its error.
func call(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, messages bytes.Buffer
	err = run(t.Context(), args, &out, &messages)
	return out.String(), messages.String(), err
}

// results runs designs on a suite and returns the directory of the results.
func results(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "smoke")
	suite, err := runner.Lookup("smoke")
	require.NoError(t, err)
	plan, err := suite.Plan(runner.Selection{Methods: []string{"random", "sobol"}})
	require.NoError(t, err)
	store, err := runner.OpenStore(dir)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, runner.Execute(context.Background(), plan, 2, store.Append))
	return dir
}

// The page from records equals the page from the summary alone.
func TestSuites(t *testing.T) {
	dir, out := results(t), filepath.Join(t.TempDir(), "bench")
	_, stderr, err := call(t, "suites", dir, "--out", out)
	require.NoError(t, err)
	require.Contains(t, stderr, filepath.Join(out, "smoke.json"))
	for _, name := range []string{"smoke-regret.png", "smoke-profile.svg", "smoke-tables.md"} {
		require.FileExists(t, filepath.Join(out, name))
	}
	page, err := os.ReadFile(out + ".md")
	require.NoError(t, err)
	require.Contains(t, string(page), "| [smoke](#smoke) ")
	require.NoError(t, os.Remove(out+".md"))
	_, _, err = call(t, "suites", "--out", out, "--no-plots")
	require.NoError(t, err)
	again, err := os.ReadFile(out + ".md")
	require.NoError(t, err)
	require.Equal(t, string(page), string(again))

	_, _, err = call(t, "suites", dir, "--out", out, "--baseline", "sobul")
	require.ErrorIs(t, err, runner.ErrUnknown)
	_, _, err = call(t, "suites", "--out", "nowhere")
	require.EqualError(t, err, "no report: nowhere holds no summary of a suite")
}

func TestResults(t *testing.T) {
	dir := results(t)
	stdout, stderr, err := call(t, "results", dir)
	require.NoError(t, err)
	require.Contains(t, stdout, "### branin: simple regret")
	require.Contains(t, stderr, " plots in ")
	require.FileExists(t, filepath.Join(dir, "plots", "branin.svg"))
	// The tables of suites of datasets contain the numbers of papers.
	stdout, _, err = call(t, "results", "../../docs/benchmarks/ocean", "--no-plots")
	require.NoError(t, err)
	require.Contains(t, stdout, "### Numbers in papers")
	_, _, err = call(t, "suites", "../../docs/benchmarks/ocean", "--out", t.TempDir())
	require.ErrorContains(t, err, "paper/ocean is a suite of datasets")
}

func TestPosteriorsAndStudies(t *testing.T) {
	out := t.TempDir()
	_, stderr, err := call(t, "posteriors", "--surrogates", "gp,svgp", "--seeds", "1", "--out", out)
	require.NoError(t, err)
	require.Contains(t, stderr, "svgp periodic seed 1  distance 0.000 in ")
	require.FileExists(t, filepath.Join(out, "svgp.png"))
	table, _, err := call(t, "study", "eigenvalues", "--seeds", "1", "--out", out)
	require.NoError(t, err)
	require.Contains(t, table, "| 1 | rbf | 4 | ")
	again, _, err := call(t, "study", "eigenvalues", "--redraw", "--out", out)
	require.NoError(t, err)
	require.Equal(t, table, again)
	for _, args := range [][]string{{"posteriors", "--surrogates", "gpp"}, {"posteriors", "--seeds", "0"}, {"study", "eigenvalue"}, {"study", "eigenvalues", "--seeds", "0"}, {"page"}} {
		_, _, err = call(t, args...)
		require.Error(t, err, "%v", args)
	}
	help, _, err := call(t, "--help")
	require.NoError(t, err)
	require.Contains(t, help, "posteriors")
}

// The generated blocks of the documents equal the output of the commands that they name.
func TestGeneratedBlocks(t *testing.T) {
	t.Chdir("../..")
	var paths []string
	for _, glob := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(glob)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	e := &env{t.Context(), io.Discard, io.Discard}
	blocks := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := generated.FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, strings.Count(string(text), "<!-- generated: "), "%s: a block has no end", path)
		for _, m := range found {
			blocks++
			made, err := e.block(m[2])
			require.NoError(t, err, path)
			require.Equal(t, made, m[3], "%s is not up to date: go run ./benchmarks/pages refresh %[1]s", path)
		}
	}
	require.Positive(t, blocks)
}

func TestRefresh(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(command string) {
		require.NoError(t, os.WriteFile(page, []byte("before\n<!-- generated: go run ./benchmarks/pages "+command+" -->\nold\n<!-- end of generated text -->\nafter\n"), 0o644))
	}
	ocean := "results ../../docs/benchmarks/ocean --part tables"
	write(ocean)
	_, _, err := call(t, "refresh", page)
	require.NoError(t, err)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "before\n<!-- generated: go run ./benchmarks/pages "+ocean+" -->\n\n### ocean: 3 inputs, 40 training rows"))
	require.True(t, strings.HasSuffix(string(text), "\n\n<!-- end of generated text -->\nafter\n"))
	for command, want := range map[string]string{"study eigenvalues": "want results, features, settings --redraw, or study NAME --redraw", "results nowhere": "nowhere"} {
		write(command)
		_, _, err = call(t, "refresh", page)
		require.ErrorContains(t, err, want)
		kept, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(kept), "\nold\n")
	}
	require.NoError(t, os.WriteFile(page, []byte("text\n"), 0o644))
	_, _, err = call(t, "refresh", page)
	require.ErrorContains(t, err, "no generated block")
	_, _, err = call(t, "results", "../../docs/uci", "--part", "some")
	require.Error(t, err)
}

// Stored distances give the same table as the measurement.
func TestSettings(t *testing.T) {
	out := t.TempDir()
	table, stderr, err := call(t, "settings", "--surrogates", "rff", "--seeds", "2", "--out", out)
	require.NoError(t, err)
	require.Contains(t, stderr, "rff features=4000 periodic seed 2  distance 0.0")
	require.Contains(t, table, "| `features=4000` | 0.0")
	again, _, err := call(t, "settings", "--redraw", "--surrogates", "rff", "--out", out)
	require.NoError(t, err)
	require.Equal(t, table, again)
	for _, args := range [][]string{{"--surrogates", "gp"}, {"--surrogates", "rff", "--seeds", "0"}, {"--redraw", "--surrogates", "fvi", "--out", out}} {
		_, _, err = call(t, append([]string{"settings"}, args...)...)
		require.Error(t, err, "%v", args)
	}
}
