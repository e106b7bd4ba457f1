package families

import "math"

func separable() []Family {
	return []Family{
		{
			Name: "powers", Class: Separable, Summary: "sum of powers 1 to 4 of the coordinates", Dims: []int{3, 8},
			build: func(d *drawing) part {
				w, p := d.weights(d.dim, 100), d.each(d.dim, 1, 4)
				return d.aligned(func(z []float64) float64 {
					var sum float64
					for i, v := range z {
						sum += w[i] * math.Pow(math.Abs(v)/side, p[i])
					}
					return sum
				})
			},
		},
		{
			Name: "ripples", Class: Separable, Summary: "sum of rippled bowls of single coordinates", Dims: []int{2, 6},
			build: func(d *drawing) part {
				w, period, height := d.weights(d.dim, 10), d.each(d.dim, 0.8, 2.5), d.between(1, 10)
				return d.aligned(func(z []float64) float64 {
					sum := square(w, z)
					for i, v := range z {
						sum += height * ripple(v/period[i])
					}
					return sum
				})
			},
		},
		{
			Name: "slope", Class: Separable, Summary: "slope towards a corner of the box", Dims: []int{4, 10},
			build: func(d *drawing) part {
				w, at := d.weights(d.dim, 100), make([]float64, d.dim)
				for i := range at {
					at[i] = d.sign() * side
				}
				return part{at: at, f: func(x []float64) float64 {
					var sum float64
					for i, v := range x {
						sum += w[i] * math.Abs(v-at[i])
					}
					return sum
				}}
			},
		},
		{
			Name: "two-wells", Class: Separable, Summary: "two unequal wells in every coordinate", Dims: []int{3, 5},
			build: func(d *drawing) part {
				w, height := d.weights(d.dim, 4), d.each(d.dim, 0.02, 0.4)
				p := d.aligned(nil)
				other := make([]float64, d.dim)
				for i, v := range p.at {
					other[i] = math.Copysign(d.between(2, 4), -v) // inside the box
				}
				p.f = func(x []float64) float64 {
					var sum float64
					for i, z := range minus(x, p.at) {
						far := z - other[i]
						sum += w[i] * z * z * (far*far + height[i])
					}
					return sum
				}
				return p
			},
		},
	}
}

func moderate() []Family {
	return []Family{
		{
			Name: "ellipsoid", Class: Moderate, Summary: "rotated and bent quadratic of condition 100", Dims: []int{3, 8},
			build: func(d *drawing) part {
				w := d.weights(d.dim, 100)
				return d.rotated(func(z []float64) float64 { return square(w, uneven(z)) })
			},
		},
		{
			Name: "valley", Class: Moderate, Summary: "rotated curved valley", Dims: []int{2, 6},
			build: func(d *drawing) part {
				width := d.between(2, 4) * math.Max(1, math.Sqrt(float64(d.dim)/4))
				return d.rotated(func(z []float64) float64 { return valley(z, width) })
			},
		},
		{
			Name: "cone", Class: Moderate, Summary: "rotated norm of condition 30, with a kink at the minimum", Dims: []int{4, 10},
			build: func(d *drawing) part {
				w := d.weights(d.dim, 30)
				return d.rotated(func(z []float64) float64 {
					most := 0.0
					for _, v := range z {
						most = max(most, math.Abs(v))
					}
					return math.Sqrt(square(w, z)) + most
				})
			},
		},
		{
			Name: "banana", Class: Moderate, Summary: "rotated quadratic of condition 30, bent once", Dims: []int{2, 5},
			build: func(d *drawing) part {
				w, bend := d.weights(d.dim, 30), d.between(0.1, 0.3)
				return d.rotated(func(z []float64) float64 {
					bent := append([]float64(nil), z...)
					bent[0] += bend * dot(z[1:], z[1:]) / float64(d.dim-1)
					return square(w, bent)
				})
			},
		},
	}
}

func ill() []Family {
	return []Family{
		{
			Name: "discus", Class: Ill, Summary: "one direction is a million times steeper", Dims: []int{3, 8},
			build: func(d *drawing) part {
				steep := math.Pow(10, d.between(4, 6))
				return d.rotated(func(z []float64) float64 { z = uneven(z); return steep*z[0]*z[0] + dot(z[1:], z[1:]) })
			},
		},
		{
			Name: "cigar", Class: Ill, Summary: "one direction is a million times flatter", Dims: []int{4, 10},
			build: func(d *drawing) part {
				steep := math.Pow(10, d.between(4, 6))
				return d.rotated(func(z []float64) float64 { return z[0]*z[0] + steep*dot(z[1:], z[1:]) })
			},
		},
		{
			Name: "sharp-ridge", Class: Ill, Summary: "flat ridge with a kink across it", Dims: []int{2, 6},
			build: func(d *drawing) part {
				return d.rotated(func(z []float64) float64 { return z[0]*z[0] + 100*math.Sqrt(dot(z[1:], z[1:])) })
			},
		},
		{
			Name: "mixed-powers", Class: Ill, Summary: "rotated sum of powers 2 to 6", Dims: []int{3, 5},
			build: func(d *drawing) part {
				return d.rotated(func(z []float64) float64 {
					var sum float64
					for i, v := range z {
						sum += math.Pow(math.Abs(v), 2+4*float64(i)/float64(d.dim-1))
					}
					return math.Sqrt(sum)
				})
			},
		},
	}
}

func oneSided() []Family {
	return []Family{
		{
			Name: "sector", Class: OneSided, Summary: "a hundred times steeper outside one sector", Dims: []int{3, 8},
			build: func(d *drawing) part {
				w, r := d.weights(d.dim, 10), d.rotation(d.dim, d.dim)
				p := d.aligned(nil)
				towards := times(r, p.at) // the sector points to the minimum from the centre
				p.f = func(x []float64) float64 {
					var sum float64
					for i, z := range times(r, minus(x, p.at)) {
						if z*towards[i] > 0 {
							z *= 100
						}
						sum += w[i] * z * z
					}
					return math.Pow(sum, 0.9)
				}
				return p
			},
		},
		{
			Name: "cliff", Class: OneSided, Summary: "gentle slope that ends at a cliff", Dims: []int{2, 6},
			build: func(d *drawing) part {
				steep := math.Pow(10, d.between(1.5, 3))
				return d.rotated(func(z []float64) float64 {
					sum := dot(z[1:], z[1:])
					if z[0] > 0 {
						return sum + steep*z[0]
					}
					return sum - z[0]
				})
			},
		},
		{
			Name: "walls", Class: OneSided, Summary: "exponential walls on one side of every direction", Dims: []int{4, 10},
			build: func(d *drawing) part {
				rate := d.each(d.dim, 0.4, 1.2)
				return d.rotated(func(z []float64) float64 {
					var sum float64
					for i, v := range z {
						sum += math.Expm1(rate[i]*v) - rate[i]*v
					}
					return sum
				})
			},
		},
		{
			Name: "cusp", Class: OneSided, Summary: "a square on one side and a root on the other", Dims: []int{3, 5},
			build: func(d *drawing) part {
				w := d.weights(d.dim, 10)
				return d.rotated(func(z []float64) float64 {
					var sum float64
					for i, v := range z {
						if v > 0 {
							sum += w[i] * v * v
						} else {
							sum += 3 * w[i] * math.Sqrt(-v)
						}
					}
					return sum
				})
			},
		},
	}
}
