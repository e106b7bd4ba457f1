package figures

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

func TestPredictions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	var records []runner.Record
	for _, method := range []string{"gp", "map", "svgp"} {
		records = append(records, runner.Record{
			Problem: "line", Method: method, Seed: 1, Score: &runner.Score{RMSE: 1, RMSERaw: 2, Noise: 0.1},
			Prediction: &runner.Prediction{
				Train: 2, X: [][]float64{{0, 2, 1, 3}}, Y: []float64{0, 2, 1, 3}, Mean: []float64{0, 2, 1, 30}, SD: []float64{0, 0, 1, 100},
			},
		}, runner.Record{Problem: "line", Method: method, Seed: 2})
	}
	paths, err := Predictions(records, dir)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "line.png"), filepath.Join(dir, "line.svg")}, paths)
	f, err := os.Open(paths[0])
	require.NoError(t, err)
	defer f.Close()
	_, err = png.Decode(f)
	require.NoError(t, err)
	svg, err := os.ReadFile(paths[1])
	require.NoError(t, err)
	require.Contains(t, string(svg), ">svgp<")

	records = records[:1]
	records[0].Problem = "plane"
	records[0].Prediction = &runner.Prediction{
		Train: 2, X: [][]float64{{0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 1, 1}, {0, 1, 0, 1, 0, 1}},
		Y: []float64{1, 1, 0, 1, 1, 0}, Mean: []float64{1, 1, 0, 0, 1, 1}, SD: []float64{0, 0, 1, 1, 2, 0},
	}
	paths, err = Predictions(records, dir)
	require.NoError(t, err)
	require.Len(t, paths, 2)

	records[0].Prediction.X = records[0].Prediction.X[:2]
	_, err = Predictions(records, dir)
	require.ErrorIs(t, err, ErrDraw)
}
