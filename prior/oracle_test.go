package prior

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

type oracle struct {
	X, Y   [][]float64
	Target []float64
	Noise  float64
	Mean   float64
	Cases  []struct {
		Kernel      string
		Theta       []float64
		Gram, Cross [][]float64
		LogMarginal float64 `json:"log_marginal"`
		Gradient    []float64
	}
	Densities []struct {
		Theta            float64
		LogNormal, Gamma [3]float64
	}
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

// The numbers come from mpmath, scikit-learn, GPyTorch and SciPy:
// testdata/prior/oracle.py.
func TestOracle(t *testing.T) {
	text, err := os.ReadFile("../testdata/prior/oracle.json")
	require.NoError(t, err)
	var o oracle
	require.NoError(t, json.Unmarshal(text, &o))
	x, y, n := dense(o.X), dense(o.Y), len(o.X)
	for _, c := range o.Cases {
		t.Run(c.Kernel, func(t *testing.T) {
			k := parsed(t, c.Kernel, 2).WithParams(c.Theta)
			gram, cross := mat.NewSymDense(n, nil), mat.NewDense(n, len(o.Y), nil)
			k.Gram(gram, x)
			k.Cross(cross, x, y)
			require.True(t, mat.EqualApprox(dense(c.Gram), gram, 1e-13))
			require.True(t, mat.EqualApprox(dense(c.Cross), cross, 1e-13))

			p := Process{Kernel: k, Mean: o.Mean, Noise: o.Noise}
			got, err := p.LogMarginal(x, o.Target)
			require.NoError(t, err)
			require.InDelta(t, c.LogMarginal, got, 1e-9)

			// The gradient of the fit, without hyperpriors.
			shifted := make([]float64, n)
			for i, v := range o.Target {
				shifted[i] = v - o.Mean
			}
			m := model{kernel: k, params: append(k.Params(), Param{Name: "noise", Value: o.Noise})}
			var logs []float64
			for i := range m.params {
				m.params[i].Prior = nil
				m.free = append(m.free, i)
				logs = append(logs, math.Log(m.params[i].Value))
			}
			grad := make([]float64, len(logs))
			loss := newObjective(m, observations{x: x, y: shifted}).loss(context.Background(), logs, grad)
			require.InDelta(t, -c.LogMarginal, loss, 1e-9)
			for i := range grad {
				require.InDelta(t, -c.Gradient[i], grad[i], 1e-9*(1+math.Abs(grad[i])))
			}
		})
	}
	for _, d := range o.Densities {
		lp, _ := LogNormal{d.LogNormal[0], d.LogNormal[1]}.LogProb(d.Theta)
		require.InDelta(t, d.LogNormal[2], lp, 1e-12)
		lp, _ = Gamma{d.Gamma[0], d.Gamma[1]}.LogProb(d.Theta)
		require.InDelta(t, d.Gamma[2], lp, 1e-12)
	}
}

// BoTorch's default model has the same hyperpriors and objective.
func TestFitAgainstBoTorch(t *testing.T) {
	text, err := os.ReadFile("../testdata/prior/map.json")
	require.NoError(t, err)
	var o struct {
		Cases []struct {
			X           [][]float64
			Y           []float64
			Lengthscale []float64
			Noise, Mean float64
			LogMarginal float64 `json:"log_marginal"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &o))
	for _, c := range o.Cases {
		fit, err := Spec{Kernel: "1*rbf"}.Fit(context.Background(), dense(c.X), c.Y, false, nil, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		for i, l := range c.Lengthscale {
			require.InEpsilon(t, l, fit.Hypers[1+i].Value, 2e-3)
		}
		require.InEpsilon(t, c.Noise, fit.Noise, 2e-3)
		require.InDelta(t, c.Mean, fit.Mean, 1e-3)
		require.InDelta(t, c.LogMarginal, fit.LogMarginal, 1e-3)
	}
}

// Exact observations with the noise at its lower bound: testdata/gp/exact.py computes the
// numbers with mpmath. The tolerance n·2⁻⁵²·variance/noise is the rounding error of the
// factor, for 24 observations and a variance of 12.
func TestExactObservations(t *testing.T) {
	text, err := os.ReadFile("../testdata/gp/exact.json")
	require.NoError(t, err)
	var o struct {
		Cases []struct {
			Kernel             string
			Theta, Y, Gradient []float64
			X                  [][]float64
			LogMarginal        float64 `json:"log_marginal"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &o))
	require.Len(t, o.Cases, 6)
	const tol = 24 * 0x1p-52 * 12 / noiseFreeFloor
	for _, c := range o.Cases {
		m, err := Spec{Kernel: c.Kernel, Mean: MeanZero}.model(len(c.X[0]), true)
		require.NoError(t, err)
		require.Equal(t, noiseFreeFloor, c.Theta[len(c.Theta)-1])
		logs, grad := make([]float64, len(c.Theta)), make([]float64, len(c.Theta))
		for i, v := range c.Theta {
			m.params[i].Prior = nil
			logs[i] = math.Log(v)
		}
		loss := newObjective(m, observations{x: dense(c.X), y: c.Y}).loss(context.Background(), logs, grad)
		require.InDelta(t, -c.LogMarginal, loss, tol, c.Kernel)
		for i := range grad {
			require.InDelta(t, -c.Gradient[i], grad[i], tol*(1+math.Abs(c.Gradient[i])), "%s, %s", c.Kernel, m.params[i].Name)
		}
	}
}
