package katib

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// parameter is a parameter of an experiment: its form in a study, and the texts of its values.
type parameter struct {
	space.Parameter
	belief *loop.Belief   // of a normal distribution
	texts  map[any]string // values of a list
	fixed  string         // text of the only value
	grid   *grid          // of steps on a logarithmic scale, which suggestions are rounded to
}

// grid is the numbers min + k·step for k from 0 to last.
type grid struct {
	min, step *big.Rat
	last      *big.Int
}

// at returns a number of the grid.
func (g *grid) at(k *big.Int) float64 {
	v, _ := new(big.Rat).Add(g.min, new(big.Rat).Mul(g.step, new(big.Rat).SetInt(k))).Float64()
	return v
}

// nearest returns the number of the grid that is nearest to v.
func (g *grid) nearest(v float64) float64 {
	k := new(big.Rat).Quo(new(big.Rat).Sub(new(big.Rat).SetFloat64(v), g.min), g.step)
	k.Add(k, big.NewRat(1, 2))
	n := new(big.Int).Div(k.Num(), k.Denom()) // rounds down
	switch {
	case n.Sign() < 0:
		n.SetInt64(0)
	case n.Cmp(g.last) > 0:
		n.Set(g.last)
	}
	return g.at(n)
}

// decimal returns the shortest decimal number of a float64 as a fraction.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

// parameterOf returns the parameter of a specification.
func parameterOf(s *api.ParameterSpec) (p parameter, err error) {
	f := s.GetFeasibleSpace()
	p.Name = s.GetName()
	switch s.GetParameterType() {
	case api.ParameterType_DOUBLE, api.ParameterType_INT:
		err = p.number(f, s.GetParameterType() == api.ParameterType_INT)
	case api.ParameterType_DISCRETE, api.ParameterType_CATEGORICAL:
		err = p.list(f, s.GetParameterType() == api.ParameterType_DISCRETE)
	default:
		err = fmt.Errorf("parameterType is unknown, want double, int, discrete or categorical")
	}
	if err != nil {
		err = fmt.Errorf("parameter %q: %w", p.Name, err)
	}
	return p, err
}

// finite reads a number of a feasible space.
func finite(name, text string, whole bool) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case text == "":
		return 0, fmt.Errorf("%s is missing", name)
	case err != nil || math.IsInf(v, 0) || math.IsNaN(v):
		return 0, fmt.Errorf("%s is %.40q, want a number", name, text)
	case whole && v != math.Trunc(v):
		return 0, fmt.Errorf("%s is %.40q, want a whole number", name, text)
	}
	return v, nil
}

// number reads a double or an int.
func (p *parameter) number(f *api.FeasibleSpace, whole bool) (err error) {
	if p.Min, err = finite("min", f.GetMin(), whole); err != nil {
		return err
	}
	if p.Max, err = finite("max", f.GetMax(), whole); err != nil {
		return err
	}
	if p.Kind = space.KindFloat; whole {
		p.Kind = space.KindInt
	}
	var step float64
	if f.GetStep() != "" {
		if step, err = finite("step", f.GetStep(), whole); err != nil {
			return err
		}
	}
	switch d := f.GetDistribution(); {
	case p.Min > p.Max:
		return fmt.Errorf("min %s is above max %s", f.GetMin(), f.GetMax())
	case step < 0:
		return fmt.Errorf("step is %s, want a positive number", f.GetStep())
	case d == api.Distribution_LOG_UNIFORM || d == api.Distribution_LOG_NORMAL:
		if p.Log = true; p.Min <= 0 {
			return fmt.Errorf("min is %s, and a logarithmic distribution needs a min above 0", f.GetMin())
		}
	}
	if step > 0 && !(whole && step == 1) {
		p.steps(step)
	}
	if p.Min == p.Max {
		p.fix(p.Min, strconv.FormatFloat(p.Min, 'g', -1, 64))
		return nil
	}
	switch f.GetDistribution() {
	case api.Distribution_NORMAL:
		p.belief = &loop.Belief{Around: p.Min + (p.Max-p.Min)/2, Within: (p.Max - p.Min) / 6}
	case api.Distribution_LOG_NORMAL:
		p.belief = &loop.Belief{Around: math.Sqrt(p.Min) * math.Sqrt(p.Max), Factor: math.Pow(p.Max/p.Min, 1./6)}
	}
	return nil
}

// steps restricts the parameter to a grid, whose largest number replaces max. A study has no steps on
// a logarithmic scale: suggestions are rounded then.
func (p *parameter) steps(step float64) {
	g := &grid{min: decimal(p.Min), step: decimal(step)}
	k := new(big.Rat).Quo(new(big.Rat).Sub(decimal(p.Max), g.min), g.step)
	g.last = new(big.Int).Div(k.Num(), k.Denom())
	p.Max = g.at(g.last)
	if p.Log {
		p.grid = g
	} else {
		p.Step = step
	}
}

// fix makes the parameter one of a single value.
func (p *parameter) fix(v any, text string) {
	p.Parameter = space.Parameter{Name: p.Name, Kind: space.KindFixed, Value: v}
	p.fixed = text
}

// list reads a discrete or categorical parameter. Values that are equal count once.
func (p *parameter) list(f *api.FeasibleSpace, numbers bool) error {
	p.Kind, p.texts = space.KindCategorical, map[any]string{}
	for _, text := range f.GetList() {
		var v any = text
		if numbers {
			number, err := finite("an entry of list", text, false)
			if err != nil {
				return fmt.Errorf("%w: use parameterType categorical for texts", err)
			}
			v = number
		}
		if _, twice := p.texts[v]; !twice {
			p.texts[v] = text
			p.Values = append(p.Values, v)
		}
	}
	if numbers {
		p.Kind = space.KindOrdinal
		slices.SortFunc(p.Values, func(a, b any) int { return cmp.Compare(a.(float64), b.(float64)) })
	}
	switch len(p.Values) {
	case 0:
		return fmt.Errorf("list is empty")
	case 1:
		p.fix(p.Values[0], p.texts[p.Values[0]])
	}
	return nil
}

// text returns the text of a suggested value: an entry of the list as it is written there, and a
// number as JSON has it.
func (p *parameter) text(v any) (string, error) {
	if p.Kind == space.KindFixed {
		return p.fixed, nil
	}
	if text, ok := p.texts[v]; ok {
		return text, nil
	}
	if p.grid != nil {
		switch number := v.(type) {
		case float64:
			v = p.grid.nearest(number)
		case int:
			v = p.grid.nearest(float64(number))
		}
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// value returns the value of a text of an assignment.
func (p *parameter) value(text string) (any, error) {
	switch p.Kind {
	case space.KindFixed:
		return p.Value, nil
	case space.KindCategorical:
		return text, nil
	}
	return finite("the value", text, false)
}
