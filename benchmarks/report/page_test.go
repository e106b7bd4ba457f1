package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A report that was saved and loaded is the same but for the rounding.
func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	failed := record("f", "a", 9, 1)
	failed.Budget, failed.Error, failed.Machine.CPU = 4, "1.23456789\n{ two  spaces }", "[1.23456789  GHz]"
	r, err := New(append(records(), failed), "")
	require.NoError(t, err)
	r.Suite = "paper/test"
	path, err := r.Save(dir)
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
	assert.ErrorIs(t, err, ErrReport)
}

func TestRound(t *testing.T) {
	in := `{"a \" 1.23456": [1.23456, -1.23456e-07, 12345678, 0.5], "b": {"c": 98765.4}}`
	assert.Equal(t, `{"a \" 1.23456": [1.235, -1.235e-07, 12345678, 0.5], "b": {"c": 9.877e+04}}`, string(token.ReplaceAllFunc([]byte(in), round)))
}

func TestDocuments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bench")
	_, err := Documents(dir)
	assert.ErrorIs(t, err, ErrReport)

	r, err := New(append(records(), record("g", "b", 2, 1, 1, 1, 3), record("f", "late", 1, 100, 1, 1, 1e-3)), "a")
	require.NoError(t, err)
	_, err = r.Save(dir)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"introduction": "# The title\n\nSee [it](../x.md) and [all](test.md#there), [far](https://a.b/c).\n",
		"test":         "# Of a test\n\nWords.\n",
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
		"## Of a test\n\nWords.\n\nMeasured: 2 problems, 4 methods, 1 to 2 seeds. [All tables](bench/test-tables.md).\n",
		"4 pairs of problem and seed that all these methods finished; too few runs of `late`.",
		"| [test](#test) |        2 |       4 |   13 | 2026-01-01 to 2026-01-02 | `a` 1.12, `sobol` 2.00, `b` 2.88 |",
		"better than `a`: none; worse: none; not told apart: `b`, `late`, `sobol`.",
		"| late   | **0.001** (1) |             |\n",
		"![Data profiles](bench/test-profile.png)",
		"## Further pages\n\n- [Where data is from](bench/data.md)\n",
	} {
		assert.Contains(t, page, want)
	}
	again, err := Documents(dir)
	require.NoError(t, err)
	assert.Equal(t, documents[0], again[0], "tables are no further pages")
	assert.NotContains(t, page, "Runs that failed")
}

func TestVerdict(t *testing.T) {
	pair := func(name string, wins, losses int, p float64) Pair {
		return Pair{Name: name, End: &Comparison{Wins: wins, Losses: losses, P: p}}
	}
	r := Report{Baseline: "gp", Pairs: []Pair{pair("a", 9, 1, 0.01), pair("b", 1, 9, 1e-4), pair("c", 8, 2, 0.026), pair("d", 5, 5, 0.9)}}
	// Holm: 1e-4 < 0.05/4, 0.01 < 0.05/3, 0.026 > 0.05/2.
	assert.True(t, strings.HasSuffix(r.verdict(), "better than `gp`: `a`; worse: `b`; not told apart: `c`, `d`."), r.verdict())
}
