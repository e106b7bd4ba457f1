package figures

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

func TestStudies(t *testing.T) {
	if testing.Short() {
		t.Skip("four studies")
	}
	dir := filepath.Join(t.TempDir(), "out")
	for _, s := range Studies() {
		if slow := []string{"noise", "snelson", "implicit-priors", "measurement-points"}; slices.Contains(slow, s.Name) {
			continue // their code is the code of the study of lengthscales, and TestScenes checks their settings
		}
		var table bytes.Buffer
		told := 0
		require.NoError(t, s.Run(t.Context(), dir, 1, &table, func(string) { told++ }))
		require.NotContains(t, table.String(), "failed")
		lines, err := os.ReadFile(filepath.Join(dir, s.Name+".jsonl"))
		require.NoError(t, err)
		require.Equal(t, told, strings.Count(string(lines), "\n"))
		require.FileExists(t, filepath.Join(dir, s.Name+".png"))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.ErrorIs(t, s.Run(ctx, dir, 1, &table, func(string) {}), context.Canceled)
	}
}

// The surrogate models of all scenes accept their settings.
func TestScenes(t *testing.T) {
	for _, g := range []stage{lengthscales(), noises(), measurementPoints(), snelson(), implicitPriors()} {
		for i := range g.rows {
			for j := range g.columns {
				s := g.scene(i, j)
				if s.surrogate == "" { // draws from a prior
					continue
				}
				m, err := configured(s.surrogate, s.settings)
				require.NoError(t, err, "%s: %v", g.name, s)
				require.NoError(t, surrogate.Check(m, 1), "%s: %v", g.name, s)
			}
		}
	}
}

// The eigenvalues sum to the trace, the number of points. The rough kernel has more
// large eigenvalues.
func TestSpectrum(t *testing.T) {
	count := map[string]int{}
	for _, kernel := range spectrumKernels {
		s, err := spectrum(kernel, 1, 1, 2)
		require.NoError(t, err)
		var sum float64
		for i, v := range s.Values {
			sum += v
			require.True(t, i == 0 || v <= s.Values[i-1])
		}
		require.InDelta(t, spectrumPoints, sum, 1e-9)
		require.Equal(t, s.Points, s.above(-1))
		require.Equal(t, 1, s.share(s.Values[0]/spectrumPoints-1e-9))
		count[kernel] = s.share(0.99)
	}
	require.Less(t, 5*count["rbf"], count["matern12"])
}

// More context points bring the default closer to the exact process.
func TestContextPoints(t *testing.T) {
	p := Priors()[0]
	want, err := exact(p, 1)
	require.NoError(t, err)
	var far, near ContextRecord
	far.Points, near.Points = 3, 40
	for _, r := range []*ContextRecord{&far, &near} {
		r.Seed = 1
		require.NoError(t, r.measure(t.Context(), p, want, nil))
		require.Empty(t, r.Error)
		require.Positive(t, r.Rank)
	}
	require.Less(t, 10*near.Distance, far.Distance)
	failing := ContextRecord{Points: 3, Seed: 1}
	require.NoError(t, failing.measure(t.Context(), p, want, []string{"kernel=rbff"}))
	require.Contains(t, failing.Error, `"rbff"`)
	require.Error(t, failing.measure(t.Context(), p, want, []string{"none=1"}))
}

// Every scene of every stage has valid settings and finite data.
func TestStages(t *testing.T) {
	for _, g := range []stage{lengthscales(), noises(), measurementPoints(), snelson(), implicitPriors()} {
		for i := range g.rows {
			for j := range g.columns {
				s := g.scene(i, j)
				if s.surrogate == "" {
					require.Len(t, priorDraws(s, g.x), 3)
					continue
				}
				_, err := configured(s.surrogate, s.settings)
				require.NoError(t, err, g.name)
				require.NoError(t, g.data(s, 1).Validate())
			}
		}
	}
	failing := stage{x: between(0, 1, 3), data: snelsonInput}
	r := SceneRecord{Seed: 1}
	require.Error(t, failing.measure(t.Context(), scene{surrogate: "gp", settings: []string{"none=1"}}, &r))
	require.NoError(t, failing.measure(t.Context(), scene{surrogate: "gp", settings: []string{"kernel=rbff"}}, &r))
	require.Contains(t, r.Error, "rbff")
}

// A piecewise constant function has few values, a piecewise linear one is continuous.
func TestPiecewise(t *testing.T) {
	x := between(0, 1, 2001)
	changes := 0
	for k := range 500 {
		f := piecewise(x, false, random.New(1, "constant", k))
		g := piecewise(x, true, random.New(1, "linear", k))
		for i := range x {
			require.True(t, 0 <= f[i] && f[i] <= 1 && 0 <= g[i] && g[i] <= 1)
			if i > 0 && f[i] != f[i-1] {
				changes++
			}
		}
	}
	require.InDelta(t, 3, float64(changes)/500, 0.3)
	g := piecewise(x, true, random.New(1, "linear", 0))
	most := 0.0
	for i := range x[1:] {
		most = max(most, math.Abs(g[i+1]-g[i]))
	}
	require.Less(t, most, 0.2)
}

// Mean and standard deviation of the logistic function of a Gaussian.
func TestSquashed(t *testing.T) {
	m, s := squashed(0.7, 0)
	require.InDelta(t, 1/(1+math.Exp(-0.7)), m, 1e-12)
	require.InDelta(t, 0, s, 1e-6)
	rng := random.New(1, "squashed", 0)
	var p []float64
	for range 20000 {
		p = append(p, 1/(1+math.Exp(-(0.5+1.5*rng.NormFloat64()))))
	}
	mean, sd := stat.MeanStdDev(p, nil)
	m, s = squashed(0.5, 1.5)
	require.InDelta(t, mean, m, 0.01)
	require.InDelta(t, sd, s, 0.01)
}
