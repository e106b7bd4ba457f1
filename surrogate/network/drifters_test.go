package network_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/network"
)

// drifters reads velocities of the Gulf of Mexico (docs/benchmarks/data.md). A row has two coordinates
// in 100 km and the component.
func drifters(t *testing.T, file string) (x *mat.Dense, y []float64) {
	const dir = "../../../shared/data"
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no data: ", err)
	}
	f, err := os.Open(filepath.Join(dir, "gulf_drifters", file))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	const lon, lat, degree = -87.3, 25.75, 1.112
	var points []float64
	for _, row := range rows[1:] {
		var v [4]float64
		for i := range v {
			v[i], err = strconv.ParseFloat(row[i], 64)
			require.NoError(t, err)
		}
		east, north := (v[0]-lon)*degree*math.Cos(lat*math.Pi/180), (v[1]-lat)*degree
		points = append(points, east, north, 0, east, north, 1)
		y = append(y, v[2], v[3])
	}
	return mat.NewDense(len(y), 3, points), y
}

// The networks of the papers on function-space priors, grad Φ + rot Ψ, predict the currents of the
// Gulf of Mexico from 20 drifters. A network of Ψ alone has no divergence.
func TestHelmholtzNetworkOfDrifters(t *testing.T) {
	if testing.Short() {
		t.Skip("fits networks for seconds")
	}
	x, y := drifters(t, "train.csv")
	grid, velocity := drifters(t, "test.csv")
	require.Len(t, y, 40)
	require.Len(t, velocity, 1088)
	d := surrogate.Dataset{X: x, Y: y, Lo: []float64{-3.5, -2, 0}, Hi: []float64{3.6, 2, 1}}
	part := network.FullyConnected([]int{50, 50}, network.Tanh, 1)
	fit := func(a network.Architecture, kernel string) surrogate.Posterior {
		model := surrogate.Scaled{Inputs: surrogate.Raw, Model: fsplaplace.Model{
			Spec: prior.Spec{Kernel: kernel, Mean: prior.MeanZero}, Network: surrogate.Network{Architecture: a},
		}}
		p, err := model.Fit(t.Context(), d, rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		require.Empty(t, p.Warnings())
		return p
	}
	n := len(velocity)
	mean, variance := make([]float64, n), make([]float64, n)

	// The papers report a squared error of 0.0169 for fsp-laplace and of 0.0131 for the exact process.
	p := fit(network.Helmholtz(part, part), "potential + stream")
	p.Predict(mean, variance, grid)
	var squares, inside float64
	for i, v := range velocity {
		squares += (v - mean[i]) * (v - mean[i]) / float64(n)
		if math.Abs(v-mean[i]) < 1.645*math.Sqrt(variance[i]+p.Noise()) {
			inside += 1 / float64(n)
		}
	}
	t.Logf("squared error %.4f, %.0f %% of the velocities in their 90 %% intervals", squares, 100*inside)
	require.Less(t, squares, 0.0145)
	require.Greater(t, inside, 0.75)

	p = fit(network.Helmholtz(nil, part), "stream")
	dmean, dvariance := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	p.PredictGrad(mean, variance, dmean, dvariance, grid)
	var divergence, rotation float64
	for i := 0; i < n; i += 2 {
		divergence = max(divergence, math.Abs(dmean.At(i, 0)+dmean.At(i+1, 1)))
		rotation = max(rotation, math.Abs(dmean.At(i+1, 0)-dmean.At(i, 1)))
	}
	require.Less(t, divergence, 1e-8*rotation)
}
