package benchmarks

import (
	"fmt"
	"math"
)

// Branin is (x2 - 5.1 x1²/(4π²) + 5 x1/π - 6)² + 10 (1 - 1/(8π)) cos x1 + 10 on
// [-5,10]×[0,15], with three minima of 5/(4π) (Branin 1972).
func Branin() Objective {
	return Objective{
		Name:       "branin",
		Summary:    "three equal minima in a curved valley",
		Minimum:    5 / (4 * math.Pi),
		Minimizers: [][]float64{{-math.Pi, 12.275}, {math.Pi, 2.275}, {3 * math.Pi, 2.475}},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			t := x[1] - 5.1/(4*math.Pi*math.Pi)*x[0]*x[0] + 5/math.Pi*x[0] - 6
			return t*t + 10*(1-1/(8*math.Pi))*math.Cos(x[0]) + 10
		},
	}.inBox([]float64{-5, 0}, []float64{10, 15})
}

// SixHumpCamel is (4 - 2.1 x1² + x1⁴/3) x1² + x1 x2 + (4 x2² - 4) x2² on
// [-3,3]×[-2,2], with six local minima (Dixon and Szegö 1978).
func SixHumpCamel() Objective {
	const a, b = 0.089842013100318062, 0.71265640302073963
	return Objective{
		Name:       "six-hump-camel",
		Summary:    "six local minima, two of them global",
		Minimum:    -1.0316284534898774,
		Minimizers: [][]float64{{a, -b}, {-a, b}},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			a, b := x[0]*x[0], x[1]*x[1]
			return (4-2.1*a+a*a/3)*a + x[0]*x[1] + (4*b-4)*b
		},
	}.inBox([]float64{-3, -2}, []float64{3, 2})
}

// Beale is (1.5 - x1 + x1x2)² + (2.25 - x1 + x1x2²)² + (2.625 - x1 + x1x2³)² on [-4.5,4.5]²
// (Beale 1958).
func Beale() Objective {
	return Objective{
		Name:       "beale",
		Summary:    "a flat valley between steep corners",
		Minimizers: [][]float64{{3, 0.5}},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			a := 1.5 - x[0] + x[0]*x[1]
			b := 2.25 - x[0] + x[0]*x[1]*x[1]
			c := 2.625 - x[0] + x[0]*x[1]*x[1]*x[1]
			return a*a + b*b + c*c
		},
	}.inCube(2, -4.5, 4.5)
}

// GoldsteinPrice is a polynomial of degree eight on [-2,2]² whose values span six
// decades, with minimum 3 at (0,-1) (Goldstein and Price 1971).
func GoldsteinPrice() Objective {
	return Objective{
		Name:       "goldstein-price",
		Summary:    "four local minima, values from 3 to 1e6",
		Minimum:    3,
		Minimizers: [][]float64{{0, -1}},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			u, v := x[0], x[1]
			s, d := u+v+1, 2*u-3*v
			return (1 + s*s*(19-14*u+3*u*u-14*v+6*u*v+3*v*v)) *
				(30 + d*d*(18-32*u+12*u*u+48*v-36*u*v+27*v*v))
		},
	}.inCube(2, -2, 2)
}

// Cosine8 is Σ x_i² - 0.1 Σ cos 5πx_i on [-1,1]⁸; the sources maximise its
// negative (Anderson et al. 2000).
func Cosine8() Objective {
	return Objective{
		Name:       "cosine8",
		Summary:    "a bowl with cosine ripples",
		Minimum:    -0.8,
		Minimizers: [][]float64{repeat(0, 8)},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for _, v := range x {
				f += v*v - 0.1*math.Cos(5*math.Pi*v)
			}
			return f
		},
	}.inCube(8, -1, 1)
}

// Ackley is -20 exp(-0.2 √(Σ x_i²/d)) - exp(Σ cos(2πx_i)/d) + 20 + e on [-32.768,32.768]^d
// (Ackley 1987). The value at 0 is 0 without rounding.
func Ackley(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("ackley%d", d),
		Summary:    "a narrow funnel in an almost flat, rippled plain",
		Minimizers: [][]float64{repeat(0, d)},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			var squares, cosines float64
			for _, v := range x {
				squares += v * v
				cosines += math.Cos(2*math.Pi*v) - 1
			}
			n := float64(len(x))
			return -20*math.Expm1(-0.2*math.Sqrt(squares/n)) - math.E*math.Expm1(cosines/n)
		},
	}.inCube(d, -32.768, 32.768)
}

// Griewank is Σ x_i²/4000 - Π cos(x_i/√i) + 1 on [-600,600]^d (Griewank 1981).
func Griewank(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("griewank%d", d),
		Summary:    "a wide bowl with a product of cosines",
		Minimizers: [][]float64{repeat(0, d)},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			sum, product := 0.0, 1.0
			for i, v := range x {
				sum += v * v / 4000
				product *= math.Cos(v / math.Sqrt(float64(i+1)))
			}
			return sum - product + 1
		},
	}.inCube(d, -600, 600)
}

// Levy is, with w = 1 + (x-1)/4,
//
//	sin²πw_1 + Σ_{i<d} (w_i-1)² (1 + 10 sin²(πw_i+1)) + (w_d-1)² (1 + sin²2πw_d)
//
// on [-10,10]^d (Levy and Montalvo 1985).
func Levy(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("levy%d", d),
		Summary:    "ripples along every axis of a bowl",
		Minimizers: [][]float64{repeat(1, d)},
		NoiseFree:  true,
		Func: func(x []float64) float64 {
			// sin πw_1 = -sin(π(w_1-1)), which is 0 at the minimiser without rounding.
			first := math.Sin(math.Pi * (x[0] - 1) / 4)
			f := first * first
			for i, v := range x {
				t := (v - 1) / 4
				if i < len(x)-1 {
					s := math.Sin(math.Pi*(1+t) + 1)
					f += t * t * (1 + 10*s*s)
				} else {
					s := math.Sin(2 * math.Pi * t)
					f += t * t * (1 + s*s)
				}
			}
			return f
		},
	}.inCube(d, -10, 10)
}

// Rastrigin is Σ x_i² + 10 (1 - cos 2πx_i) on [-5.12,5.12]^d (Rastrigin 1974).
func Rastrigin(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("rastrigin%d", d),
		Summary:    "about 11^d local minima on a grid",
		Minimizers: [][]float64{repeat(0, d)},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for _, v := range x {
				f += v*v + 10*(1-math.Cos(2*math.Pi*v))
			}
			return f
		},
	}.inCube(d, -5.12, 5.12)
}

// Rosenbrock is Σ_{i<d} 100 (x_{i+1} - x_i²)² + (1 - x_i)² on [-5,10]^d, for d ≥ 2
// (Rosenbrock 1960).
func Rosenbrock(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("rosenbrock%d", d),
		Summary:    "a long curved valley with a flat floor",
		Minimizers: [][]float64{repeat(1, d)},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for i := range len(x) - 1 {
				a, b := x[i+1]-x[i]*x[i], 1-x[i]
				f += 100*a*a + b*b
			}
			return f
		},
	}.inCube(d, -5, 10)
}

// StyblinskiTang is ½ Σ x_i⁴ - 16 x_i² + 5 x_i on [-5,5]^d, with 2^d local minima
// (Styblinski and Tang 1990).
func StyblinskiTang(d int) Objective {
	return Objective{
		Name:       fmt.Sprintf("styblinski-tang%d", d),
		Summary:    "2^d local minima, one near each corner",
		Minimum:    -39.166165703771415 * float64(d),
		Minimizers: [][]float64{repeat(-2.9035340277711771, d)},
		NoiseFree:  true,
		Func: func(x []float64) (f float64) {
			for _, v := range x {
				f += v * (v*(v*v-16) + 5) / 2
			}
			return f
		},
	}.inCube(d, -5, 5)
}
