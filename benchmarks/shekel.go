package benchmarks

// Shekel is -Σ_i 1/(|x - C_i|² + β_i) with ten terms on [0,10]⁴ (Shekel 1971). C is as in
// BoTorch; in Dixon and Szegö (1978) its seventh row is (5, 5, 3, 3).
func Shekel() Objective {
	beta := []float64{0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5}
	c := [][4]float64{
		{4, 4, 4, 4}, {1, 1, 1, 1}, {8, 8, 8, 8}, {6, 6, 6, 6}, {3, 7, 3, 7},
		{2, 9, 2, 9}, {5, 3, 5, 3}, {8, 1, 8, 1}, {6, 2, 6, 2}, {7, 3.6, 7, 3.6},
	}
	const a, b = 4.0007468682706344, 3.9995094800857736
	return Objective{
		Name:       "shekel",
		Summary:    "ten narrow wells",
		Minimum:    -10.536443153483528,
		Minimizers: [][]float64{{a, b, a, b}},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for i, row := range c {
				s := beta[i]
				for j, v := range row {
					s += (x[j] - v) * (x[j] - v)
				}
				f -= 1 / s
			}
			return f
		},
	}.inCube(4, 0, 10)
}
