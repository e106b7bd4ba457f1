package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
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
