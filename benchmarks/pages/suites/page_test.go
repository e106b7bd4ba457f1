package suites

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

// record returns a record whose measure after each evaluation is given.
func record(problem, method string, seed uint64, measure ...float64) runner.Record {
	return runner.Record{
		Suite: "test", Problem: problem, Method: method, Seed: seed, Dim: 2, Budget: len(measure), Initial: 1, Batch: 1, NoiseFree: true,
		Minimum: new(0.0), Values: measure, Regret: measure, Suggest: []float64{9, 0.001 * float64(seed), 0.002, 0.003}[:len(measure)],
		Elapsed: float64(seed), Date: fmt.Sprintf("2026-01-%02dT00:00:00Z", seed),
	}
}

// records returns three methods on two problems.
func records() []runner.Record {
	return []runner.Record{
		record("f", "sobol", 1, 100, 10, 10, 1), record("f", "sobol", 2, 100, 10, 10, 1),
		record("f", "a", 1, 100, 1, 0.1, 0.01), record("f", "a", 2, 100, 10, 1, 0.1),
		record("f", "b", 1, 100, 100, 100, 100), record("f", "b", 2, 100, 100, 100, 1),
		record("g", "a", 2, 1, 1, 1, 1e-12), record("g", "a", 1, 1, 1, 1, 1e-12),
		record("g", "sobol", 1, 1, 1, 1, 0), record("g", "sobol", 2, 1, 1, 1, 0.5),
		record("g", "b", 1, 1, 1, 1, 2),
	}
}

// A report that was saved and loaded is the same but for the rounding.
func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	broken := record("f", "a", 9, 1)
	broken.Budget, broken.Error, broken.Machine.CPU = 4, "1.23456789\n{ two  spaces }", "[1.23456789  GHz]"
	r, err := report.New(append(records(), broken), "")
	require.NoError(t, err)
	r.Suite = "paper/test"
	path, err := Save(r, dir)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "paper-test.json"), path)
	again, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, r.Failures, again.Failures)
	assert.Equal(t, r.Origins, again.Origins)
	for i, p := range r.Problems {
		for k, m := range p.Methods {
			for j, v := range m.Curve.Median {
				assert.InEpsilon(t, v, again.Problems[i].Methods[k].Curve.Median[j], 5e-4)
			}
		}
	}

	require.NoError(t, os.WriteFile(path, []byte(`{"suit": 1}`), 0o644))
	_, err = Load(path)
	assert.ErrorIs(t, err, report.ErrReport)
}

func TestRound(t *testing.T) {
	in := `{"a \" 1.23456": [1.23456, -1.23456e-07, 12345678, 0.5], "b": {"c": 98765.4}}`
	assert.Equal(t, `{"a \" 1.23456": [1.235, -1.235e-07, 12345678, 0.5], "b": {"c": 9.877e+04}}`, string(token.ReplaceAllFunc([]byte(in), round)))
}

func TestDocuments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bench")
	_, err := Documents(dir)
	assert.ErrorIs(t, err, report.ErrReport)

	r, err := report.New(append(records(), record("g", "b", 2, 1, 1, 1, 3), record("f", "late", 1, 100, 1, 1, 1e-3)), "a")
	require.NoError(t, err)
	_, err = Save(r, dir)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"introduction": "# The title\n\nSee [it](../x.md) and [all](test.md#there), [far](https://a.b/c).\n",
		"test":         "# Of a test\n\nThe finding.\n\n## Method\n\nThe method.\n\n## Provenance\n\n    the command\n\nThe [source](data.md).\n",
		"data":         "# Where data is from\n\nThere.\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o644))
	}
	documents, err := Documents(dir)
	require.NoError(t, err)
	require.Len(t, documents, 2)
	assert.Equal(t, dir+".md", documents[0].Path)
	assert.Equal(t, filepath.Join(dir, "test-tables.md"), documents[1].Path)
	page := documents[0].Text
	for _, want := range []string{
		"# The title\n\nSee [it](x.md) and [all](bench/test.md#there), [far](https://a.b/c).\n",
		"## Of a test\n\nThe finding.\n\nRegret at the end of the budget against `a`, ",
		"### Method\n\nThe method.\n\n### Provenance\n\n    the command\n\nThe [source](bench/data.md).\n\nMeasured: 2 problems, 4 methods, 1 to 2 seeds. [All tables](bench/test-tables.md).\n",
		"Over 4 pairs of problem and seed that all these methods finished; not ranked, too few runs: `late`.",
		"| [test](#test) |        2 |       4 |   13 | 2026-01-01 to 2026-01-02 | `a` 1.12, `sobol` 2.00, `b` 2.88 |",
		"- Significantly better: none.\n- Significantly worse: none.\n- No significant difference: `b` (lower in 0 of 4), `late` (lower in 1 of 1), `sobol` (lower in ",
		"| late   | **0.001** (1) |             |\n",
		"![Data profiles](bench/test-profile.png)",
		"## Further pages\n\n- [Where data is from](bench/data.md)\n",
	} {
		assert.Contains(t, page, want)
	}
	again, err := Documents(dir)
	require.NoError(t, err)
	assert.Equal(t, documents[0], again[0], "tables are not further pages")
	assert.NotContains(t, page, "Failed runs")
	var order []int
	for _, part := range []string{"The finding.", "| b ", "test-regret.png", "### Method", "### Provenance"} {
		order = append(order, strings.Index(page, part))
	}
	assert.IsIncreasing(t, order)
}

func TestVerdict(t *testing.T) {
	pair := func(name string, wins, losses int, p float64) report.Pair {
		return report.Pair{Name: name, End: &report.Comparison{Wins: wins, Losses: losses, P: p}}
	}
	r := report.Report{Baseline: "gp", Pairs: []report.Pair{pair("a", 9, 1, 0.01), pair("b", 1, 9, 1e-4), pair("c", 8, 2, 0.026), pair("d", 5, 5, 0.9)}}
	// Holm: 1e-4 < 0.05/4, 0.01 < 0.05/3, 0.026 > 0.05/2.
	want := "- Significantly better: `a` (lower in 9 of 10).\n- Significantly worse: `b` (lower in 1 of 10).\n- No significant difference: `c` (lower in 8 of 10), `d` (lower in 5 of 10)."
	assert.True(t, strings.HasSuffix(verdict(&r), want), verdict(&r))
}

func TestRewards(t *testing.T) {
	curve := report.Curve{Reward: []float64{-2.5, -1}, RewardSE: []float64{1.5, 1}}
	p := report.Problem{Name: "f", Budget: 3, At: []int{1, 1, 2, 3}, Grid: []int{1, 3}, Methods: []report.Method{{Name: "a", Runs: 2, Curve: curve}}}
	r := &report.Report{Methods: []string{"a"}, Problems: []report.Problem{p}}
	assert.Equal(t, [][]string{{"method", "f, 3"}, {"a", "-1 ± 1"}}, rewardTable(r))
	charts := rewards(r)
	require.Len(t, charts, 1)
	assert.Equal(t, chart.Band{Method: "a", X: []float64{1, 3}, Median: []float64{-2.5, -1}, Q1: []float64{-4, -2}, Q3: []float64{-1, 0}}, charts[0].Bands[0])
}

// The profile of a method rises to the share of its runs that reach the target.
func TestProfiles(t *testing.T) {
	r, err := report.New(records(), "a")
	require.NoError(t, err)
	b := profiles(r)[0].Bands[0]
	assert.Equal(t, "a", b.Method)
	assert.Equal(t, 4.0, b.X[len(b.X)-1])
	assert.Equal(t, 1.0, b.Median[len(b.X)-1])
}
