package main

import "math"

// problem is an objective to be minimised over the unit cube and a number with a bound.
type problem struct {
	name          string
	dim           int
	value, number func(x []float64) float64
	atLeast       bool
	bound         float64
	factor        float64 // standard deviation of the logarithm of the number: 0 is an exact problem
	budget        int
	noise         float64 // standard deviation of the objective
}

var problems = []problem{
	// The transforms were chosen on these, with seeds 1 to 10: first numbers over decades.
	{"pressure", 2, func(x []float64) float64 { return squares(x, .8, .7) }, func(x []float64) float64 { return math.Pow(10, 6*(x[0]+x[1]-1)) }, false, 1, 0, 30, 0},
	{"rate", 3, func(x []float64) float64 { return -(x[0] + .5*x[1] - square(x[2]-.4)) }, func(x []float64) float64 { return math.Exp(12*(x[0]-.5) + 3*math.Sin(5*x[1]) + x[2]) }, false, 1, 0, 30, 0},
	{"viscosity", 2, func(x []float64) float64 { return math.Sin(5*x[0]) + math.Cos(7*x[1]) + x[0] }, func(x []float64) float64 { return math.Exp(8*(math.Abs(x[0]-.3)+math.Abs(x[1]-.6)) - 3) }, false, 5, 0, 30, 0},
	{"yield", 2, func(x []float64) float64 { return squares(x, 1, 1) }, func(x []float64) float64 { return 1e3 * math.Exp(-30*squares(x, .2, .3)) }, true, 10, 0, 30, 0},
	{"product4", 4, func(x []float64) float64 { return squares(x, .7, .2, .9, .4) }, func(x []float64) float64 {
		s := 0.
		for i := range x {
			s += 3 * math.Sin(3*x[i]+float64(i))
		}
		return math.Exp(s)
	}, false, 2, 0, 40, 0},
	{"current", 3, func(x []float64) float64 { return -x[0]*x[1] + .3*x[2] }, func(x []float64) float64 { return 1e-9 * (math.Exp(20*x[0]*x[1]*(1-.5*x[2])) - 1) }, false, 1e-6, 0, 30, 0},
	{"cond5", 5, func(x []float64) float64 { return math.Abs(x[0]-.9) + square(x[1]-.1) + square(x[2]-x[3]) + x[4] }, func(x []float64) float64 {
		return math.Pow(10, 4*x[0]-3*x[1]*x[4]+2*math.Cos(4*x[2])-1)
	}, false, 100, 0, 50, 0},
	{"pressure-noisy", 2, func(x []float64) float64 { return squares(x, .8, .7) }, func(x []float64) float64 { return math.Pow(10, 6*(x[0]+x[1]-1)) }, false, 1, .3, 30, .02},
	{"yield-noisy", 2, func(x []float64) float64 { return squares(x, 1, 1) }, func(x []float64) float64 { return 1e3 * math.Exp(-30*squares(x, .2, .3)) }, true, 10, .3, 30, .02},
	{"inverse", 2, func(x []float64) float64 { return squares(x, .5, .5) }, func(x []float64) float64 { return .01 / (squares(x, .52, .45) + 1e-3) }, false, .3, 0, 30, 0},
	{"purity", 2, func(x []float64) float64 { return squares(x, .8, .7) }, func(x []float64) float64 { return math.Pow(10, -6*(x[0]+x[1]-1)) }, true, 1, 0, 30, 0},
	{"lifetime", 3, func(x []float64) float64 { return -(x[0] + .5*x[1] - square(x[2]-.4)) }, func(x []float64) float64 { return 500 * math.Exp(-12*(x[0]-.5)-3*math.Sin(5*x[1])-x[2]) }, true, 500, 0, 30, 0},
	// Numbers of one order of magnitude.
	{"disk", 2, func(x []float64) float64 { return -x[0] - .5*x[1] }, func(x []float64) float64 { return squares(x, .4, .4) }, false, .1, 0, 30, 0},
	{"waves", 2, func(x []float64) float64 { return x[0] + x[1] }, func(x []float64) float64 {
		return 1.5 - x[0] - 2*x[1] - .5*math.Sin(2*math.Pi*(square(x[0])-2*x[1]))
	}, false, 0, 0, 35, 0},
	{"sines", 2, func(x []float64) float64 { return math.Cos(12*x[0])*math.Cos(6*x[1]) + math.Sin(6*x[0]) }, func(x []float64) float64 {
		return math.Cos(6*x[0])*math.Cos(6*x[1]) - math.Sin(6*x[0])*math.Sin(6*x[1])
	}, false, -.5, 0, 40, 0},
	{"norm5", 5, func(x []float64) float64 { return squares(x, .2, .9, .4, .7, .5) + .2*math.Sin(9*x[0]) }, func(x []float64) float64 {
		s := 0.
		for _, v := range x {
			s += v * v
		}
		return s
	}, false, 1.0, 0, 50, 0},
	{"volume", 3, func(x []float64) float64 { return -x[0] - x[1] - 2*x[2] }, func(x []float64) float64 { return x[0] * x[1] * x[2] }, false, .1, 0, 30, 0},
	{"disk-noisy", 2, func(x []float64) float64 { return -x[0] - .5*x[1] }, func(x []float64) float64 { return squares(x, .4, .4) + .05 }, false, .15, .05, 30, .02},

	// Numbers that are cut off: the floor of the ratio, and the count of equal numbers, were chosen on these too.
	{"clamp9", 2, func(x []float64) float64 { return -x[0] - .5*x[1] }, func(x []float64) float64 { return max(1e-9, 4*(x[0]+.6*square(x[1])-.7)) }, false, 1, 0, 14, 0},
	{"clamp3", 2, func(x []float64) float64 { return -x[0] - .5*x[1] }, func(x []float64) float64 { return max(1e-3, 4*(x[0]+.6*square(x[1])-.7)) }, false, 1, 0, 14, 0},
	{"clamp0", 2, func(x []float64) float64 { return -x[0] - .5*x[1] }, func(x []float64) float64 { return max(0, 4*(x[0]+.6*square(x[1])-.7)) }, false, 1e-3, 0, 14, 0},
	{"detection", 3, func(x []float64) float64 { return squares(x, .8, .3, .9) }, func(x []float64) float64 { return 1e-6*(1+.1*math.Sin(50*x[0]+70*x[1])) + max(0, x[0]*x[2]-.3) }, false, .2, 0, 30, 0},
	// The transforms were confirmed on these, with seeds 11 to 20: first numbers over decades.
	{"errors", 3, func(x []float64) float64 { return -x[0] - .5*x[2] + .4*square(x[1]-.2) }, func(x []float64) float64 { return math.Floor(math.Exp(9*x[0]*x[2] + 3*x[1] - 2)) }, false, 10, 0, 35, 0},
	{"sinh", 2, func(x []float64) float64 { return squares(x, .9, .4) }, func(x []float64) float64 { return math.Sinh(8 * (x[0] - .3 - square(x[1]))) }, false, 0, 0, 30, 0},
	{"cubic", 3, func(x []float64) float64 { return -x[0] + .2*x[1]*x[2] }, func(x []float64) float64 { return 1e4 * math.Pow(x[0]-.4*x[1]-.3*x[2], 5) }, false, 0, 0, 35, 0},
	{"leak", 2, func(x []float64) float64 { return -x[0] * (1 + x[1]) }, func(x []float64) float64 { return math.Max(0, 1e-12*math.Expm1(22*(x[0]+.6*x[1]-.5))) }, false, 1e-9, 0, 30, 0},
	{"conduct", 4, func(x []float64) float64 { return squares(x, .1, .8, .6, .3) + x[0]*x[1] }, func(x []float64) float64 { return 2 * math.Exp(-14*(1-x[0])*(1-.5*x[1])+2*x[2]*x[3]) }, true, 1e-3, 0, 45, 0},
	{"fatigue", 3, func(x []float64) float64 { return .3*x[1] + .2*x[2] - .4*x[0] }, func(x []float64) float64 { return 1e3 * math.Pow((.2+x[1])*(.3+x[2])/(.1+x[0]), 6) }, true, 1e5, 0, 30, 0},
	{"dose", 2, func(x []float64) float64 { return -math.Exp(-4 * squares(x, .7, .3)) }, func(x []float64) float64 { return 1 / (1e-5 + math.Exp(-10*(x[0]-x[1]))) }, false, 3, 0, 30, 0},
	{"signal", 5, func(x []float64) float64 { return x[0] + x[1] + x[2] + .5*x[3] + .5*x[4] }, func(x []float64) float64 { return math.Pow(10, 5*x[0]*x[1]+2*x[2]-x[3]+math.Sin(4*x[4])) }, true, 300, 0, 50, 0},
	{"fatigue-noisy", 3, func(x []float64) float64 { return .3*x[1] + .2*x[2] - .4*x[0] }, func(x []float64) float64 { return 1e3 * math.Pow((.2+x[1])*(.3+x[2])/(.1+x[0]), 6) }, true, 1e5, .2, 30, .01},
	{"sinh-noisy", 2, func(x []float64) float64 { return squares(x, .9, .4) }, func(x []float64) float64 { return math.Sinh(8 * (x[0] - .3 - square(x[1]))) }, false, .5, .2, 30, .02},
	// Numbers of one order of magnitude.
	{"weight", 4, func(x []float64) float64 { return squares(x, 1, .7, .9, .8) }, func(x []float64) float64 { return x[0] + 2*x[1] + x[2]*x[3] }, false, 2, 0, 40, 0},
	{"ring", 2, func(x []float64) float64 { return -x[0] + .3*math.Sin(8*x[1]) }, func(x []float64) float64 { return math.Abs(math.Sqrt(squares(x, .5, .5)) - .3) }, false, .05, 0, 35, 0},
	{"ripples", 2, func(x []float64) float64 { return squares(x, .6, .6) }, func(x []float64) float64 { return math.Sin(9*x[0]) + math.Cos(11*x[1]) }, true, .8, 0, 40, 0},
	{"share", 3, func(x []float64) float64 { return math.Cos(6*x[0]) + x[1]*x[2] }, func(x []float64) float64 { return 1 / (1 + math.Exp(-4*(x[0]+x[1]-x[2]-.4))) }, true, .6, 0, 30, 0},
	{"temperature", 3, func(x []float64) float64 { return -x[0]*x[1] - .4*x[2] }, func(x []float64) float64 { return 300 + 200*x[0]*x[0] + 150*x[1]*x[2] }, false, 420, 0, 30, 0},
	{"weight-noisy", 4, func(x []float64) float64 { return squares(x, 1, .7, .9, .8) }, func(x []float64) float64 { return x[0] + 2*x[1] + x[2]*x[3] }, false, 2, .03, 40, .02},
	// The probability that a recommendation needs was confirmed on these, with seeds 1 to 10.
	{"ring-noisy", 2, func(x []float64) float64 { return -x[0] + .3*math.Sin(8*x[1]) }, func(x []float64) float64 { return math.Abs(math.Sqrt(squares(x, .5, .5))-.3) + .1 }, false, .2, .05, 35, .02},
	{"share-noisy", 3, func(x []float64) float64 { return math.Cos(6*x[0]) + x[1]*x[2] }, func(x []float64) float64 { return 1 / (1 + math.Exp(-4*(x[0]+x[1]-x[2]-.4))) }, true, .6, .05, 30, .05},
	{"volume-noisy", 3, func(x []float64) float64 { return -x[0] - x[1] - 2*x[2] }, func(x []float64) float64 { return .1 + x[0]*x[1]*x[2] }, false, .2, .1, 30, .05},
	{"rate-noisy", 3, func(x []float64) float64 { return -(x[0] + .5*x[1] - square(x[2]-.4)) }, func(x []float64) float64 { return math.Exp(12*(x[0]-.5) + 3*math.Sin(5*x[1]) + x[2]) }, false, 1, .3, 30, .02},
	{"signal-noisy", 5, func(x []float64) float64 { return x[0] + x[1] + x[2] + .5*x[3] + .5*x[4] }, func(x []float64) float64 { return math.Pow(10, 5*x[0]*x[1]+2*x[2]-x[3]+math.Sin(4*x[4])) }, true, 300, .2, 40, .05},
}

func square(x float64) float64 { return x * x }

// squares returns the squared distance between two points.
func squares(x []float64, to ...float64) float64 {
	sum := 0.0
	for i := range x {
		sum += square(x[i] - to[i])
	}
	return sum
}
