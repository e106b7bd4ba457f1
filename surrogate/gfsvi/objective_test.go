package gfsvi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// small returns an objective with a small network of two inputs.
func small(hidden ...int) *objective {
	return &objective{
		net:     &nn.Network{In: 2, Hidden: hidden},
		inputs:  domain.Affine{Shift: []float64{0.5, 0.5}, Scale: []float64{2, 3}},
		process: prior.Process{Kernel: prior.Matern52(2).WithParams([]float64{0.4, 0.7}), Mean: 0.3},
		gamma:   1e-3,
	}
}

// The gradient of the objective is correct: for m through f and through J(m), log s, U and
// log σ, with and without observations among the measurement points.
func TestObjectiveGradient(t *testing.T) {
	rng := random.New(1, "objective", 0)
	for _, hidden := range [][]int{{}, {5}, {4, 3}} {
		for _, rank := range []int{0, 2} {
			for _, measure := range []int{5, 7, 9} {
				o := small(hidden...)
				p := o.net.NumParams()
				v := variational.NewLowRank(p, rank)
				for i := range v.Vector {
					v.Vector[i] = 0.4 * rng.NormFloat64()
				}
				b := batch{x: space.Uniform(9, 2, rng), measure: measure, y: []float64{0.1, -0.4, 1.2, 0.6}, weight: 2.5}
				grad := variational.NewLowRank(p, rank)
				_, err := o.eval(v, b, grad)
				require.NoError(t, err)
				value := func(at []float64) float64 {
					f, err := o.eval(v.With(at), b, nil)
					require.NoError(t, err)
					return f
				}
				require.NoError(t, gradcheck.Gradient(value, v.Vector, grad.Vector, 1e-5), "%v, rank %d, %d measured", hidden, rank, measure)
			}
		}
	}
}

// The mean over batches of half the rows, each with weight 2, is the full objective.
func TestBatchesAverageToTheWhole(t *testing.T) {
	rng := random.New(2, "batches", 0)
	o := small(4)
	v := variational.NewLowRank(o.net.NumParams(), 1)
	for i := range v.Vector {
		v.Vector[i] = 0.3 * rng.NormFloat64()
	}
	x := space.Uniform(8, 2, rng) // 4 measurement points, 4 observations
	y := []float64{1, 2, 3, 4}
	rows := func(k ...int) *mat.Dense {
		out := mat.NewDense(len(k), 2, nil)
		for i, r := range k {
			out.SetRow(i, x.RawRowView(r))
		}
		return out
	}
	eval := func(b batch) float64 {
		f, err := o.eval(v, b, nil)
		require.NoError(t, err)
		return f
	}
	whole := eval(batch{x: x, measure: 4, y: y, weight: 1})
	half := eval(batch{x: rows(0, 1, 2, 3, 4, 5), measure: 4, y: y[:2], weight: 2})
	other := eval(batch{x: rows(0, 1, 2, 3, 6, 7), measure: 4, y: y[2:], weight: 2})
	require.InDelta(t, whole, (half+other)/2, 1e-9)
}
