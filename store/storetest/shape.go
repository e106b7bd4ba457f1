package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// shape is a random search space with an own account of its points, which shares no code with
// packages space and expression.
type shape struct {
	params      []shapeParam // each after the parameters of its condition
	constraints []clause
	defaults    map[string]any
}

type shapeParam struct {
	space.Parameter
	when *clause
}

// clause is a condition on parameters.
type clause struct {
	text  string
	on    []string
	holds func(values map[string]any) bool
}

// newShape draws a space of one to six parameters of all kinds. Parameters of one name have one
// kind in all shapes, and different ranges.
func newShape(rng *rand.Rand) *shape {
	s := &shape{defaults: map[string]any{}}
	makers := []func() space.Parameter{
		func() space.Parameter { return space.Bool("b") },
		func() space.Parameter { return space.Categorical("c", []any{"u", "v", "w"}[:2+rng.IntN(2)]...) },
		func() space.Parameter { return space.Int("n", rng.IntN(3), 3+rng.IntN(3)) },
		func() space.Parameter { return space.StepFloat("s", 0, 0.25*float64(2+rng.IntN(3)), 0.25) },
		func() space.Parameter { return space.Ordinal("o", []any{1.0, 2.0, 4.0}[:2+rng.IntN(2)]...) },
		func() space.Parameter { return space.LogInt("m", 1, 2+rng.IntN(6)) },
		func() space.Parameter { return space.Float("x", -rng.Float64(), rng.Float64()+0.1) },
		func() space.Parameter { return space.LogFloat("y", 1e-3, math.Pow(10, rng.Float64())) },
		func() space.Parameter { return space.Fixed("f", "fixed") },
	}
	continuous := rng.IntN(2) == 0
	for _, k := range rng.Perm(len(makers))[:1+rng.IntN(6)] {
		p := shapeParam{Parameter: makers[k]()}
		if p.Kind == space.KindFloat && p.Step == 0 && !continuous {
			continue
		}
		if len(s.params) > 0 && rng.IntN(2) == 0 {
			p.when = s.condition(rng)
			p.When.Text = p.when.text
		}
		if rng.IntN(3) == 0 && p.Kind != space.KindFixed {
			s.defaults[p.Name] = p.draw(rng)
		}
		s.params = append(s.params, p)
	}
	if !slices.ContainsFunc(s.params, func(p shapeParam) bool { return p.Kind != space.KindFixed }) {
		s.params = append(s.params, shapeParam{Parameter: space.Int("n", 1, 6)})
	}
	for range rng.IntN(3) {
		if c := s.constraint(rng); c != nil {
			s.constraints = append(s.constraints, *c)
		}
	}
	return s
}

// condition draws a condition on one parameter.
func (s *shape) condition(rng *rand.Rand) *clause {
	p := s.params[rng.IntN(len(s.params))]
	name := p.Name
	c := &clause{on: []string{name}}
	switch p.Kind {
	case space.KindBool:
		want := rng.IntN(2) == 0
		if c.text = name; !want {
			c.text = "not " + name
		}
		c.holds = func(v map[string]any) bool { return v[name] == want }
	case space.KindCategorical:
		c.text = "c in ['u', 'v']"
		c.holds = func(v map[string]any) bool { return v["c"] == "u" || v["c"] == "v" }
	case space.KindFixed:
		c.text = "f == 'fixed'"
		c.holds = func(map[string]any) bool { return true }
	default:
		limit := p.number(p.draw(rng))
		c.text = fmt.Sprintf("%s <= %v", name, limit)
		c.holds = func(v map[string]any) bool { return v[name].(float64) <= limit }
	}
	return c
}

// constraint draws a bound on the sum of two numbers that the least values satisfy, or nil.
func (s *shape) constraint(rng *rand.Rand) *clause {
	var numeric []shapeParam
	for _, p := range s.params {
		if p.Kind == space.KindFloat || p.Kind == space.KindInt {
			numeric = append(numeric, p)
		}
	}
	if len(numeric) < 2 {
		return nil
	}
	k := rng.Perm(len(numeric))
	a, b := numeric[k[0]], numeric[k[1]]
	limit := a.Min + b.Min + (0.2+0.8*rng.Float64())*(a.Max+b.Max-a.Min-b.Min)
	return &clause{
		text: fmt.Sprintf("%s + %s <= %v", a.Name, b.Name, limit), on: []string{a.Name, b.Name},
		holds: func(v map[string]any) bool { return v[a.Name].(float64)+v[b.Name].(float64) <= limit },
	}
}

// values returns the values of a parameter that is not continuous.
func (p *shapeParam) values() (all []any) {
	switch p.Kind {
	case space.KindBool:
		return []any{false, true}
	case space.KindFixed:
		return []any{p.Value}
	case space.KindInt, space.KindFloat:
		step := p.Step
		if step == 0 {
			step = 1
		}
		for v := p.Min; v <= p.Max+1e-9; v += step {
			all = append(all, v)
		}
		return all
	}
	return p.Values
}

func (p *shapeParam) continuous() bool { return p.Kind == space.KindFloat && p.Step == 0 }

// draw returns a random value.
func (p *shapeParam) draw(rng *rand.Rand) any {
	if p.continuous() {
		return p.Min + rng.Float64()*(p.Max-p.Min)
	}
	all := p.values()
	return all[rng.IntN(len(all))]
}

// number returns a value as a number.
func (p *shapeParam) number(v any) float64 {
	f, _ := v.(float64)
	return f
}

// admits reports whether v is a value of the parameter.
func (p *shapeParam) admits(v any) bool {
	if f, ok := v.(float64); ok && p.continuous() {
		return f >= p.Min && f <= p.Max
	}
	return slices.Contains(p.values(), v)
}

// complete reports whether all parameters of a clause have values.
func (c *clause) complete(values map[string]any) bool {
	return !slices.ContainsFunc(c.on, func(name string) bool { _, ok := values[name]; return !ok })
}

// fits reports whether the values are a point of the space.
func (s *shape) fits(values map[string]any) bool {
	n := 0
	for _, p := range s.params {
		v, ok := values[p.Name]
		active := p.when == nil || p.when.complete(values) && p.when.holds(values)
		if active != ok || ok && !p.admits(v) {
			return false
		}
		if ok {
			n++
		}
	}
	for _, c := range s.constraints {
		if c.complete(values) && !c.holds(values) {
			return false
		}
	}
	return n == len(values)
}

// adapt returns the values of a trial of another shape in this one: without unknown parameters,
// and with defaults. ok is false if they are no point.
func (s *shape) adapt(values map[string]any) (out map[string]any, ok bool) {
	out = map[string]any{}
	for _, p := range s.params {
		v, given := values[p.Name]
		active := p.when == nil || p.when.complete(out) && p.when.holds(out)
		switch {
		case active && !given && p.Kind == space.KindFixed:
			v = p.Value
		case active && !given:
			v = s.defaults[p.Name]
		}
		if v != nil {
			out[p.Name] = v
		}
	}
	return out, s.fits(out)
}

// draw returns a random point, or nil if a short search finds none.
func (s *shape) draw(rng *rand.Rand) map[string]any {
	for range 100 {
		values := map[string]any{}
		for _, p := range s.params {
			if p.when == nil || p.when.complete(values) && p.when.holds(values) {
				values[p.Name] = p.draw(rng)
			}
		}
		if s.fits(values) {
			return values
		}
	}
	return nil
}

// count returns the number of points; 0 is infinite.
func (s *shape) count() int {
	if slices.ContainsFunc(s.params, func(p shapeParam) bool { return p.continuous() }) {
		return 0
	}
	n := 0
	values := map[string]any{}
	var visit func(k int)
	visit = func(k int) {
		if k == len(s.params) {
			if s.fits(values) {
				n++
			}
			return
		}
		p := s.params[k]
		if p.when != nil && !(p.when.complete(values) && p.when.holds(values)) {
			visit(k + 1)
			return
		}
		for _, v := range p.values() {
			values[p.Name] = v
			visit(k + 1)
		}
		delete(values, p.Name)
	}
	visit(0)
	return n
}

// key is equal for equal points.
func key(values map[string]any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// write sets the space of a definition.
func (s *shape) write(d *study.Definition, rng *rand.Rand) {
	d.Parameters, d.Constraints, d.Defaults = nil, nil, maps.Clone(s.defaults)
	for _, k := range rng.Perm(len(s.params)) {
		d.Parameters = append(d.Parameters, s.params[k].Parameter)
	}
	for _, c := range s.constraints {
		d.Constraints = append(d.Constraints, c.text)
	}
}

// randomDefinition draws a study of the shape with a cheap method.
func randomDefinition(s *shape, rng *rand.Rand) *study.Definition {
	budget := 5 + rng.IntN(20)
	d := &study.Definition{
		Version: 1, Name: "s", Budget: budget, Initial: budget, Seed: rng.Uint64() >> 12,
		Objectives: []study.Objective{{Name: "loss", NoiseFree: rng.IntN(2) == 0, Goal: []string{study.Minimize, study.Maximize}[rng.IntN(2)]}},
		Maximizer:  map[string]any{"raw": 16, "starts": 1, "iterations": 5},
	}
	switch rng.IntN(3) {
	case 0:
		d.Stop = loop.Stop{Rule: loop.ASHA, Eta: 2, MaxSteps: 9}
	case 1:
		d.Stop = loop.Stop{Rule: loop.Median, Startup: 1 + rng.IntN(3)}
	}
	if rng.IntN(6) == 0 {
		d.Batch = 1 + rng.IntN(3)
	}
	if rng.IntN(30) == 0 { // with suggestions of a Gaussian process
		d.Initial = 2 + rng.IntN(3)
	}
	if rng.IntN(4) == 0 {
		d.Require = []string{"latency <= 1"}
	}
	s.write(d, rng)
	return d
}
