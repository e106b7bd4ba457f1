package acquisition_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Gradients agree with finite differences for an exact GP, with pending points.
func TestGradientsOnGP(t *testing.T) {
	p := fitted(t, gp.Model{}, bowl, 15, 3)
	p.Pending = space.Sobol(2, 3, rng(8))
	for _, c := range []struct {
		a acquisition.Acquisition
		q int
	}{{acquisition.LogEI{}, 1}, {acquisition.LCB{}, 1}, {acquisition.MES{}, 1}, {acquisition.Thompson{}, 1}, {acquisition.QLogEI{Samples: 64}, 2}, {acquisition.LogNEI{Samples: 64}, 1}} {
		f, err := c.a.Build(t.Context(), p, c.q, rng(1))
		require.NoError(t, err)
		x := space.Sobol(4, f.Dim(), rng(6))
		value, grad := make([]float64, 4), mat.NewDense(4, f.Dim(), nil)
		f.Eval(value, grad, x)
		for i := range value {
			g := mat.Row(nil, i, grad)
			for j := range g {
				g[j] /= 50
			}
			at := func(u []float64) float64 {
				y, v := mat.Row(nil, i, x), make([]float64, 1)
				for j := range y {
					y[j] += u[j] / 50
				}
				f.Eval(v, nil, mat.NewDense(1, len(y), y))
				return v[0]
			}
			require.NoError(t, gradcheck.Gradient(at, make([]float64, len(g)), g, 1e-5), "%T row %d", c.a, i)
		}
	}
}

// The default options find the same maximum as eight times the effort. The data of the posterior concentrate
// around the optimum, as at the end of a run.
func TestDefaultEffortIsEnough(t *testing.T) {
	p := fitted(t, gp.Model{}, bowl, 20, 4)
	s := unitBox(t, 4)
	for step := range 12 {
		got, err := acquisition.Suggest(t.Context(), acquisition.LogEI{}, p, s, 1, acquisition.MaximizeOptions{}, rng(uint64(step)))
		require.NoError(t, err)
		if step%4 == 3 {
			more, err := acquisition.Suggest(t.Context(), acquisition.LogEI{}, p, s, 1, acquisition.MaximizeOptions{Raw: 8192, Starts: 160}, rng(99))
			require.NoError(t, err)
			assert.InDelta(t, more[0].Value, got[0].Value, 0.02, "step %d", step)
		}
		x, y := mat.NewDense(1, 4, got[0].X), []float64{got[0].Mean - got[0].SD}
		q, err := p.Posterior.(surrogate.Conditioner).Condition(x, y)
		require.NoError(t, err)
		var all mat.Dense
		all.Stack(p.Observed, x)
		p = acquisition.Problem{Posterior: q, Best: min(p.Best, y[0]), Observed: &all}
	}
}

// Suggest reports its progress through a batch.
func TestProgress(t *testing.T) {
	p := fitted(t, gp.Model{}, bowl, 8, 2)
	var seen []surrogate.Progress
	ctx := surrogate.WithProgress(t.Context(), func(r surrogate.Progress) { seen = append(seen, r) })
	_, err := acquisition.Suggest(ctx, acquisition.LogEI{}, p, unitBox(t, 2), 2, acquisition.MaximizeOptions{Raw: 64, Starts: 2}, rng(1))
	require.NoError(t, err)
	assert.Equal(t, []surrogate.Progress{{Phase: "acquisition", Done: 0, Total: 2}, {Phase: "acquisition", Done: 1, Total: 2}}, seen)
}
