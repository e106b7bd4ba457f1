package prior

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// The covariance of derivatives of a function with kernel s² exp(-|d|²/2ℓ²), s = ℓ,
// by mixed differences.
func TestVelocityDerivesFromItsFunction(t *testing.T) {
	const ell, h = 0.7, 1e-3
	of := func(ax, ay, bx, by float64) float64 {
		return ell * ell * math.Exp(-((ax-bx)*(ax-bx)+(ay-by)*(ay-by))/(2*ell*ell))
	}
	mixed := func(a, b [2]float64, i, j int) float64 {
		var di, dj [2]float64
		di[i], dj[j] = h, h
		at := func(s, t float64) float64 {
			return of(a[0]+s*di[0], a[1]+s*di[1], b[0]+t*dj[0], b[1]+t*dj[1])
		}
		return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * h * h)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		a, b := [2]float64{rng.NormFloat64(), rng.NormFloat64()}, [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		for i := range 2 {
			for j := range 2 {
				x := mat.NewDense(1, 3, []float64{a[0], a[1], float64(i)})
				y := mat.NewDense(1, 3, []float64{b[0], b[1], float64(j)})
				got := mat.NewDense(1, 1, nil)
				Potential().WithParams([]float64{ell}).Cross(got, x, y)
				require.InDelta(t, mixed(a, b, i, j), got.At(0, 0), 1e-5)
				// rot Ψ = (∂₂Ψ, -∂₁Ψ)
				sign := 1.0
				if i != j {
					sign = -1
				}
				Stream().WithParams([]float64{ell}).Cross(got, x, y)
				require.InDelta(t, sign*mixed(a, b, 1-i, 1-j), got.At(0, 0), 1e-5)
			}
		}
	}
}

// The curl of a gradient field and the divergence of a rotation field have no covariance
// with the field.
func TestVelocityHasNoCurlOrDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	y := points(rng, 1, 3)
	slopes := func(k Kernel, p []float64, c float64) (dx, dy float64) {
		g := mat.NewDense(1, 3, nil)
		k.CrossVJP(g, mat.NewDense(1, 3, []float64{p[0], p[1], c}), y, mat.NewDense(1, 1, []float64{1}))
		return g.At(0, 0), g.At(0, 1)
	}
	for range 10 {
		p := []float64{rng.Float64(), rng.Float64()}
		_, uy := slopes(Potential(), p, 0)
		vx, _ := slopes(Potential(), p, 1)
		require.InDelta(t, 0, vx-uy, 1e-12)
		ux, _ := slopes(Stream(), p, 0)
		_, vy := slopes(Stream(), p, 1)
		require.InDelta(t, 0, ux+vy, 1e-12)
	}
}
