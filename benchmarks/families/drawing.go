package families

import (
	"math"
	"math/rand/v2"
	"slices"
)

// drawing draws the random numbers of an instance.
type drawing struct {
	rng    *rand.Rand
	dim    int
	number uint64 // of the instance
}

// between returns a uniform number in [lo, hi).
func (d *drawing) between(lo, hi float64) float64 { return lo + (hi-lo)*d.rng.Float64() }

// each returns n uniform numbers in [lo, hi).
func (d *drawing) each(n int, lo, hi float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = d.between(lo, hi)
	}
	return v
}

// sign returns 1 or -1.
func (d *drawing) sign() float64 { return float64(2*d.rng.IntN(2) - 1) }

// point returns the position of the minimum: with probability ½ in [-4,4]^d, and else,
// in about half of the coordinates and at least one, near a bound (within 2 % of the
// width) or on it.
func (d *drawing) point() []float64 {
	x := d.each(d.dim, -0.8*side, 0.8*side)
	where := d.rng.IntN(4)
	always := d.rng.IntN(d.dim)
	for i := range x {
		bound, gap, moved := d.sign()*side, d.between(0, 0.04*side), d.rng.IntN(2) == 0 || i == always
		switch {
		case !moved || where < 2:
		case where == 2:
			x[i] = bound - gap*bound/side
		default:
			x[i] = bound
		}
	}
	return x
}

// weights returns n numbers from 1 to condition in geometric progression, in random
// order.
func (d *drawing) weights(n int, condition float64) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Pow(condition, float64(i)/float64(max(1, n-1)))
	}
	d.rng.Shuffle(n, func(i, j int) { w[i], w[j] = w[j], w[i] })
	return w
}

// rotation returns k ≤ n orthonormal rows of length n, uniformly distributed: Gaussian
// rows after Gram-Schmidt.
func (d *drawing) rotation(k, n int) [][]float64 {
	rows := make([][]float64, k)
	for i := range rows {
		row := make([]float64, n)
		for j := range row {
			row[j] = d.rng.NormFloat64()
		}
		for _, earlier := range rows[:i] {
			c := dot(row, earlier)
			for j := range row {
				row[j] -= c * earlier[j]
			}
		}
		length := math.Sqrt(dot(row, row))
		for j := range row {
			row[j] /= length
		}
		rows[i] = row
	}
	return rows
}

// median returns the median of a function over 101 uniform points of the box.
func (d *drawing) median(f func(x []float64) float64) float64 {
	const n = 101
	values := make([]float64, n)
	for i := range values {
		values[i] = f(d.each(d.dim, -side, side))
	}
	slices.Sort(values)
	return values[n/2]
}

// transform returns an increasing function with value 0 at 0 and 1 at 1: the identity
// with probability 0.4, and else a square, a square root or a logarithm.
func (d *drawing) transform() func(float64) float64 {
	switch d.rng.IntN(5) {
	case 0:
		return func(g float64) float64 { return g * g }
	case 1:
		return math.Sqrt
	case 2:
		steep := math.Pow(10, d.between(1, 3))
		return func(g float64) float64 { return math.Log1p(steep*g) / math.Log1p(steep) }
	}
	return func(g float64) float64 { return g }
}

// aligned returns core(x - x*) with a random minimiser x*. core is 0 at 0.
func (d *drawing) aligned(core func(z []float64) float64) part {
	at := d.point()
	return part{at: at, f: func(x []float64) float64 { return core(minus(x, at)) }}
}

// rotated returns core(R(x - x*)) with a random rotation R.
func (d *drawing) rotated(core func(z []float64) float64) part {
	at, r := d.point(), d.rotation(d.dim, d.dim)
	return part{at: at, f: func(x []float64) float64 { return core(times(r, minus(x, at))) }}
}

// uneven bends each coordinate by an increasing odd function. On logarithmic scales its
// slope varies between 0.47 and 1.53.
func uneven(z []float64) []float64 {
	out := make([]float64, len(z))
	for i, v := range z {
		if v != 0 {
			u := math.Log(math.Abs(v))
			out[i] = math.Copysign(math.Exp(u+0.05*(math.Sin(6*u)+0.5*math.Sin(9*u+1))), v)
		}
	}
	return out
}

// ripple is 0 at whole numbers and 2 between them.
func ripple(t float64) float64 { return 1 - math.Cos(2*math.Pi*t) }

// square returns Σ w_i z_i².
func square(w, z []float64) float64 {
	var sum float64
	for i, v := range z {
		sum += w[i] * v * v
	}
	return sum
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func minus(a, b []float64) []float64 {
	z := make([]float64, len(a))
	for i := range z {
		z[i] = a[i] - b[i]
	}
	return z
}

// times returns the products of the rows with z.
func times(rows [][]float64, z []float64) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = dot(row, z)
	}
	return out
}

// valley is a curved valley after Rosenbrock (1960) in y = 1 + z/width: Σ 100 (y_{i+1} -
// y_i²)² + (1 - y_i)², 0 at z = 0.
func valley(z []float64, width float64) float64 {
	var sum float64
	for i := range len(z) - 1 {
		y, next := 1+z[i]/width, 1+z[i+1]/width
		sum += 100*(next-y*y)*(next-y*y) + (1-y)*(1-y)
	}
	return sum
}
