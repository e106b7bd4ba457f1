package figures

import (
	"context"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/surrogate"
)

func TestData(t *testing.T) {
	d := Data(1)
	require.Equal(t, d, Data(1))
	require.NotEqual(t, d.Y, Data(2).Y)
	require.NoError(t, d.Validate())
	var rr float64
	for i, y := range d.Y {
		x := d.X.At(i, 0)
		require.True(t, 0.5 <= math.Abs(x) && math.Abs(x) <= 1)
		rr += (y - math.Sin(2*math.Pi*x)) * (y - math.Sin(2*math.Pi*x)) / Observations
	}
	require.InDelta(t, Noise, rr, 0.005)
}

// Means that differ by 3 and standard deviations that differ by 4 have distance 5.
func TestDistance(t *testing.T) {
	a := curve{mean: []float64{1, 0}, sd: []float64{5, 2}}
	b := curve{mean: []float64{4, 0}, sd: []float64{1, 2}}
	require.Equal(t, 2.5, distance(a, b))
	require.Zero(t, distance(a, a))
}

// Every surrogate of the catalog accepts the settings of the figures.
func TestModels(t *testing.T) {
	for _, s := range catalog.Surrogates() {
		for _, p := range Priors() {
			m, err := model(s.Name, p)
			require.NoError(t, err, s.Name)
			require.NoError(t, surrogate.Check(m, 1), s.Name)
		}
	}
}

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var told []Record
	run := func(seeds int, names ...string) {
		told = nil
		require.NoError(t, Run(t.Context(), dir, names, seeds, func(r Record) { told = append(told, r) }))
	}
	run(2, "gp", "map")
	require.Len(t, told, 2*2*len(Priors()))
	for _, r := range told {
		if r.Surrogate == "gp" {
			require.Less(t, r.Distance, 1e-9)
		} else {
			require.Greater(t, r.Distance, 0.1, "one network has no uncertainty")
		}
	}
	for _, name := range []string{"gp", "map"} {
		f, err := os.Open(filepath.Join(dir, name+".png"))
		require.NoError(t, err)
		_, err = png.Decode(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}

	// Results of other surrogates stay; results of the same name are replaced.
	run(1, "map")
	kept, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, kept, 3*len(Priors()))

	require.NoError(t, os.WriteFile(filepath.Join(dir, notesFile), nil, 0o644))
	require.NoError(t, replace(dir, "map", []Record{{Surrogate: "map", Prior: "rbf", Seed: 1, Error: "no\nluck"}}))
	require.NoError(t, replace(dir, "formerly", []Record{{Surrogate: "formerly", Prior: "rbf", Seed: 1}}))
	require.NoError(t, WriteReadme(dir))
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), Command)
	require.Contains(t, string(text), "| [gp](#gp) | 0.000 ± 0.000 |")
	require.Contains(t, string(text), "| [map](#map) | failed: no; luck | | | |\n")
	require.Contains(t, string(text), "![gp](gp.png)")
	require.Contains(t, string(text), "(notes.md)")
	require.NotContains(t, string(text), "formerly")
}

func TestErrors(t *testing.T) {
	err := Run(t.Context(), t.TempDir(), []string{"gpp"}, 1, nil)
	require.ErrorIs(t, err, catalog.ErrUnknown)
	require.ErrorContains(t, err, "did you mean gp?")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Run(ctx, t.TempDir(), []string{"gfsvi"}, 1, func(Record) {}), context.Canceled)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte("{}\nx\n"), 0o644))
	_, err = Read(dir)
	require.ErrorContains(t, err, fileName+":2: ")
}

func TestMeanAndMedian(t *testing.T) {
	mean, se := meanSE([]float64{1, 2, 3, 6})
	require.Equal(t, 3.0, mean)
	require.InDelta(t, math.Sqrt(14.0/3/4), se, 1e-15)
	require.Equal(t, 2.5, median([]float64{6, 1, 3, 2}))
	require.Equal(t, 2.0, median([]float64{2, 1, 3}))
}
