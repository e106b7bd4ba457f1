package runner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// tiny writes two datasets, "a" with 30 rows and three splits and "b" with 20 rows
// and two: y = 10 + 3x + 0.1ε and a constant input. It returns a suite of them.
func tiny(t testing.TB) (Suite, string) {
	t.Helper()
	dir := t.TempDir()
	s := Suite{Name: "tiny", Methods: []string{"gp", "map"}}
	for name, rows := range map[string]int{"a": 30, "b": 20} {
		rng := rand.New(rand.NewPCG(1, uint64(rows)))
		var data, splits strings.Builder
		data.WriteString("x,c,y\n")
		splits.WriteString("split,row\n")
		for range rows {
			x := rng.Float64()
			fmt.Fprintf(&data, "%v,7,%v\n", x, 10+3*x+0.1*rng.NormFloat64())
		}
		for i := range rows {
			fmt.Fprintf(&splits, "%d,%d\n", i/10, i)
		}
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "data.csv"), []byte(data.String()), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "splits.csv"), []byte(splits.String()), 0o644))
	}
	s.Datasets = []Dataset{{Name: "a", Splits: "splits.csv"}, {Name: "b", Splits: "splits.csv", Seeds: 1}}
	return s, dir
}

func plan(t testing.TB, s Suite, sel Selection) []Run {
	t.Helper()
	runs, err := s.Plan(sel)
	require.NoError(t, err)
	return runs
}

func TestPlanOfDatasets(t *testing.T) {
	s, dir := tiny(t)
	var keys []string
	for _, r := range plan(t, s, Selection{Data: dir}) {
		keys = append(keys, fmt.Sprint(r.Key()))
	}
	assert.Equal(t, []string{
		"{a gp 1}", "{a map 1}", "{b gp 1}", "{b map 1}",
		"{a gp 2}", "{a map 2}", "{a gp 3}", "{a map 3}",
	}, keys)
	assert.Len(t, plan(t, s, Selection{Data: dir, Seeds: 2}), 8)
	assert.Len(t, plan(t, s, Selection{Data: dir, Seeds: 9, Problems: []string{"b"}, Methods: []string{"rff"}}), 2, "as many as there are splits")
}

// A record of an alias with other settings is no result of the run.
func TestAliasOfADataset(t *testing.T) {
	s, dir := tiny(t)
	s.Aliases = []Alias{{Name: "smooth", Method: "gp:kernel=rbf"}}
	r := plan(t, s, Selection{Data: dir, Methods: []string{"smooth"}})[0]
	rec, err := r.Do(t.Context())
	require.NoError(t, err)
	require.Empty(t, rec.Error)
	assert.Empty(t, r.conflict(rec))
	rec.As = "gp:kernel=matern32"
	assert.Equal(t, "method gp:kernel=matern32; the plan has gp:kernel=rbf", r.conflict(rec))
}

func TestPlanOfDatasetsFaults(t *testing.T) {
	s, dir := tiny(t)
	for _, c := range []struct {
		sel   Selection
		is    error
		wants string
	}{
		{Selection{}, ErrPlan, "bad plan: the suite tiny needs data in the folders a, b"},
		{Selection{Data: "nowhere"}, ErrData, "bad data: there is no nowhere/a/data.csv"},
		{Selection{Data: dir, Problems: []string{"c"}}, ErrUnknown, `unknown problem "c" of the suite tiny; want one of a, b`},
		{Selection{Data: dir, Methods: []string{"sobol"}}, ErrPlan, "bad plan: sobol makes no predictions, which the dataset a needs"},
		{Selection{Data: dir, Methods: []string{"gp", "gp"}}, ErrPlan, "bad plan: method gp is selected twice"},
		{Selection{Data: dir, Methods: []string{"gp:lengthscale=1,2,3"}}, ErrPlan, "bad plan: a: method gp:lengthscale=1,2,3: surrogate gp: "},
	} {
		_, err := s.Plan(c.sel)
		assert.ErrorIs(t, err, c.is)
		assert.ErrorContains(t, err, c.wants)
	}
	for _, c := range []struct{ file, text, wants string }{
		{"data.csv", "x,y\n", "no rows below the header"},
		{"data.csv", "y\n1\n", "has one column, want inputs and a target"},
		{"data.csv", "x,y\n1,2\n3,\n", `row 2 (line 3), column "y": the cell is empty`},
		{"data.csv", "x,y\n1,2\n3\n", "1 cells, the header has 2"},
		{"splits.csv", "split,row\n1,0\n", "[1 0] is not a split and a row of 30, splits in order"},
		{"splits.csv", "split,row\n0,30\n", "[0 30] is not"},
		{"splits.csv", "split\n0\n", "[0] is not"},
	} {
		path := filepath.Join(dir, "a", c.file)
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err = s.Plan(Selection{Data: dir})
		require.ErrorIs(t, err, ErrData)
		assert.ErrorContains(t, err, c.wants)
		assert.NotContains(t, err.Error(), "\n")
		require.NoError(t, os.WriteFile(path, was, 0o644))
	}
}

// Validation holds each training row of the first split out once, and no test row.
func TestValidation(t *testing.T) {
	s, dir := tiny(t)
	d := s.Datasets[0]
	all, err := d.Load(dir)
	require.NoError(t, err)
	d.Validation = true
	table, err := d.Load(dir)
	require.NoError(t, err)
	train, _ := all.split(1)
	_, y := all.rows(train)
	assert.Equal(t, y, table.Y)
	seen := map[int]int{}
	for seed := range table.Test {
		rest, held := table.split(uint64(seed + 1))
		assert.Len(t, rest, 18)
		for _, i := range held {
			seen[i]++
		}
	}
	assert.Len(t, table.Test, 10)
	assert.Len(t, seen, 20)
	for _, times := range seen {
		assert.Equal(t, 1, times)
	}
}

// A record does not depend on the number of workers, scores a noisy line correctly,
// and survives the file.
func TestScores(t *testing.T) {
	s, dir := tiny(t)
	runs := plan(t, s, Selection{Data: dir})
	untimed := func(workers int) map[Key]Record {
		found := outcomes(t, runs, workers)
		for _, r := range found {
			require.Empty(t, r.Error)
			r.Score.Fit, r.Score.Predict, r.Score.Processor = 0, 0, 0
		}
		return found
	}
	found := untimed(1)
	assert.Equal(t, found, untimed(3))
	store, err := OpenStore(filepath.Join(dir, "out"))
	require.NoError(t, err)
	for k, r := range found {
		want := Score{Train: 20, Test: 10}
		if k.Problem == "b" {
			want.Train = 10
		}
		assert.Equal(t, [3]int{want.Train, want.Test, 2}, [3]int{r.Score.Train, r.Score.Test, r.Dim}, k)
		assert.InDelta(t, 0.1, r.Score.RMSERaw, 0.08, k)
		assert.InDelta(t, r.Score.RMSERaw, r.Score.RMSE, 0.5, "a target of deviation near 1")
		assert.LessOrEqual(t, r.Score.LogLikelihood, r.Score.LogDensity+1e-12, k)
		require.NoError(t, store.Append(r))
	}
	left, err := store.Remaining(runs, true)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, store.Close())
	records, err := Read(filepath.Join(dir, "out"))
	require.NoError(t, err)
	for _, r := range records {
		assert.Equal(t, found[r.Key()].Score, r.Score)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", fileName))
	require.NoError(t, err)
	for _, none := range []string{"budget", "minimum", "values", "suggest_s"} {
		assert.NotContains(t, string(text), `"`+none+`"`, "a fit has none")
	}

	// A different table under the same name conflicts with the records.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "splits.csv"), []byte("split,row\n0,0\n"), 0o644))
	store, err = OpenStore(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer store.Close()
	_, err = store.Remaining(plan(t, s, Selection{Data: dir}), false)
	assert.ErrorIs(t, err, ErrStore)
}

func TestScoreFailureIsRecorded(t *testing.T) {
	s, dir := tiny(t)
	runs := plan(t, s, Selection{Data: dir, Methods: []string{"gp"}, Problems: []string{"b"}})
	runs[0].Table.Y[15] = math.NaN()
	r, err := runs[0].Do(t.Context())
	require.NoError(t, err)
	assert.Contains(t, r.Error, "not finite")
	assert.Nil(t, r.Score)
}

// A result that JSON does not have is a failure of its run and ends no benchmark.
func TestNumbersThatAreNotFinite(t *testing.T) {
	gp, err := ParseMethod("gp")
	require.NoError(t, err)
	measured := func(measures map[string]float64) Run {
		return Run{Suite: "s", Experiment: "x", Method: gp, Seed: 1, Measure: func(_ context.Context, _ Method, _ uint64, rec *Record) error {
			maps.Copy(rec.Measures, measures)
			return nil
		}}
	}
	far := &Table{Name: "far", X: mat.NewDense(4, 1, []float64{0, 1, 2, 3}), Y: []float64{0, 1, 2, 1e200}, Test: [][]int{{3}}}
	for _, c := range []struct {
		run  Run
		want string
	}{
		{measured(map[string]float64{"a": 1, "b": 2}), ""},
		{measured(map[string]float64{"a": 1, "log_prob": math.Inf(-1), "z": math.NaN()}), "log_prob is -Inf"},
		{Run{Suite: "s", Table: far, Method: gp, Seed: 1}, "log_density is -Inf"},
	} {
		store, err := OpenStore(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, Execute(t.Context(), []Run{c.run}, 1, store.Append))
		require.NoError(t, store.Close())
		r := store.records[c.run.Key()]
		require.Equal(t, c.want, r.Error)
		require.Nil(t, r.Score)
		require.Equal(t, c.want == "", r.Measures != nil)
	}
}

func TestRate(t *testing.T) {
	y, mean, variance := []float64{1, -2, 0.5}, []float64{0.5, -1, 0.5}, []float64{0.1, 0.4, 0}
	s := Score{Noise: 0.3}
	s.rate(y, mean, variance)
	var density float64
	for i := range y {
		density += distuv.Normal{Mu: mean[i], Sigma: math.Sqrt(variance[i] + 0.3)}.LogProb(y[i]) / 3
	}
	assert.InDelta(t, density, s.LogDensity, 1e-12)
	assert.Less(t, s.LogLikelihood, s.LogDensity)
	assert.InDelta(t, math.Sqrt((0.25+1)/3), s.RMSE, 1e-12)
	assert.InDelta(t, 0.5/3, s.Spread, 1e-12)
}

// The real tables, if present: sizes, means of the targets, and splits that partition
// each table.
func TestData(t *testing.T) {
	const dir = "../../../shared/data"
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no data: ", err)
	}
	s, err := Lookup("uci")
	require.NoError(t, err)
	want := map[string]struct {
		rows, dim, splits int
		mean              float64
	}{
		"yacht": {308, 6, 20, 10.4954}, "boston": {506, 13, 20, 22.5328}, "energy": {768, 8, 20, 22.3072},
		"concrete": {1030, 8, 20, 35.818}, "wine_red": {1599, 11, 20, 5.63602}, "kin8nm": {8192, 8, 20, 0.714283},
		"power": {9568, 4, 20, 454.365}, "naval": {11934, 16, 20, 0.975}, "protein": {45730, 9, 5, 7.74853},
	}
	seeds := map[string]int{}
	for _, r := range plan(t, s, Selection{Data: dir, Methods: []string{"map"}}) {
		seeds[r.Table.Name]++
	}
	for _, d := range s.Datasets {
		table, err := d.Load(dir)
		require.NoError(t, err)
		w := want[d.Name]
		n, dim := table.X.Dims()
		assert.Equal(t, [3]int{w.rows, w.dim, w.splits}, [3]int{n, dim, len(table.Test)}, d.Name)
		assert.InEpsilon(t, w.mean, stat.Mean(table.Y, nil), 1e-5, d.Name)
		train, test := table.split(1)
		assert.Len(t, train, w.rows-len(test), d.Name)
		assert.InDelta(t, float64(w.rows)/10, len(test), 2, d.Name)
	}
	assert.Equal(t, map[string]int{
		"yacht": 20, "boston": 20, "energy": 20, "concrete": 20, "wine_red": 20, "kin8nm": 5, "power": 5, "naval": 5, "protein": 5,
	}, seeds)
}
