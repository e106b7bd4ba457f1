package gp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Anchored moments and gradients equal the posterior's up to rounding, also at observed and repeated points.
func TestAnchor(t *testing.T) {
	for _, noise := range []float64{1e-8, 0.1} {
		for _, anchors := range []int{1, 3, 6} {
			rng := random.New(1, "anchor", anchors)
			d := surrogate.Dataset{X: space.Sobol(12, 2, rng), Y: make([]float64, 12)}
			random.Normal(d.Y, rng)
			p, err := New(process(2, noise), d)
			require.NoError(t, err)
			const m = 7
			x := space.Uniform(m, 2, rng)
			x.SetRow(0, d.X.RawRowView(4))
			x.SetRow(6, x.RawRowView(0))
			a := surrogate.Anchor(p, x.Slice(0, anchors, 0, 2).(*mat.Dense))
			var mean, wantMean [m]float64
			cov, want := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
			p.Joint(wantMean[:], want, x)
			a.Joint(mean[:], cov, x)
			require.InDeltaSlice(t, wantMean[:], mean[:], 1e-11)
			require.InDeltaSlice(t, want.RawSymmetric().Data, cov.RawSymmetric().Data, 1e-11)

			cbar := mat.NewSymDense(m, nil)
			for i := range m {
				for j := i; j < m; j++ {
					cbar.SetSym(i, j, rng.NormFloat64())
				}
			}
			dx, wantDx := mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
			p.JointVJP(wantDx, mean[:], cbar, x)
			a.JointVJP(dx, mean[:], cbar, x)
			for i := anchors; i < m; i++ {
				require.InDeltaSlice(t, wantDx.RawRowView(i), dx.RawRowView(i), 1e-9)
			}
		}
	}
}
