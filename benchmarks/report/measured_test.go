package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

func TestMeasured(t *testing.T) {
	rec := func(problem, method string, seed uint64, w2 float64) runner.Record {
		return runner.Record{Suite: "paper/distance", Problem: problem, Method: method, Seed: seed, Measures: map[string]float64{"w2_sampled": w2}}
	}
	records := []runner.Record{
		rec("yacht", "svgp-100", 1, 0.1), rec("yacht", "gfsvi", 1, 0.2), rec("yacht", "gfsvi", 2, 0.4), rec("boston", "gfsvi", 1, 0.5),
		{Suite: "paper/distance", Problem: "boston", Method: "fvi", Seed: 1, Error: "no fit"},
	}
	papers := []PublishedMeasure{
		{"paper/distance", "w2_sampled", "boston", "gfsvi", "GFSVI", 0.0259, 0.004},
		{"paper/distance", "w2_sampled", "energy", "gfsvi", "GFSVI", 0.0035, 0.0004},
		{"paper/detection", "accuracy", "yacht", "gfsvi", "GFSVI", 0.6, 0.1},
	}
	r, err := NewMeasured(records, papers)
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	for _, want := range []string{
		"Distance W2 of 1000 samples; lower is better\n\nmethod                    boston                 yacht\n",
		"gfsvi                 0.5000 (1)   0.3000 ± 0.1000 (2)\n",
		"svgp-100                                    0.1000 (1)\n",
		"gfsvi in GFSVI   0.0259 ± 0.0040\n",
		"failed: boston fvi seed 1: no fit\n",
	} {
		require.Contains(t, text.String()+"\n", want)
	}
	var markdown bytes.Buffer
	require.NoError(t, r.WriteMarkdown(&markdown))
	require.Contains(t, markdown.String(), "| gfsvi ")
	_, err = NewMeasured(nil, nil)
	require.ErrorIs(t, err, ErrReport)
}
