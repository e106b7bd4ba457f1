package benchmarks

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/internal/pareto"
)

// Outcomes describes several objectives, all minimised, and outcome constraints.
type Outcomes struct {
	// Reference is the reference point of the hypervolume. Its length is the number of
	// objectives.
	Reference []float64
	// Bounds are the largest feasible values of further numbers.
	Bounds []float64
	// Hypervolume is the largest hypervolume of feasible points.
	Hypervolume float64
	// NoiseFree reports whether Func always returns the same numbers at a point.
	NoiseFree bool
	// Func returns the objectives at x and then the numbers that Bounds limits.
	Func func(x []float64) []float64
	// Latent, if not nil, returns the numbers without noise.
	Latent func(x []float64) []float64
}

// Names returns the names of the numbers of Func: f1, f2, … for the objectives and c1, c2, … for
// the numbers that Bounds limits.
func (o *Outcomes) Names() []string {
	var names []string
	for j := range o.Reference {
		names = append(names, fmt.Sprintf("f%d", j+1))
	}
	for c := range o.Bounds {
		names = append(names, fmt.Sprintf("c%d", c+1))
	}
	return names
}

// Volume returns the hypervolume of the feasible rows of y, which are results of Func.
func (o *Outcomes) Volume(y [][]float64) float64 {
	m := len(o.Reference)
	var feasible [][]float64
next:
	for _, v := range y {
		for c, b := range o.Bounds {
			if !(v[m+c] <= b) {
				continue next
			}
		}
		feasible = append(feasible, v[:m])
	}
	return pareto.Hypervolume(feasible, o.Reference)
}

// several returns an objective on [0,1]^d with outcomes: its values are negative
// hypervolumes, of a single point.
func several(name, summary string, d int, o Outcomes) Objective {
	o.NoiseFree = true
	return Objective{
		Name: name, Summary: summary, Minimum: -o.Hypervolume, NoiseFree: true, Outcomes: &o,
		Func: func(x []float64) float64 { return -o.Volume([][]float64{o.Func(x)}) },
	}.inCube(d, 0, 1)
}

// NoisyOutcomes adds N(0, sd_j²) to number j of every outcome of o. The noise is a function of seed,
// point and number of evaluations at the point, as in Noisy.
func NoisyOutcomes(o Objective, sd []float64, seed uint64) Objective {
	out, noise := *o.Outcomes, newRepeats(seed, "noise")
	latent := out.Func
	out.NoiseFree, out.Latent = false, latent
	out.Func = func(x []float64) []float64 {
		y, rng := latent(x), noise.next(x)
		for j, s := range sd {
			y[j] += s * rng.NormFloat64()
		}
		return y
	}
	o.Name, o.NoiseFree, o.Outcomes = "noisy-"+o.Name, false, &out
	o.Summary += fmt.Sprintf(", with noise of standard deviations %v", sd)
	return o
}

// braninCurrin returns the function of Branin on the unit square and the function of Currin et
// al. (1991).
func braninCurrin(x []float64) []float64 {
	branin := Branin()
	factor := 1.0
	if x[1] > 0 {
		factor = 1 - math.Exp(-1/(2*x[1]))
	}
	u := x[0]
	currin := factor * (2300*u*u*u + 1900*u*u + 2092*u + 60) / (100*u*u*u + 500*u*u + 4*u + 20)
	return []float64{branin.Func([]float64{15*u - 5, 15 * x[1]}), currin}
}

// BraninCurrin has the function of Branin and the function of Currin et al. as objectives, on the unit
// square (Belakaria, Deshwal and Doppa 2019). The hypervolume is the number of BoTorch.
func BraninCurrin() Objective {
	return several("branin-currin", "two objectives: branin and a function that is steep at the border", 2,
		Outcomes{Reference: []float64{18, 6}, Hypervolume: 59.36011874867746, Func: braninCurrin})
}

// ConstrainedBraninCurrin is BraninCurrin within a disc around the centre of Branin's box (Daulton,
// Balandat and Bakshy 2020). The hypervolume is the number of BoTorch.
func ConstrainedBraninCurrin() Objective {
	return several("constrained-branin-currin", "branin-currin within a disc", 2, Outcomes{
		Reference: []float64{80, 12}, Bounds: []float64{50}, Hypervolume: 608.4004237022673,
		Func: func(x []float64) []float64 {
			a, b := 15*x[0]-7.5, 15*x[1]-7.5
			return append(braninCurrin(x), a*a+b*b)
		},
	})
}

// ZDT1 has the front f2 = 1 - √f1 at x2 = … = 0 (Zitzler, Deb and Thiele 2000), with d inputs.
func ZDT1(d int) Objective {
	return several(fmt.Sprintf("zdt1-%d", d), "two objectives: a convex front at the border", d, Outcomes{
		Reference: []float64{11, 11}, Hypervolume: 121 - 1./3,
		Func: func(x []float64) []float64 {
			g := 1.0
			for _, v := range x[1:] {
				g += 9 * v / float64(d-1)
			}
			return []float64{x[0], g * (1 - math.Sqrt(x[0]/g))}
		},
	})
}

// dtlz2 returns the m objectives of DTLZ2 (Deb et al. 2002): a point at distance 1+g from the origin in the
// direction of the angles x_1, …, x_{m-1} in units of π/2.
func dtlz2(x []float64, m int) []float64 {
	r := 1.0
	for _, v := range x[m-1:] {
		r += (v - 0.5) * (v - 0.5)
	}
	y := make([]float64, m)
	for j := range y {
		y[j] = r
		for _, v := range x[:m-1-j] {
			y[j] *= math.Cos(v * math.Pi / 2)
		}
		if j > 0 {
			y[j] *= math.Sin(x[m-1-j] * math.Pi / 2)
		}
	}
	return y
}

// DTLZ2 has m objectives of d inputs, 2 or 3. Its front is the part of the unit sphere with positive
// coordinates.
func DTLZ2(d, m int) Objective {
	ball := math.Pi / 4
	if m == 3 {
		ball = math.Pi / 6
	}
	name := fmt.Sprintf("dtlz2-%d", d)
	if m > 2 {
		name = fmt.Sprintf("dtlz2-%d-of-%d", d, m)
	}
	return several(name, fmt.Sprintf("%d objectives: the front is part of a sphere", m), d, Outcomes{
		Reference: repeat(1.1, m), Hypervolume: math.Pow(1.1, float64(m)) - ball,
		Func: func(x []float64) []float64 { return dtlz2(x, m) },
	})
}

// C2DTLZ2 is DTLZ2 with two objectives, feasible within 0.2 of the ends or the middle of the front (Deb and
// Jain 2014). The front has three arcs of the unit circle: the angles from 0, around π/4 and to π/2, up to
// 2 arcsin 0.1 away. The hypervolume is the integral over the arcs and the steps between them. BoTorch's problem of this
// name has a wider middle arc.
func C2DTLZ2(d int) Objective {
	return several(fmt.Sprintf("c2-dtlz2-%d", d), "dtlz2, feasible in three parts", d, Outcomes{
		Reference: repeat(1.1, 2), Bounds: []float64{0}, Hypervolume: 0.3823335944011557,
		Func: func(x []float64) []float64 {
			y := dtlz2(x, 2)
			near := func(a, b float64) float64 { return (y[0]-a)*(y[0]-a) + (y[1]-b)*(y[1]-b) - 0.04 }
			return append(y, min(near(1, 0), near(0, 1), near(math.Sqrt2/2, math.Sqrt2/2)))
		},
	})
}
