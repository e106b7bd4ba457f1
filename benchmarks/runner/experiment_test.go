package runner

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/racetest"
)

func TestSeparation(t *testing.T) {
	for _, c := range []struct {
		name            string
		inside, outside []float64
		accuracy, area  float64
	}{
		{"apart", []float64{1, 2, 3}, []float64{4, 5}, 1, 1},
		{"apart, the other way", []float64{4, 5}, []float64{1, 2, 3}, 1, 0},
		{"equal", []float64{1, 1}, []float64{1, 1, 1}, 0.5, 0.5},
		{"one of three is wrong", []float64{1, 2, 5}, []float64{3, 4, 6}, 5.0 / 6, 7.0 / 9},
		{"a tie", []float64{1, 2}, []float64{2, 3}, 0.75, 7.0 / 8},
		{"one point each", []float64{1}, []float64{2}, 1, 1},
	} {
		accuracy, area := separation(c.inside, c.outside)
		assert.InDelta(t, c.accuracy, accuracy, 1e-12, c.name)
		assert.InDelta(t, c.area, area, 1e-12, c.name)
	}
	accuracy, _ := separation(nil, nil)
	assert.Equal(t, 0.5, accuracy)
}

// Samples of Gaussians have the distance of the Gaussians, up to the error of sampling.
func TestEmpirical(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	require.InDelta(t, 5, math.Sqrt(empirical(0, 1, 3, 5, rng)), 0.5)
	require.Less(t, empirical(2, 1, 2, 1, rng), 0.05)
	require.Zero(t, empirical(2, 0, 2, 0, rng))
}

// The folds of a table are disjoint and cover it. Training rows are standardised.
func TestFolds(t *testing.T) {
	_, dir := tiny(t)
	table, err := tableOf(dir, "a")
	require.NoError(t, err)
	var all []float64
	for seed := range uint64(folds) {
		f, err := table.fold(seed + 1)
		require.NoError(t, err)
		n, _ := f.train.X.Dims()
		require.Equal(t, 24, n)
		mean, sd := stat.MeanStdDev(f.train.Y, nil)
		require.InDelta(t, 0, mean, 1e-12)
		require.InDelta(t, 1, sd, 1e-12)
		rows, _ := f.test.Dims()
		for i := range rows {
			all = append(all, f.inputs[0].Invert(f.test.At(i, 0)))
		}
	}
	require.Len(t, all, 30)
	want := table.X.ColView(0)
	for i := range 30 {
		require.True(t, contains(all, want.AtVec(i)), "row %d is in no fold", i)
	}
	first, err := table.fold(1)
	require.NoError(t, err)
	other, err := table.fold(folds + 1)
	require.NoError(t, err)
	require.NotEqual(t, first.train.Y, other.train.Y, "another partition")
}

func contains(list []float64, v float64) bool {
	for _, x := range list {
		if math.Abs(x-v) < 1e-9 {
			return true
		}
	}
	return false
}

// The exact process with the fitted prior has distance 0; another model is further away than
// the error of sampling.
func TestDistance(t *testing.T) {
	_, dir := tiny(t)
	s := Suite{Name: "tiny", Methods: []string{"gp", "rff:features=2"}, Seeds: 1, Experiments: []Experiment{{
		Name: "a", Folders: []string{"a"}, Load: func(dir string) (Measurement, error) {
			table, err := tableOf(dir, "a")
			return (&distances{table: table}).measure, err
		},
	}}}
	_, err := s.Plan(Selection{})
	require.ErrorIs(t, err, ErrPlan)
	found := outcomes(t, plan(t, s, Selection{Data: dir}), 2)
	exact := found[Key{"a", "gp", 1}]
	require.Empty(t, exact.Error)
	require.Equal(t, 2, exact.Dim)
	require.InDelta(t, 0, exact.Measures["w2"], 1e-9)
	far := found[Key{"a", "rff:features=2", 1}]
	require.Greater(t, far.Measures["w2"], 0.01)
	require.InDelta(t, far.Measures["w2"], far.Measures["w2_sampled"], 0.2*far.Measures["w2"]+far.Measures["floor"])
}

// Points far from the training rows are told from test rows by their variance.
func TestDetection(t *testing.T) {
	_, dir := tiny(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "far"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "far", "data.csv"), []byte("u,v,w,y\n-900,5,1,0\n-1,6,1,0\n1,2,1,0\n900,-5,1,0\n"), 0o644))
	s := Suite{Name: "tiny", Methods: []string{"gp"}, Seeds: 2, Experiments: []Experiment{detection("a", []string{"far"})}}
	for key, r := range outcomes(t, plan(t, s, Selection{Data: dir}), 1) {
		require.Empty(t, r.Error, "%v", key)
		require.GreaterOrEqual(t, r.Measures["accuracy"], 0.5)
		require.Positive(t, r.Measures["area"])
	}
	_, err := s.Plan(Selection{Data: dir, Methods: []string{"random"}})
	require.ErrorIs(t, err, ErrPlan)
	_, err = s.Plan(Selection{Data: dir, Problems: []string{"b"}})
	require.ErrorIs(t, err, ErrUnknown)
	_, err = s.Plan(Selection{Data: "nowhere"})
	require.ErrorIs(t, err, ErrData)
}

// One arm is best within the radius and another in each quadrant beyond it. A model learns the
// rewards, so its regret is below the regret of uniform choice.
func TestWheel(t *testing.T) {
	w := wheel{0.5, 120, 20}
	for want, at := range [][2]float64{{0.3, 0.2}, {0.6, 0.6}, {-0.6, 0.6}, {0.6, -0.6}, {-0.6, -0.6}} {
		mean, best := w.means(at[0], at[1])
		require.Equal(t, want, best)
		require.Equal(t, want > 0, mean[best] == 50)
	}
	m, err := ParseMethod("gp")
	require.NoError(t, err)
	rec := Record{Measures: map[string]float64{}}
	require.NoError(t, w.measure(t.Context(), m, 1, &rec))
	require.True(t, 0 < rec.Measures["regret"] && rec.Measures["regret"] < 90, "%v", rec.Measures)
	again := Record{Measures: map[string]float64{}}
	require.NoError(t, w.measure(t.Context(), m, 1, &again))
	require.Equal(t, rec.Measures, again.Measures)
}

// An image that is turned four times is the image. A model of few digits is better than guessing.
func TestDigits(t *testing.T) {
	racetest.SkipNumerical(t)
	all, err := allDigits()
	require.NoError(t, err)
	require.Len(t, all, 1797)
	m := all[5]
	turned := m
	for k := range 4 {
		require.Equal(t, k == 0, slices.Equal(turned.pixels, m.pixels))
		turned.pixels = turned.turned()
	}
	require.Equal(t, m.pixels, turned.pixels)
	require.InDelta(t, math.Log(2), entropies(mat.NewDense(1, 3, []float64{0.5, 0, 0.5}))[0], 1e-12)

	method, err := ParseMethod("laplace:hidden=10")
	require.NoError(t, err)
	rec := Record{Measures: map[string]float64{}}
	require.NoError(t, digits{all, 60}.measure(t.Context(), method, 1, &rec))
	require.Greater(t, rec.Measures["accuracy"], 0.5)
	method, err = ParseMethod("svgp")
	require.NoError(t, err)
	require.ErrorContains(t, digits{all, 60}.measure(t.Context(), method, 1, &rec), "svgp does not support labels")
}
