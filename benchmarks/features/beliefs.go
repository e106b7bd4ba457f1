package main

import (
	"context"
	"math"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// must returns a built-in objective.
func must(name string) benchmarks.Objective {
	o, err := benchmarks.Lookup(name)
	if err != nil {
		panic(err)
	}
	return o
}

// beliefs are problems with and without beliefs, true and misleading ones. A belief about the optimum and a prior
// mean turn the local model off.
func beliefs() (all []variant) {
	branin, hartmann := must("branin"), must("hartmann6")
	at := func(o benchmarks.Objective) loop.Objective {
		return func(_ context.Context, p space.Point) (float64, error) { return o.At(p), nil }
	}
	add := func(problem, name string, o benchmarks.Objective, budget int, change func(*variant)) {
		v := variant{problem: problem, name: name, space: o.Space, objective: at(o), minimum: o.Minimum, options: loop.Options{Budget: budget, NoiseFree: true}}
		change(&v)
		all = append(all, v)
	}
	optimum := func(name string, beliefs map[string]loop.Belief) {
		add("Branin", name, branin, 30, func(v *variant) { v.options.Optimum = beliefs })
	}
	optimum("nothing", nil)
	add("Branin", "nothing, no local model", branin, 30, func(v *variant) { v.options.Local = loop.LocalNone })
	optimum("optimum", map[string]loop.Belief{"x1": {Around: 3, Within: 1.5}, "x2": {Around: 2.5, Within: 1.5}})
	optimum("optimum, misleading", map[string]loop.Belief{"x1": {Around: -4, Within: 1.5}, "x2": {Around: 1, Within: 1.5}})

	// The minimum of Hartmann-6, moved by 0.1 in each parameter, is a good guess.
	guess, corner := map[string]any{}, map[string]any{}
	for i, x := range []float64{0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573} {
		name := hartmann.Space.Parameters()[i].Name
		guess[name], corner[name] = math.Abs(x-0.1), 1.0
	}
	points := func(name string, first ...map[string]any) {
		add("Hartmann-6", name, hartmann, 45, func(v *variant) { v.options.First = first })
	}
	points("nothing")
	points("first", guess)
	points("first, misleading", corner)

	earlier := func(name string, shift float64) {
		add("Hartmann-6", name, hartmann, 45, func(v *variant) {
			v.prepare = func(s *loop.Study) error { return evaluated(s, hartmann, shift) }
		})
	}
	earlier("earlier, 40 points", 0)
	earlier("earlier, misleading", 0.2)

	global := bowl("nothing, no local model", math.NaN())
	global.options.Local = loop.LocalNone
	return append(all, bowl("nothing", math.NaN()), global, bowl("prior mean", 0.4), bowl("prior mean, misleading", 0.8))
}

// evaluated adds 40 points of a Sobol sequence with the values of o at points moved by shift.
func evaluated(s *loop.Study, o benchmarks.Objective, shift float64) error {
	u := space.Sobol(40, o.Space.Dim(), random.New(s.Options().Seed, "earlier", 0))
	for i := range 40 {
		p := o.Space.Decode(u.RawRowView(i))
		moved := make([]float64, o.Space.Dim())
		for j, v := range u.RawRowView(i) {
			moved[j] = 1 - math.Abs(1-v-shift)
		}
		if _, err := s.Add(p, o.At(o.Space.Decode(moved))); err != nil {
			return err
		}
	}
	return nil
}

// bowl is a steep bowl with small waves in four inputs. The prior mean is the bowl with its centre
// at a given place; NaN is none.
func bowl(name string, centre float64) variant {
	names := []string{"a", "b", "c", "d"}
	around := func(c float64, p space.Point) (sum float64) {
		for _, name := range names {
			sum += 20 * math.Pow(p.Float(name)-c, 2)
		}
		return sum
	}
	v := variant{problem: "Bowl-4", name: name, space: box(1, names...), options: loop.Options{Budget: 40, NoiseFree: true}}
	waves := func(p space.Point) (sum float64) {
		for _, name := range names {
			sum += 0.5 * (1 - math.Cos(6*math.Pi*(p.Float(name)-0.45)))
		}
		return sum
	}
	v.objective = func(_ context.Context, p space.Point) (float64, error) { return around(0.4, p) + waves(p), nil }
	v.minimum = math.Inf(1)
	for i := range 100_001 { // the inputs are separate and alike
		x := float64(i) / 100_000
		v.minimum = min(v.minimum, 4*(20*math.Pow(x-0.4, 2)+0.5*(1-math.Cos(6*math.Pi*(x-0.45)))))
	}
	if !math.IsNaN(centre) {
		v.options.PriorMean = loop.Mean{Text: name, At: func(p space.Point) float64 { return around(centre, p) }}
	}
	return v
}
