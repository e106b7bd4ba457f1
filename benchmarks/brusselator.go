package benchmarks

import (
	"math"
	"math/rand/v2"
)

// Brusselator is the pattern-formation task of the FSP-Laplace paper (after Li et al.
// 2024): the variance of the concentrations u and v at t = 20 of
//
//	∂u/∂t = d0 Δu + a - (b+1) u + u² v
//	∂v/∂t = d1 Δv + b u - u² v
//
// on a 64×64 grid of spacing 1 without flux through the border, over a, b ∈ [0.1,5]
// and d0, d1 ∈ [0.01,5]. The initial state is u = a and v = b/a + 0.1 N(0,1) in each
// cell. Values outside the two outermost rows and columns are multiplied by 0.1, and
// values that are not finite become 10⁵ N(0,1); the result is the unbiased variance
// of all 2·64² numbers.
//
// The initial noise makes the objective noisy by about one per cent. The noise
// depends on the seed, the point and the number of evaluations at the point, as in
// Noisy. The minimum is unknown; values near 0.0086 occur about a = 0.316, b = 0.1.
// The source maximises the negative. A call takes 0.05 to 0.3 s.
func Brusselator(seed uint64) Objective {
	noise := newRepeats(seed, "brusselator")
	return Objective{
		Name:    "brusselator",
		Summary: "variance of the pattern of a reaction-diffusion equation",
		Minimum: math.NaN(),
		Func: func(x []float64) float64 {
			rng := noise.next(x)
			initial := make([]float64, grid*grid)
			for i := range initial {
				initial[i] = rng.NormFloat64()
			}
			return brusselator(x, initial, timeStep(x), rng)
		},
	}.inBox([]float64{0.1, 0.1, 0.01, 0.01}, []float64{5, 5, 5, 5}, "a", "b", "d0", "d1")
}

const (
	grid   = 64
	stride = grid + 2 // a border of copies makes the flux through it zero
	endT   = 20
)

// timeStep returns the step of the explicit Euler scheme: 1e-3, as in the source, if
// the homogeneous state (a, b/a) is unstable by oscillation (b > 1+a²) or by
// diffusion (b > (1+a√(d0/d1))²). Otherwise the field settles, and 5e-3 gives the
// same value.
func timeStep(x []float64) float64 {
	a, b, mixed := x[0], x[1], 1+x[0]*math.Sqrt(x[2]/x[3])
	if b > 1+a*a || b > mixed*mixed {
		return 1e-3
	}
	return 5e-3
}

// brusselator returns the weighted variance at endT for x = (a, b, d0, d1) by
// explicit Euler steps. initial holds standard normal numbers.
func brusselator(x, initial []float64, dt float64, rng *rand.Rand) float64 {
	u, v := concentrations(x, initial, dt)
	values := make([]float64, 0, 2*grid*grid)
	for _, field := range [][]float64{u, v} {
		for i := range grid {
			for j := range grid {
				c := field[(i+1)*stride+j+1]
				if math.IsNaN(c) || math.IsInf(c, 0) {
					c = 1e5 * rng.NormFloat64()
				}
				if edge := min(i, j, grid-1-i, grid-1-j); edge >= 2 {
					c *= 0.1
				}
				values = append(values, c)
			}
		}
	}
	var mean, squares float64
	for _, c := range values {
		mean += c / float64(len(values))
	}
	for _, c := range values {
		squares += (c - mean) * (c - mean)
	}
	return squares / float64(len(values)-1)
}

// concentrations returns u and v at endT with a border of one cell.
func concentrations(x, initial []float64, dt float64) (u, v []float64) {
	a, b, d0, d1 := x[0], x[1], x[2], x[3]
	u, v = make([]float64, stride*stride), make([]float64, stride*stride)
	for i := range grid {
		for j := range grid {
			k := (i+1)*stride + j + 1
			u[k], v[k] = a, b/a+0.1*initial[i*grid+j]
		}
	}
	nextU, nextV := make([]float64, stride*stride), make([]float64, stride*stride)
	for range int(math.Round(endT / dt)) {
		copyBorder(u)
		copyBorder(v)
		for i := 1; i <= grid; i++ {
			k := i * stride
			upU, midU, downU, outU := u[k-stride:k], u[k:k+stride], u[k+stride:k+2*stride], nextU[k:k+stride]
			upV, midV, downV, outV := v[k-stride:k], v[k:k+stride], v[k+stride:k+2*stride], nextV[k:k+stride]
			for j := 1; j <= grid; j++ {
				p, q := midU[j], midV[j]
				reaction := p * p * q
				lapU := upU[j] + downU[j] + midU[j-1] + midU[j+1] - 4*p
				lapV := upV[j] + downV[j] + midV[j-1] + midV[j+1] - 4*q
				outU[j] = p + dt*(d0*lapU+a-(b+1)*p+reaction)
				outV[j] = q + dt*(d1*lapV+b*p-reaction)
			}
		}
		u, nextU, v, nextV = nextU, u, nextV, v
	}
	return u, v
}

// copyBorder copies the outermost cells of a field to its border.
func copyBorder(f []float64) {
	copy(f, f[stride:2*stride])
	copy(f[(grid+1)*stride:], f[grid*stride:(grid+1)*stride])
	for k := 0; k < len(f); k += stride {
		f[k], f[k+grid+1] = f[k+1], f[k+grid]
	}
}
