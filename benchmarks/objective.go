package benchmarks

import (
	"fmt"

	"github.com/functionspace/bo/space"
)

// Objective is a function to be minimised over a box, with what is known
// about its minimum.
type Objective struct {
	Name    string
	Summary string

	// Space has a float parameter for each coordinate: x1, x2, … unless the
	// coordinates have names of their own.
	Space  *space.Space
	Lo, Hi []float64

	// Minimum is the least value of the function without noise, and Minimizers are
	// points of the box where it is reached. Minimum is NaN, and Minimizers is
	// empty, if the minimum is not known.
	Minimum    float64
	Minimizers [][]float64

	// NoiseFree says that Func always gives the same value at the same point.
	NoiseFree bool

	// Func returns the value at x, of length Dim, in the units of Lo and Hi. It is
	// safe for concurrent use.
	Func func(x []float64) float64
}

// Dim is the number of coordinates.
func (o Objective) Dim() int { return len(o.Lo) }

// At returns the value at a point of o.Space.
func (o Objective) At(p space.Point) float64 {
	x := make([]float64, o.Dim())
	for i, name := range o.names() {
		x[i] = p.Float(name)
	}
	return o.Func(x)
}

// inBox sets the bounds, and the space with parameters of the given names, or x1,
// x2, … if there are none.
func (o Objective) inBox(lo, hi []float64, names ...string) Objective {
	o.Lo, o.Hi = lo, hi
	params := make([]space.Parameter, len(lo))
	for i := range lo {
		name := fmt.Sprintf("x%d", i+1)
		if len(names) > 0 {
			name = names[i]
		}
		params[i] = space.Float(name, lo[i], hi[i])
	}
	var err error
	if o.Space, err = space.New(params...); err != nil {
		panic("benchmarks: " + err.Error())
	}
	return o
}

// inCube is inBox with the same bounds in all d dimensions.
func (o Objective) inCube(d int, lo, hi float64) Objective {
	return o.inBox(repeat(lo, d), repeat(hi, d))
}

// names are the names of the coordinates.
func (o Objective) names() []string {
	names := make([]string, 0, o.Dim())
	for _, p := range o.Space.Parameters() {
		names = append(names, p.Name)
	}
	return names
}

func repeat(v float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
