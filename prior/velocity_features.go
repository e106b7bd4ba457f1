package prior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// flow has the features of a velocity kernel, velocities of plane waves:
//
//	√(v/m) (n·ω_i) sin(ω_i·p/ℓ) and √(v/m) (n·ω_i) cos(ω_i·p/ℓ),  ω_i ~ N(0,I), i ≤ m.
//
// Their covariance is v E (n·ω)(n'·ω) cos(ω·(p-p')/ℓ) = v k on average.
type flow struct {
	kernel velocity
	omega  [][2]float64
	scale  float64 // √(v/m)
}

func newFlow(k velocity, variance float64, n int, rng *rand.Rand) flow {
	f := flow{kernel: k, omega: make([][2]float64, (n+1)/2)}
	for i := range f.omega {
		f.omega[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	f.scale = math.Sqrt(variance / float64(len(f.omega)))
	return f
}

func (f flow) Dim() int { return velocityInputs }
func (f flow) Len() int { return 2 * len(f.omega) }

func (f flow) Eval(phi, x *mat.Dense) {
	inverse := f.kernel.inverse()
	for i := range x.RawMatrix().Rows {
		row, at := phi.RawRowView(i), x.RawRowView(i)
		n, _ := f.kernel.along(at)
		for j, w := range f.omega {
			sin, cos := math.Sincos((w[0]*at[0] + w[1]*at[1]) * inverse)
			amplitude := f.scale * (n[0]*w[0] + n[1]*w[1])
			row[2*j], row[2*j+1] = amplitude*sin, amplitude*cos
		}
	}
}

func (f flow) EvalVJP(dx, x, phibar *mat.Dense) {
	inverse := f.kernel.inverse()
	for i := range x.RawMatrix().Rows {
		row, at, bar := dx.RawRowView(i), x.RawRowView(i), phibar.RawRowView(i)
		n, dn := f.kernel.along(at)
		for j, w := range f.omega {
			sin, cos := math.Sincos((w[0]*at[0] + w[1]*at[1]) * inverse)
			slope := f.scale * inverse * (n[0]*w[0] + n[1]*w[1]) * (bar[2*j]*cos - bar[2*j+1]*sin)
			row[0] += slope * w[0]
			row[1] += slope * w[1]
			row[2] += f.scale * (dn[0]*w[0] + dn[1]*w[1]) * (bar[2*j]*sin + bar[2*j+1]*cos)
		}
	}
}
