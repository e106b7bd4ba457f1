package families

import (
	"math"
	"math/rand/v2"
)

func nonStationary() []Family {
	return []Family{
		{
			Name: "half-rough", Class: NonStationary, Summary: "smooth on one side of the box and rippled on the other", Dims: []int{2, 6},
			build: func(d *drawing) part {
				w, across, period := d.weights(d.dim, 10), d.rotation(1, d.dim)[0], d.between(0.7, 1.5)
				height, edge := d.between(5, 20), d.between(-1, 1)
				p := d.aligned(nil)
				r := d.rotation(d.dim, d.dim)
				p.f = func(x []float64) float64 {
					z := times(r, minus(x, p.at))
					gate := 1 / (1 + math.Exp(-3*(dot(across, x)-edge)))
					return rippled(z, w, period, gate*height)
				}
				return p
			},
		},
		{
			Name: "chirp", Class: NonStationary, Summary: "ripples whose frequency grows with the distance", Dims: []int{3, 5},
			build: func(d *drawing) part {
				rate, height := d.between(0.1, 0.25), d.between(1, 3)
				return d.rotated(func(z []float64) float64 {
					sum := 0.2 * dot(z, z)
					for _, v := range z {
						sum += height * ripple(rate*v*math.Sqrt(math.Abs(v)))
					}
					return sum
				})
			},
		},
		{
			Name: "canyon", Class: NonStationary, Summary: "wide bowl with a narrow canyon through the minimum", Dims: []int{2, 4},
			build: func(d *drawing) part {
				width, depth := d.between(0.2, 0.6), d.between(2, 6)
				return d.rotated(func(z []float64) float64 {
					return 0.2*dot(z, z) - depth*math.Expm1(-z[0]*z[0]/(2*width*width))
				})
			},
		},
		{
			Name: "warped", Class: NonStationary, Summary: "quadratic of coordinates that are warped towards bounds", Dims: []int{3, 8},
			build: func(d *drawing) part {
				w, r := d.weights(d.dim, 10), d.rotation(d.dim, d.dim)
				a, b := d.each(d.dim, -1.2, 1.2), d.each(d.dim, -1.2, 1.2)
				warp := func(x []float64) []float64 {
					t := make([]float64, len(x))
					for i, v := range x {
						u := min(max((v+side)/(2*side), 0), 1)
						t[i] = 10 * (1 - math.Pow(1-math.Pow(u, math.Exp(a[i])), math.Exp(b[i]))) // Kumaraswamy (1980)
					}
					return t
				}
				p := d.aligned(nil)
				zero := warp(p.at)
				p.f = func(x []float64) float64 { return square(w, times(r, minus(warp(x), zero))) }
				return p
			},
		},
	}
}

// active returns how many of dim coordinates matter.
func active(dim int) int { return min(dim, 2+dim/10) }

// onFew returns core of the differences from the minimum in a few random coordinates.
func (d *drawing) onFew(core func(z []float64) float64) part {
	which := d.rng.Perm(d.dim)[:active(d.dim)]
	return d.aligned(func(z []float64) float64 {
		few := make([]float64, len(which))
		for i, j := range which {
			few[i] = z[j]
		}
		return core(few)
	})
}

func fewActive() []Family {
	return []Family{
		{
			Name: "sparse-valley", Class: FewActive, Summary: "curved valley of few coordinates", Dims: []int{6, 10},
			build: func(d *drawing) part {
				width := d.between(2, 4)
				return d.onFew(func(z []float64) float64 { return valley(z, width) })
			},
		},
		{
			Name: "sparse-ripples", Class: FewActive, Summary: "rippled bowl of few coordinates", Dims: []int{5, 10},
			build: func(d *drawing) part {
				k := active(d.dim)
				w, r, period, height := d.weights(k, 10), d.rotation(k, k), d.between(2, 4), d.between(2, 10)
				return d.onFew(func(z []float64) float64 { return rippled(times(r, z), w, period, height) })
			},
		},
		{
			Name: "subspace", Class: FewActive, Summary: "bowl in a random plane through the minimum", Dims: []int{5, 8},
			build: func(d *drawing) part {
				k := active(d.dim)
				w, r := d.weights(k, 30), d.rotation(k, d.dim)
				return d.aligned(func(z []float64) float64 { return square(w, uneven(times(r, z))) })
			},
		},
		{
			Name: "decay", Class: FewActive, Summary: "every coordinate matters less than the one before", Dims: []int{6, 10},
			build: func(d *drawing) part {
				w, order, power := make([]float64, d.dim), d.rng.Perm(d.dim), d.between(1, 2)
				for i, j := range order {
					w[j] = math.Pow(5, -float64(i))
				}
				return d.aligned(func(z []float64) float64 {
					var sum float64
					for i, v := range z {
						sum += w[i] * math.Pow(math.Abs(v), power)
					}
					return sum
				})
			},
		},
	}
}

func noisy() []Family {
	bowl := func(d *drawing) part {
		w := d.weights(d.dim, 10)
		return d.rotated(func(z []float64) float64 { return square(w, z) })
	}
	return []Family{
		{
			Name: "noise-level", Class: Noise, Summary: "quadratic with Gaussian noise that grows with the value", Dims: []int{2, 6},
			build: bowl,
			noise: func(_ []float64, f float64, rng *rand.Rand) float64 { return f + (0.02+0.4*f)*rng.NormFloat64() },
		},
		{
			Name: "noise-side", Class: Noise, Summary: "bent quadratic with Gaussian noise that grows along the first coordinate", Dims: []int{3, 5},
			build: func(d *drawing) part {
				w, bend := d.weights(d.dim, 10), d.between(0.1, 0.2)
				return d.rotated(func(z []float64) float64 {
					z[0] += bend * dot(z[1:], z[1:]) / float64(d.dim-1)
					return square(w, z)
				})
			},
			noise: func(x []float64, f float64, rng *rand.Rand) float64 {
				return f + (0.01+0.5/(1+math.Exp(-x[0])))*rng.NormFloat64()
			},
		},
		{
			Name: "noise-tails", Class: Noise, Summary: "quadratic with noise of Student's t distribution, two degrees of freedom", Dims: []int{3, 8},
			build: bowl,
			noise: func(_ []float64, f float64, rng *rand.Rand) float64 {
				// χ² with two degrees of freedom is twice an exponential variable.
				return f + 0.1*rng.NormFloat64()/math.Sqrt(rng.ExpFloat64())
			},
		},
		{
			Name: "noise-outliers", Class: Noise, Summary: "norm with little noise, and in a tenth of the evaluations a far too large value", Dims: []int{2, 4},
			build: func(d *drawing) part {
				w := d.weights(d.dim, 10)
				return d.rotated(func(z []float64) float64 { return math.Sqrt(square(w, z)) })
			},
			noise: func(_ []float64, f float64, rng *rand.Rand) float64 {
				e := 0.03 * rng.NormFloat64()
				if rng.Float64() < 0.1 {
					e += 5 * math.Abs(rng.NormFloat64())
				}
				return f + e
			},
		},
	}
}

func wide() []Family {
	dims := []int{20}
	return []Family{
		{
			Name: "wide-ellipsoid", Class: Wide, Summary: "rotated quadratic of condition 100 with 20 inputs", Dims: dims,
			build: func(d *drawing) part {
				w := d.weights(d.dim, 100)
				return d.rotated(func(z []float64) float64 { return square(w, z) })
			},
		},
		{
			Name: "wide-valley", Class: Wide, Summary: "curved valley with 20 inputs", Dims: dims,
			build: func(d *drawing) part {
				width := d.between(4, 8)
				return d.rotated(func(z []float64) float64 { return valley(z, width) })
			},
		},
		{
			Name: "wide-ripples", Class: Wide, Summary: "rotated rippled bowl with 20 inputs", Dims: dims,
			build: func(d *drawing) part {
				w, period, height := d.weights(d.dim, 10), d.between(2, 5), d.between(2, 8)
				return d.rotated(func(z []float64) float64 { return rippled(z, w, period, height) })
			},
		},
		{
			Name: "wide-sparse", Class: Wide, Summary: "rotated quadratic of four of 20 inputs", Dims: dims,
			build: func(d *drawing) part {
				k := active(d.dim)
				w, r := d.weights(k, 30), d.rotation(k, k)
				return d.onFew(func(z []float64) float64 { return square(w, uneven(times(r, z))) })
			},
		},
	}
}
