package fsplaplace

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Anchored moments and gradients equal the posterior's to the last bit, for few and for many
// observations.
func TestAnchor(t *testing.T) {
	for _, n := range []int{0, 12, 90} {
		rng := random.New(1, "anchor", n)
		d := surrogate.Dataset{X: space.Sobol(max(n, 5), 2, rng), Y: make([]float64, max(n, 5))}
		random.Normal(d.Y, rng)
		p, err := Model{Context: 60, Steps: 3}.Fit(t.Context(), d, rng)
		require.NoError(t, err)
		const anchors, m = 3, 7
		x := space.Uniform(m, 2, rng)
		a := surrogate.Anchor(p, x.Slice(0, anchors, 0, 2).(*mat.Dense))
		var mean, wantMean [m]float64
		cov, want := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
		p.Joint(wantMean[:], want, x)
		a.Joint(mean[:], cov, x)
		require.Equal(t, wantMean, mean)
		require.Equal(t, want.RawSymmetric().Data, cov.RawSymmetric().Data)

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
			require.Equal(t, wantDx.RawRowView(i), dx.RawRowView(i))
		}
	}
}
