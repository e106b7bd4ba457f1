package families

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/space"
)

// onSpace returns an objective on other parameters than floats in [-5,5]: f ≥ 0 of
// the coordinates, with f(at) = 0, transformed as a continuous family.
func (d *drawing) onSpace(params []space.Parameter, f func(x []float64) float64, at []float64) benchmarks.Objective {
	o := benchmarks.Objective{NoiseFree: true}.On(newSpace(params))
	values := make([]float64, 101)
	for i := range values {
		values[i] = f(o.Coordinates(o.Space.Decode(d.each(o.Space.Dim(), 0, 1))))
	}
	slices.Sort(values)
	typical, transform := values[len(values)/2], d.transform()
	o.Func = func(x []float64) float64 { return transform(f(x) / typical) }
	return d.rescaled(o, at)
}

// choice returns a categorical parameter with n values a, b, ….
func choice(name string, n int) space.Parameter {
	values := make([]any, n)
	for i := range values {
		values[i] = string(rune('a' + i))
	}
	return space.Categorical(name, values...)
}

func numbered(i int) string { return fmt.Sprintf("x%d", i+1) }

func mixed() []Family {
	return []Family{
		{Name: "integers", Class: Mixed, Summary: "rotated quadratic in which half of the inputs are integers", Dims: []int{4, 8}, whole: integers},
		{Name: "categories", Class: Mixed, Summary: "bowls whose centre and height depend on categories", Dims: []int{4, 6}, whole: categories},
		{Name: "bits", Class: Mixed, Summary: "random interactions of bits (after Kauffman 1993) and two floats", Dims: []int{6, 10}, whole: bits},
		{Name: "switch", Class: Mixed, Summary: "a category selects one of three functions of a size, a level and floats", Dims: []int{4, 6}, whole: switched},
	}
}

func integers(d *drawing) benchmarks.Objective {
	params, at := make([]space.Parameter, d.dim), d.point()
	w, r := d.weights(d.dim, 30), d.rotation(d.dim, d.dim)
	for i := range params {
		if i < d.dim/2 {
			params[i], at[i] = space.Int(numbered(i), -side, side), math.Round(at[i])
		} else {
			params[i] = space.Float(numbered(i), -side, side)
		}
	}
	return d.onSpace(params, func(x []float64) float64 { return square(w, times(r, minus(x, at))) }, at)
}

// categories has n categoricals c and as many floats or one more. Its value is Σ w_i (x_i -
// a_i(c))² + Σ p_ij(c_i, c_j) with p_ij ≥ 0, where p is 0 at the best categories only.
func categories(d *drawing) benchmarks.Objective {
	n := d.dim / 2
	params, at := make([]space.Parameter, d.dim), d.point()
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 3 + d.rng.IntN(3)
		params[i], at[i] = choice(numbered(i), sizes[i]), float64(d.rng.IntN(sizes[i]))
	}
	w := d.weights(d.dim-n, 10)
	centre := make([][]float64, d.dim-n) // of each float by the category that moves it
	for i := range centre {
		params[n+i] = space.Float(numbered(n+i), -side, side)
		centre[i] = d.each(sizes[i%n], -side, side)
		centre[i][int(at[i%n])] = at[n+i]
	}
	penalty := make([]float64, n*n*25)
	for i := range penalty {
		penalty[i] = d.between(1, 15)
	}
	cost := func(i, j int, x []float64) float64 {
		if x[i] == at[i] && x[j] == at[j] {
			return 0
		}
		return penalty[((i*n+j)*5+int(x[i]))*5+int(x[j])]
	}
	return d.onSpace(params, func(x []float64) float64 {
		var sum float64
		for i := range n {
			for j := range i + 1 {
				sum += cost(i, j, x)
			}
		}
		for i, c := range centre {
			z := x[n+i] - c[int(x[i%n])]
			sum += w[i] * z * z
		}
		return sum
	}, at)
}

// bits is Σ t_i(b_i, b_{i+1}, b_{i+2}) over cyclic bits b with uniform tables t, minus its minimum over all
// bits. It adds a bowl of two floats whose centre depends on b_1.
func bits(d *drawing) benchmarks.Objective {
	n := d.dim - 2
	table := d.each(8*n, 0, 1)
	interactions := func(x []float64) float64 {
		var sum float64
		for i := range n {
			sum += table[8*i+4*int(x[i])+2*int(x[(i+1)%n])+int(x[(i+2)%n])]
		}
		return sum
	}
	params, best, at := make([]space.Parameter, d.dim), math.Inf(1), make([]float64, d.dim)
	for code := range 1 << n {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(code >> i & 1)
		}
		if v := interactions(x); v < best {
			best = v
			copy(at, x)
		}
	}
	for i := range n {
		params[i] = space.Categorical(numbered(i), false, true)
	}
	centre := [2][]float64{d.each(2, -side, side), d.each(2, -side, side)}
	for i := range 2 {
		params[n+i] = space.Float(numbered(n+i), -side, side)
	}
	copy(at[n:], centre[int(at[0])])
	weight := d.between(0.02, 0.1)
	return d.onSpace(params, func(x []float64) float64 {
		z := minus(x[n:], centre[int(x[0])])
		return interactions(x) - best + weight*dot(z, z)
	}, at)
}

// switched selects a bowl, a rippled bowl or a valley by a category. Two of them have
// a positive minimum.
func switched(d *drawing) benchmarks.Objective {
	params := []space.Parameter{
		choice(numbered(0), 3),
		space.LogInt(numbered(1), 1, 128),
		space.Ordinal(numbered(2), 0.1, 0.2, 0.5, 1, 2),
	}
	for i := len(params); i < d.dim; i++ {
		params = append(params, space.Float(numbered(i), -side, side))
	}
	var centre [3][]float64
	best, lift := d.rng.IntN(3), d.each(3, 2, 10)
	lift[best] = 0
	for k := range centre {
		c := d.point()
		c[0], c[1], c[2] = float64(k), float64(1+d.rng.IntN(128)), float64(d.rng.IntN(5))
		centre[k] = c
	}
	n := d.dim - 1
	w, period, height, width := d.weights(n, 10), d.between(1.5, 3), d.between(2, 8), d.between(3, 6)
	r := d.rotation(n, n)
	return d.onSpace(params, func(x []float64) float64 {
		k := int(x[0])
		z := minus(x, centre[k])[1:]
		z[0] = math.Log2(x[1] / centre[k][1])
		z = times(r, z)
		switch k {
		case 0:
			return lift[k] + square(w, z)
		case 1:
			return lift[k] + rippled(z, w, period, height)
		}
		return lift[k] + valley(z, width)/10
	}, centre[best])
}
