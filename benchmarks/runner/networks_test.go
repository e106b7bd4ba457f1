package runner

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/racetest"
)

// Every table has the declared inputs, values of about unit variance or labels, and a box
// with all rows. A seed repeats its table, and seeds differ.
func TestDrawnTables(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, s := range []Suite{networksDensity(), networksLarge()} {
		seen := map[string]bool{}
		for _, d := range s.Datasets {
			require.False(t, seen[d.Name], d.Name)
			seen[d.Name] = true
			if d.Dim == 0 || s.Name == "networks/large" && testing.Short() {
				continue
			}
			one := d.drawn(1).ready()
			require.Equal(t, d.Name, one.Name)
			n, dim := one.X.Dims()
			require.Equal(t, d.Dim, dim, d.Name)
			train, test := one.split(1)
			require.Len(t, test, held, d.Name)
			require.Equal(t, n, len(train)+len(test), d.Name)
			for j := range dim {
				column := mat.Col(nil, j, one.X)
				lo, hi := slices.Min(column), slices.Max(column)
				require.True(t, one.Lo[j] <= lo && hi <= one.Hi[j], d.Name)
			}
			require.Equal(t, d.Labels, one.Classes == 2, d.Name)
			if mean, sd := stat.MeanStdDev(one.Y, nil); d.Labels {
				assert.InDelta(t, 0.5, mean, 0.4, d.Name)
			} else {
				assert.InDelta(t, 1, sd, 0.6, d.Name)
			}
			assert.Equal(t, one.Y, d.drawn(1).ready().Y, d.Name)
			assert.NotEqual(t, one.Y, d.drawn(2).ready().Y, d.Name)
		}
	}
}

// A suite of drawn tables needs no data. Labels have the methods that are classifiers.
func TestPlanOfDrawnTables(t *testing.T) {
	s := networksDensity()
	runs := plan(t, s, Selection{Methods: []string{"gp", "ensemble", "laplace"}, Problems: []string{"stated-prior", "moons"}, Seeds: 1})
	var keys []Key
	for _, r := range runs {
		keys = append(keys, r.Key())
	}
	require.Equal(t, []Key{
		{"stated-prior", "gp", 1}, {"stated-prior", "ensemble", 1}, {"stated-prior", "laplace", 1}, {"moons", "gp", 1}, {"moons", "laplace", 1},
	}, keys)
	for i, r := range runs {
		if i == 1 {
			continue
		}
		rec, err := r.Do(t.Context())
		require.NoError(t, err)
		require.Empty(t, rec.Error)
		if rec.Problem == "moons" {
			assert.Greater(t, rec.Score.LogDensity, -0.4)
			assert.Less(t, rec.Score.Wrong, 0.15)
			assert.Zero(t, rec.Score.RMSE)
		} else {
			assert.InDelta(t, 0.9, rec.Score.Coverage, 0.12)
			assert.Positive(t, rec.Score.RMSE)
		}
		assert.Empty(t, r.conflict(rec))
	}
	assert.Len(t, plan(t, s, Selection{Methods: []string{"gp"}}), 10*len(s.Datasets))
}

// Under its own prior the exact process has calibrated predictions: over 30 tables the mean
// of the squared standardised errors is 1.
func TestStatedPriorIsThePriorOfItsTables(t *testing.T) {
	runs := plan(t, networksDensity(), Selection{Methods: []string{"gp"}, Problems: []string{"stated-prior"}, Seeds: 30})
	var coverage []float64
	for _, r := range runs {
		rec, err := r.Do(t.Context())
		require.NoError(t, err)
		require.Empty(t, rec.Error)
		require.InDelta(t, deviation*deviation, rec.Score.Noise, 1e-9)
		require.InDelta(t, rec.Score.RMSE, rec.Score.RMSERaw, 1e-12)
		coverage = append(coverage, rec.Score.Coverage)
	}
	mean, sd := stat.MeanStdDev(coverage, nil)
	assert.InDelta(t, 0.9, mean, 4*sd/5.5)
}
