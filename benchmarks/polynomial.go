package benchmarks

// Polynomial is the negative of the 8-dimensional polynomial task of the FSP-Laplace paper
// (after Li et al. 2024): the sum over the two groups of interleaved coordinates
// {1,3,5,7} and {2,4,6,8} of Π (x_i - c_i), on [0,1]⁸. The constants c were
// drawn from N(0,1) by the source. The function is linear in each coordinate, so its minimum is at a vertex.
func Polynomial() Objective {
	c := [8]float64{
		1.5409961082, -0.2934289058, -2.1787893821, 0.5684312773,
		-1.0845223424, -1.3985953954, 0.4033468476, 0.8380263330,
	}
	f := func(x []float64) float64 {
		odd, even := 1.0, 1.0
		for i := 0; i < len(c); i += 2 {
			odd *= x[i] - c[i]
			even *= x[i+1] - c[i+1]
		}
		return -(odd + even)
	}
	vertex := []float64{0, 1, 1, 0, 1, 1, 0, 0}
	return Objective{
		Name:       "polynomial",
		Summary:    "two products of four coordinates each",
		Minimum:    f(vertex),
		Minimizers: [][]float64{vertex},
		NoiseFree:  true,
		Func:       f,
	}.inCube(8, 0, 1)
}
