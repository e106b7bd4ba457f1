package benchmarks

import (
	"fmt"

	"github.com/functionspace/bo/space"
)

// Objective is a function to be minimised over a box, with its minimum if known.
type Objective struct {
	Name    string
	Summary string

	// Space has a float parameter for each coordinate: x1, x2, …, or the coordinates'
	// own names.
	Space  *space.Space
	Lo, Hi []float64

	// Minimum is the lowest value of the noise-free function, and Minimizers are points
	// of the box with this value. If the minimum is unknown, Minimum is NaN and
	// Minimizers is empty.
	Minimum    float64
	Minimizers [][]float64

	// NoiseFree reports whether Func always returns the same value at a point.
	NoiseFree bool

	// Func returns the value at x, of length Dim, in the units of Lo and Hi. It is
	// safe for concurrent use.
	Func func(x []float64) float64
}

// Dim returns the number of coordinates.
func (o Objective) Dim() int { return len(o.Lo) }

// At returns the value at a point of o.Space.
func (o Objective) At(p space.Point) float64 {
	x := make([]float64, o.Dim())
	for i, name := range o.names() {
		x[i] = p.Float(name)
	}
	return o.Func(x)
}

// inBox sets the bounds, and the space with parameters of the given names, by default
// x1, x2, ….
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

// inCube sets the same bounds in all d dimensions.
func (o Objective) inCube(d int, lo, hi float64) Objective {
	return o.inBox(repeat(lo, d), repeat(hi, d))
}

// names returns the names of the coordinates.
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
