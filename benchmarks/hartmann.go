package benchmarks

import "math"

// Hartmann3 is -Σ_i α_i exp(-Σ_j A_ij (x_j - P_ij)²) on [0,1]³ (Hartman 1973; constants
// of Dixon and Szegö 1978).
func Hartmann3() Objective {
	a := [][]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	p := [][]float64{{3689, 1170, 2673}, {4699, 4387, 7470}, {1091, 8732, 5547}, {381, 5743, 8828}}
	return Objective{
		Name:       "hartmann3",
		Summary:    "four local minima",
		Minimum:    -3.8627797873326625,
		Minimizers: [][]float64{{0.11458887665506897, 0.55564889461693004, 0.85254698468667744}},
		NoiseFree:  true,
		Func:       hartmann(a, p),
	}.inCube(3, 0, 1)
}

// Hartmann6 is -Σ_i α_i exp(-Σ_j A_ij (x_j - P_ij)²) on [0,1]⁶ (Hartman 1973; constants
// of Dixon and Szegö 1978).
func Hartmann6() Objective {
	a := [][]float64{
		{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14},
	}
	p := [][]float64{
		{1312, 1696, 5569, 124, 8283, 5886}, {2329, 4135, 8307, 3736, 1004, 9991},
		{2348, 1451, 3522, 2883, 3047, 6650}, {4047, 8828, 8732, 5743, 1091, 381},
	}
	return Objective{
		Name:    "hartmann6",
		Summary: "six local minima",
		Minimum: -3.3223680114155148,
		Minimizers: [][]float64{{
			0.20168951100670542, 0.15001069182345797, 0.47687397422189699,
			0.27533243049405607, 0.31165161660011324, 0.65730053406562031,
		}},
		NoiseFree: true,
		Func:      hartmann(a, p),
	}.inCube(6, 0, 1)
}

// hartmann takes p in units of 1e-4, as it is printed.
func hartmann(a, p [][]float64) func(x []float64) float64 {
	alpha := []float64{1, 1.2, 3, 3.2}
	return func(x []float64) (f float64) {
		for i, w := range alpha {
			var s float64
			for j, v := range x {
				t := v - 1e-4*p[i][j]
				s += a[i][j] * t * t
			}
			f -= w * math.Exp(-s)
		}
		return f
	}
}
