package main

import (
	"context"
	"errors"
	"math"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// unweighed hides that an acquisition function takes the probability of a failure: failed trials
// then have the worst value.
type unweighed struct{ acquisition.Acquisition }

var errRegion = errors.New("the point lies in the failing region")

// hidden is an objective that fails where a condition does not hold.
func hidden(f func([]float64) float64, holds func([]float64) bool, names ...string) loop.Objective {
	return func(_ context.Context, p space.Point) (float64, error) {
		x := make([]float64, len(names))
		for i, name := range names {
			x[i] = p.Float(name)
		}
		if !holds(x) {
			return 0, errRegion
		}
		return f(x), nil
	}
}

// box returns the space of floats in [0, high].
func box(high float64, names ...string) *space.Space {
	var params []space.Parameter
	for _, name := range names {
		params = append(params, space.Float(name, 0, high))
	}
	s, err := space.New(params...)
	if err != nil {
		panic(err)
	}
	return s
}

// failures are problems with a hidden failing region, with and without its model. An acquisition function that
// hides the probability turns the local model off, so a variant has the probability alone.
func failures() []variant {
	hartmann, err := benchmarks.Lookup("hartmann6")
	if err != nil {
		panic(err)
	}
	var names []string
	for _, p := range hartmann.Space.Parameters() {
		names = append(names, p.Name)
	}
	problems := []variant{
		{problem: "Gramacy", space: box(1, "x", "y"), minimum: 0.5997880520, options: loop.Options{Budget: 40}, objective: hidden(
			func(x []float64) float64 { return x[0] + x[1] },
			func(x []float64) bool {
				return 1.5-x[0]-2*x[1]-0.5*math.Sin(2*math.Pi*(x[0]*x[0]-2*x[1])) <= 0 && x[0]*x[0]+x[1]*x[1] <= 1.5
			}, "x", "y")},
		{problem: "Gardner", space: box(6, "x", "y"), minimum: -2, options: loop.Options{Budget: 40}, objective: hidden(
			func(x []float64) float64 { return math.Cos(2*x[0])*math.Cos(x[1]) + math.Sin(x[0]) },
			func(x []float64) bool { return math.Cos(x[0]+x[1]) <= 0.5 }, "x", "y")},
		{problem: "Hartmann-6", space: hartmann.Space, minimum: hartmann.Minimum, options: loop.Options{Budget: 60}, objective: func(_ context.Context, p space.Point) (float64, error) {
			var square float64
			for _, name := range names {
				square += p.Float(name) * p.Float(name)
			}
			if square > 1.2 {
				return 0, errRegion
			}
			return hartmann.At(p), nil
		}},
	}
	var all []variant
	for _, v := range problems {
		v.options.NoiseFree = true
		v.name = "learned probability of a failure"
		all = append(all, v)
		v.name += ", no local model"
		v.options.Local = loop.LocalNone
		all = append(all, v)
		v.name = "worst value"
		v.options.Acquisition = unweighed{acquisition.Auto{}}
		all = append(all, v)
	}
	return all
}
