package families

import "math"

func plateaus() []Family {
	return []Family{
		{
			Name: "steps", Class: Plateaus, Summary: "rotated quadratic of rounded coordinates", Dims: []int{3, 8},
			build: func(d *drawing) part {
				w, step := d.weights(d.dim, 100), d.each(d.dim, 0.5, 2)
				return d.rotated(func(z []float64) float64 {
					for i := range z {
						z[i] = step[i] * math.Round(z[i]/step[i])
					}
					return square(w, z)
				})
			},
		},
		{
			Name: "terraces", Class: Plateaus, Summary: "rippled bowl rounded down to few levels", Dims: []int{2, 6},
			build: func(d *drawing) part {
				w, period, ratio := d.weights(d.dim, 10), d.between(3, 6), math.Log(d.between(1.2, 2))
				return d.rotated(func(z []float64) float64 {
					sum := square(w, z) / 10
					for _, v := range z {
						sum += ripple(v / period)
					}
					return math.Expm1(ratio * math.Floor(math.Log1p(sum)/ratio))
				})
			},
		},
		{
			Name: "nested-boxes", Class: Plateaus, Summary: "rotated nested boxes with a value each", Dims: []int{4, 10},
			build: func(d *drawing) part {
				width := d.each(d.dim, 0.5, 2)
				return d.rotated(func(z []float64) float64 {
					most := 0.0
					for i, v := range z {
						most = max(most, math.Round(math.Abs(v)/width[i]))
					}
					return most
				})
			},
		},
		{
			Name: "saturated", Class: Plateaus, Summary: "bowl that is nearly flat away from the minimum", Dims: []int{3, 5},
			build: func(d *drawing) part {
				w, width := d.weights(d.dim, 4), d.between(0.2, 0.6)
				return d.rotated(func(z []float64) float64 {
					q := square(w, z) / (width * width * float64(d.dim))
					return q / (1 + q)
				})
			},
		},
	}
}

func multimodal() []Family {
	return []Family{
		{
			Name: "rippled-bowl", Class: Global, Summary: "rotated bowl with regular local minima", Dims: []int{2, 8},
			build: func(d *drawing) part {
				w, period, height := d.weights(d.dim, 10), d.between(1, 3), d.between(1, 8)
				return d.rotated(func(z []float64) float64 { return rippled(uneven(z), w, period, height) })
			},
		},
		{
			Name: "funnel", Class: Global, Summary: "rotated funnel with ripples (after Ackley 1987)", Dims: []int{3, 6},
			build: func(d *drawing) part {
				period, n := d.between(1, 2), float64(d.dim)
				return d.rotated(func(z []float64) float64 {
					var squares, cosines float64
					for _, v := range z {
						squares += v * v / n
						cosines += ripple(v/period) / n
					}
					return -20*math.Expm1(-0.2*math.Sqrt(squares)) - math.E*math.Expm1(-cosines)
				})
			},
		},
		{
			Name: "rings", Class: Global, Summary: "rings of growing frequency (after Schaffer 1989)", Dims: []int{4, 10},
			build: func(d *drawing) part {
				w, rate := d.weights(d.dim, 10), d.between(5, 20)
				return d.rotated(func(z []float64) float64 {
					var sum float64
					for i := range len(z) - 1 {
						s := math.Sqrt(math.Hypot(w[i]*z[i], w[i+1]*z[i+1]))
						wave := math.Sin(rate * math.Pow(s, 0.4))
						sum += s * (1 + wave*wave)
					}
					return sum * sum
				})
			},
		},
		{
			Name: "rough-bowl", Class: Global, Summary: "bowl plus a rough sum of cosines (after Weierstrass)", Dims: []int{2, 5},
			build: func(d *drawing) part {
				w, period := d.weights(d.dim, 10), d.between(4, 9)
				return d.rotated(func(z []float64) float64 {
					sum := square(w, z) / 20
					for _, v := range z {
						size, rate := 1.0, 1/period
						for range 8 {
							sum += size * ripple(rate*v)
							size, rate = size/2, rate*3
						}
					}
					return sum
				})
			},
		},
	}
}

// rippled returns Σ w_i z_i² + height·(1 - cos 2πz_i/period).
func rippled(z, w []float64, period, height float64) float64 {
	sum := square(w, z)
	for _, v := range z {
		sum += height * ripple(v/period)
	}
	return sum
}

func weak() []Family {
	return []Family{
		{Name: "peaks", Class: Weak, Summary: "random Gaussian peaks (after Gallagher and Yuan 2006)", Dims: []int{2, 6}, build: peaks},
		{
			Name: "two-funnels", Class: Weak, Summary: "a narrow and a wide funnel with ripples (after Lunacek, Whitley and Sutton 2008)", Dims: []int{3, 8},
			build: func(d *drawing) part {
				n, far := float64(d.dim), d.each(d.dim, -4, 4)
				lift, wide, period, height := d.between(0.2, 1)*n, d.between(0.2, 0.5), d.between(1, 3), d.between(0.5, 2)
				p := d.aligned(nil)
				r := d.rotation(d.dim, d.dim)
				p.f = func(x []float64) float64 {
					z, y := minus(x, p.at), minus(x, far)
					sum := min(dot(z, z), lift+wide*dot(y, y))
					for _, v := range times(r, z) {
						sum += height * ripple(v/period)
					}
					return sum
				}
				return p
			},
		},
		{
			Name: "fractal", Class: Weak, Summary: "nowhere differentiable (after Takagi 1901)", Dims: []int{3, 5},
			build: func(d *drawing) part {
				period := d.between(3, 6)
				return d.rotated(func(z []float64) float64 {
					sum := 0.02 * dot(z, z)
					for _, v := range z {
						size := 1.0
						for range 12 {
							t := v / (period * size)
							sum += size * math.Abs(t-math.Round(t))
							size /= 2
						}
					}
					return sum
				})
			},
		},
		{
			Name: "deceptive", Class: Weak, Summary: "local minima fall with the distance from the minimum", Dims: []int{2, 4},
			build: func(d *drawing) part {
				period, lift, reach := d.between(2, 4), d.between(2, 4), d.between(6, 12)
				return d.rotated(func(z []float64) float64 {
					var sum float64
					for _, v := range z {
						near := -math.Expm1(-v * v / 2)
						sum += ripple(v/period) + lift*near*math.Exp(-math.Abs(v)/reach)
					}
					return sum
				})
			},
		},
	}
}

// peaks is 1 - max w_i exp(-(x-c_i)ᵀA_i(x-c_i)/2d) for 20 peaks with w_1 = 1 and w_i < 0.95.
func peaks(d *drawing) part {
	type peak struct {
		height float64
		at, w  []float64
		r      [][]float64
	}
	list := make([]peak, 20)
	for i := range list {
		condition := math.Pow(10, d.between(0, 2))
		p := peak{d.between(0.3, 0.95), d.each(d.dim, -side, side), d.weights(d.dim, condition), d.rotation(d.dim, d.dim)}
		for j := range p.w {
			p.w[j] /= math.Sqrt(condition)
		}
		list[i] = p
	}
	list[0].height, list[0].at = 1, d.point()
	return part{at: list[0].at, f: func(x []float64) float64 {
		best := 0.0
		for _, p := range list {
			q := square(p.w, times(p.r, minus(x, p.at)))
			best = max(best, p.height*math.Exp(-q/(2*float64(d.dim))))
		}
		return 1 - best
	}}
}
