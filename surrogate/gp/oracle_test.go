package gp_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// testdata/gp/posterior.py computes the numbers with scikit-learn.
func TestAgainstScikitLearn(t *testing.T) {
	var oracle struct {
		Cases []struct {
			Kernel      string
			Mean, Noise float64
			X, At       [][]float64
			Y           []float64
			PostMean    []float64   `json:"posterior_mean"`
			PostSD      []float64   `json:"posterior_sd"`
			PostCov     [][]float64 `json:"posterior_cov"`
			LogMarginal float64     `json:"log_marginal"`
			LOOMean     []float64   `json:"loo_mean"`
			LOOSD       []float64   `json:"loo_sd"`
		}
	}
	read(t, "posterior.json", &oracle)
	require.Len(t, oracle.Cases, 6)
	for _, c := range oracle.Cases {
		t.Run(c.Kernel, func(t *testing.T) {
			x, at := dense(c.X), dense(c.At)
			n, dim := x.Dims()
			m := len(c.At)
			kernel, err := prior.Parse(c.Kernel, dim)
			require.NoError(t, err)
			post, err := gp.New(prior.Process{Kernel: kernel, Mean: c.Mean, Noise: c.Noise}, surrogate.Dataset{X: x, Y: c.Y})
			require.NoError(t, err)

			const tol = 1e-9
			mean, variance, jointMean, cov := make([]float64, m), make([]float64, m), make([]float64, m), mat.NewSymDense(m, nil)
			post.Predict(mean, variance, at)
			post.Joint(jointMean, cov, at)
			for i := range m {
				require.InDelta(t, c.PostMean[i], mean[i], tol)
				require.InDelta(t, c.PostMean[i], jointMean[i], tol)
				require.InDelta(t, c.PostSD[i]*c.PostSD[i], variance[i], tol)
				for j := range m {
					require.InDelta(t, c.PostCov[i][j], cov.At(i, j), tol)
				}
			}
			require.InDelta(t, c.LogMarginal, post.(surrogate.Evidence).LogMarginalLikelihood(), 1e-8)
			loo, looVariance := make([]float64, n), make([]float64, n)
			post.(surrogate.LeaveOneOut).LeaveOneOut(loo, looVariance)
			for i := range n {
				require.InDelta(t, c.LOOMean[i], loo[i], 1e-8)
				require.InDelta(t, c.LOOSD[i]*c.LOOSD[i], looVariance[i], 1e-8)
			}
		})
	}
}

// Exact observations, some of them 1e-9 apart, with the smallest noise variance of a
// fit. testdata/gp/exact.py computes the numbers with mpmath. The tolerance is the
// rounding error of the factor, n·2⁻⁵²·variance/noise, for 24 observations and a
// variance of 12.
func TestExactObservations(t *testing.T) {
	var oracle struct {
		Cases []struct {
			Kernel           string
			Theta, Y         []float64
			X, At            [][]float64
			Mean, Variance   []float64
			DMean, DVariance [][]float64
			LogMarginal      float64 `json:"log_marginal"`
		}
	}
	read(t, "exact.json", &oracle)
	require.Len(t, oracle.Cases, 6)
	for _, c := range oracle.Cases {
		t.Run(c.Kernel, func(t *testing.T) {
			x, at := dense(c.X), dense(c.At)
			n, dim := x.Dims()
			m, last := len(c.At), len(c.Theta)-1
			kernel, err := prior.Parse(c.Kernel, dim)
			require.NoError(t, err)
			p := prior.Process{Kernel: kernel.WithParams(c.Theta[:last]), Noise: c.Theta[last]}
			all, err := gp.New(p, surrogate.Dataset{X: x, Y: c.Y})
			require.NoError(t, err)
			most, err := gp.New(p, surrogate.Dataset{X: mat.DenseCopyOf(x.Slice(0, n-2, 0, dim)), Y: c.Y[:n-2]})
			require.NoError(t, err)
			// The last rows differ by 1e-9 from earlier rows.
			extended, err := most.(surrogate.Conditioner).Condition(mat.DenseCopyOf(x.Slice(n-2, n, 0, dim)), c.Y[n-2:])
			require.NoError(t, err)

			tol := 24 * 0x1p-52 * 12 / p.Noise
			for _, post := range []surrogate.Posterior{all, extended} {
				require.Empty(t, post.Warnings())
				require.InDelta(t, c.LogMarginal, post.(surrogate.Evidence).LogMarginalLikelihood(), tol)
				mean, variance, dmean, dvariance := make([]float64, m), make([]float64, m), mat.NewDense(m, dim, nil), mat.NewDense(m, dim, nil)
				post.PredictGrad(mean, variance, dmean, dvariance, at)
				for i, v := range c.Variance {
					require.InDelta(t, c.Mean[i], mean[i], tol*math.Sqrt(v))
					require.InEpsilon(t, v, variance[i], tol)
					for j := range dim {
						require.InDelta(t, c.DMean[i][j], dmean.At(i, j), tol*(1+math.Abs(c.DMean[i][j])))
						require.InDelta(t, c.DVariance[i][j], dvariance.At(i, j), tol*(v+math.Abs(c.DVariance[i][j])))
					}
				}
			}
		})
	}
}

// read decodes a file of testdata/gp.
func read(t *testing.T, name string, into any) {
	text, err := os.ReadFile("../../testdata/gp/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func dense(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	return x
}
