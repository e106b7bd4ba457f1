package loop

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// Belief is a belief about the best value of a parameter: Around with Factor or Within for
// a float or int, Values for a bool or categorical.
type Belief struct {
	// Around is the most probable value of a float or int. Its encoding has a normal density
	// within the bounds.
	Around float64 `json:"around,omitempty"`
	// Factor is the factor that is one standard deviation of a logarithmic parameter.
	Factor float64 `json:"factor,omitempty"`
	// Within is the standard deviation of another parameter, in its unit.
	Within float64 `json:"within,omitempty"`
	// Values are probabilities of values, by their text. The values left out share the rest.
	Values map[string]float64 `json:"values,omitempty"`
}

const (
	// optimumStrength is β of Hvarfner et al. (2022): the density of the optimum has the
	// exponent β/n after n suggestions.
	optimumStrength = 10
	// optimumDoubt is the share of a uniform density in each belief. It bounds the cost of a
	// belief that is wrong.
	optimumDoubt = 0.05
)

// optimum is the density of the optimum in the unit cube: independent beliefs.
type optimum struct {
	dim   int
	terms []belief
}

// belief is the density of one parameter.
type belief struct {
	columns  []int
	mean, sd float64   // of a number
	mass     float64   // mass of the normal density in [0,1]
	log      []float64 // log densities of the values of a categorical; nil for a number
}

// Check returns the fault of a belief about the parameter with the given name, nil if there is
// none.
func (b Belief) Check(s *space.Space, name string) error {
	o, err := newOptimum(s, map[string]Belief{name: b})
	if faults, ok := errors.AsType[space.Faults](err); ok && o == nil {
		return faults[0]
	}
	return err
}

// newOptimum returns an error that names every invalid belief.
func newOptimum(s *space.Space, beliefs map[string]Belief) (*optimum, error) {
	o, coordinates := &optimum{dim: s.Dim()}, s.Coordinates()
	var names []string
	by := map[string]int{}
	for i, c := range coordinates {
		names, by[c.Parameter.Name] = append(names, c.Parameter.Name), i
	}
	var faults space.Faults
	for _, name := range slices.Sorted(maps.Keys(beliefs)) {
		i, ok := by[name]
		if !ok {
			faults = append(faults, fmt.Errorf("optimum: %q is not a parameter%s", name, didyoumean.Hint(name, names)))
			continue
		}
		b, err := beliefs[name].encode(s, coordinates[i])
		if err != nil {
			faults = append(faults, fmt.Errorf("optimum: parameter %q: %w", name, err))
			continue
		}
		o.terms = append(o.terms, b)
	}
	if faults != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, faults)
	}
	return o, nil
}

// encode returns the density of a belief in the encoding.
func (b Belief) encode(s *space.Space, c space.Coordinate) (belief, error) {
	p := c.Parameter
	if p.When.Text != "" || len(p.When.On) > 0 {
		return belief{}, fmt.Errorf("it has a condition: a belief about the optimum needs a parameter that is always active")
	}
	switch p.Kind {
	case space.KindFloat, space.KindInt:
		return b.encodeNumber(c)
	case space.KindBool:
		p.Values = []any{false, true}
	case space.KindCategorical:
		if n := len(p.Values); n > 2 && n != c.Columns {
			return belief{}, fmt.Errorf("it has %d values, too many for a belief about the optimum", n)
		}
	default:
		return belief{}, fmt.Errorf("type %s has no belief about the optimum", p.Kind)
	}
	return b.encodeValues(c, p.Values)
}

func (b Belief) encodeNumber(c space.Coordinate) (belief, error) {
	p := c.Parameter
	out := belief{columns: []int{c.First}}
	switch {
	case b.Values != nil:
		return out, fmt.Errorf("a number has around, not values")
	case !(b.Around >= p.Min && b.Around <= p.Max):
		return out, fmt.Errorf("around is %v, want %v to %v", b.Around, p.Min, p.Max)
	case p.Log && (b.Within != 0 || !(b.Factor > 1) || math.IsInf(b.Factor, 0)):
		return out, fmt.Errorf("it is logarithmic and needs a factor above 1, such as {around: %v, factor: 3}", b.Around)
	case !p.Log && (b.Factor != 0 || !(b.Within > 0) || math.IsInf(b.Within, 0)):
		return out, fmt.Errorf("it needs a standard deviation within, above 0, such as {around: %v, within: %.2g}", b.Around, (p.Max-p.Min)/10)
	case p.Log && p.Kind == space.KindInt:
		out.mean = (math.Log(b.Around) - math.Log(p.Min-0.5)) / c.Width
	case p.Log:
		out.mean = (math.Log(b.Around) - math.Log(p.Min)) / c.Width
	case p.Kind == space.KindInt || p.Step > 0:
		step := max(p.Step, 1)
		if p.Kind == space.KindFloat {
			step = p.Step
		}
		out.mean = (b.Around - p.Min + step/2) / c.Width
	default:
		out.mean = (b.Around - p.Min) / c.Width
	}
	if out.sd = b.Within / c.Width; p.Log {
		out.sd = math.Log(b.Factor) / c.Width
	}
	out.mass = 0.5 * (math.Erf((1-out.mean)/(out.sd*math.Sqrt2)) + math.Erf(out.mean/(out.sd*math.Sqrt2)))
	return out, nil
}

func (b Belief) encodeValues(c space.Coordinate, values []any) (belief, error) {
	out := belief{}
	for k := range c.Columns {
		out.columns = append(out.columns, c.First+k)
	}
	if b.Around != 0 || b.Factor != 0 || b.Within != 0 || len(b.Values) == 0 {
		return out, fmt.Errorf("type %s has probabilities of values", c.Parameter.Kind)
	}
	left, rest := 1.0, len(values)
	var texts []string
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Values)) {
		p := b.Values[name]
		if !slices.Contains(texts, name) {
			return out, fmt.Errorf("%q is not a value%s", name, didyoumean.Hint(name, texts))
		}
		if !(p >= 0 && p <= 1) {
			return out, fmt.Errorf("the probability of %s is %v, want 0 to 1", name, p)
		}
		left -= p
		rest--
	}
	if left < -1e-9 || rest == 0 && left > 1e-9 {
		return out, fmt.Errorf("the probabilities sum to %v, want 1", 1-left)
	}
	for _, text := range texts {
		p, given := b.Values[text]
		if !given {
			p = max(0, left) / float64(rest)
		}
		out.log = append(out.log, math.Log((1-optimumDoubt)*p*float64(len(values))+optimumDoubt))
	}
	return out, nil
}

// Dim implements acquisition.Function.
func (o *optimum) Dim() int { return o.dim }

// Eval writes the log density, relative to a uniform density. Between the values of a
// categorical it is linear.
func (o *optimum) Eval(value []float64, grad, x *mat.Dense) {
	if grad != nil {
		grad.Zero()
	}
	for i := range value {
		value[i] = 0
		for _, b := range o.terms {
			row, g := x.RawRowView(i), []float64(nil)
			if grad != nil {
				g = grad.RawRowView(i)
			}
			value[i] += b.eval(row, g)
		}
	}
}

func (b belief) eval(x, grad []float64) (value float64) {
	add := func(column int, slope float64) {
		if grad != nil {
			grad[column] += slope
		}
	}
	switch {
	case b.log == nil:
		j := b.columns[0]
		z := (x[j] - b.mean) / b.sd
		normal := (1 - optimumDoubt) * math.Exp(-z*z/2) / (math.Sqrt(2*math.Pi) * b.sd * b.mass)
		add(j, -z/b.sd*normal/(normal+optimumDoubt))
		return math.Log(normal + optimumDoubt)
	case len(b.columns) == 1:
		j := b.columns[0]
		add(j, b.log[1]-b.log[0])
		return b.log[0] + x[j]*(b.log[1]-b.log[0])
	}
	for k, j := range b.columns {
		add(j, b.log[k])
		value += x[j] * b.log[k]
	}
	return value
}

// tempered is an optimum with an exponent.
type tempered struct {
	*optimum
	exponent float64
}

func (o tempered) Eval(value []float64, grad, x *mat.Dense) {
	o.optimum.Eval(value, grad, x)
	for i := range value {
		value[i] *= o.exponent
	}
	if grad != nil {
		grad.Scale(o.exponent, grad)
	}
}

// believed returns k points drawn from the density of the optimum among feasible points,
// without those in seen, and adds them to seen. There may be fewer.
func (t *task) believed(k, trial int, seen map[string]bool) []space.Point {
	const candidates = 1024
	rng := random.New(t.opts.Seed, "optimum", trial)
	var x *mat.Dense
	if t.domain.Restricted() {
		x = t.domain.Sample(candidates, rng)
	} else {
		x = space.Sobol(candidates, t.domain.Dim(), rng)
	}
	n, _ := x.Dims()
	score := make([]float64, n)
	for i := range score { // projected: categoricals have one value
		t.domain.Project(x.RawRowView(i))
	}
	t.optimum.Eval(score, nil, x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
		score[i] -= math.Log(rng.ExpFloat64()) // the largest are a draw (Gumbel)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	var out []space.Point
	for _, i := range order {
		if p := t.domain.Decode(x.RawRowView(i)); len(out) < k && t.domain.Feasible(x.RawRowView(i)) && !seen[p.Key()] {
			seen[p.Key()] = true
			out = append(out, p)
		}
	}
	return out
}
