package insight

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Axis describes an axis of a picture.
type Axis struct {
	Name string `json:"name"`
	// Kind is the kind of the parameter. An axis of KindFloat or KindInt has numbers, and
	// other axes have the Ticks as categories.
	Kind  space.Kind `json:"kind"`
	Log   bool       `json:"log,omitempty"`
	Min   float64    `json:"min,omitempty"` // of a float or int
	Max   float64    `json:"max,omitempty"`
	Ticks []any      `json:"ticks,omitempty"` // values of other kinds, in order
}

// axisOf returns the axis of a parameter.
func axisOf(p space.Parameter) Axis {
	a := Axis{Name: p.Name, Kind: p.Kind}
	switch p.Kind {
	case space.KindFloat, space.KindInt:
		a.Log, a.Min, a.Max = p.Log, p.Min, p.Max
	case space.KindBool:
		a.Ticks = []any{false, true}
	default:
		a.Ticks = p.Values
	}
	return a
}

// grid is a list of values of one parameter with their encodings.
type grid struct {
	axis       Axis
	first, end int // columns of the parameter
	values     []any
	encoded    [][]float64
}

// newGrid returns about n values of a parameter, equally spaced on its scale. A parameter with
// at most n values, or with categories, has all values.
func newGrid(s *space.Space, p space.Parameter, n int) grid {
	g := grid{axis: axisOf(p)}
	g.first, g.end = s.Columns(p.Name)
	p.When = space.Condition{}
	alone, err := space.New(p)
	if err != nil {
		panic("insight: parameter of a space: " + err.Error())
	}
	add := func(at space.Point) {
		if v := at.Value(p.Name); len(g.values) == 0 || g.values[len(g.values)-1] != v {
			g.values, g.encoded = append(g.values, v), append(g.encoded, alone.Encode(at))
		}
	}
	size, finite := alone.Size()
	categories := p.Kind != space.KindFloat && p.Kind != space.KindInt
	if finite && (categories || size <= n) {
		for k := range size {
			add(alone.At(k))
		}
		return g
	}
	for k := range n {
		add(alone.Decode([]float64{float64(k) / float64(n-1)}))
	}
	return g
}

// set writes the k-th value of g to the encoded point u.
func (g *grid) set(u []float64, k int) { copy(u[g.first:g.end], g.encoded[k]) }

// parameter returns a parameter of v that is not fixed.
func parameter(v *loop.View, name string) (space.Parameter, error) {
	i := slices.IndexFunc(v.Space.Parameters(), func(p space.Parameter) bool { return p.Name == name })
	if i < 0 {
		return space.Parameter{}, fmt.Errorf("%w: there is no parameter %q", ErrArgument, name)
	}
	p := v.Space.Parameters()[i]
	if p.Kind == space.KindFixed {
		return p, fmt.Errorf("%w: parameter %q is fixed", ErrArgument, name)
	}
	return p, nil
}

// free returns the parameters that are not fixed.
func free(s *space.Space) []space.Parameter {
	return slices.DeleteFunc(s.Parameters(), func(p space.Parameter) bool { return p.Kind == space.KindFixed })
}

// matrix returns the rows as a matrix.
func matrix(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	return x
}
