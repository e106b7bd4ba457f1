package benchmarks

import (
	"fmt"

	"github.com/functionspace/bo/space"
)

// Objective is a function to be minimised over a box, with its minimum if known.
type Objective struct {
	Name    string
	Summary string

	// Space has a parameter for each coordinate. The coordinate of a float or int is its value, and of a bool 0
	// or 1. For an ordinal or categorical it is the index of the value. The coordinate of an inactive parameter
	// is NaN.
	Space  *space.Space
	Lo, Hi []float64 // bounds of the coordinates

	// Minimum is the lowest value of the noise-free function, and Minimizers are points
	// of the box with this value. If the minimum is unknown, Minimum is NaN and
	// Minimizers is empty.
	Minimum    float64
	Minimizers [][]float64

	// NoiseFree reports whether Func always returns the same value at a point.
	NoiseFree bool
	// Latent, if not nil, returns the value without noise.
	Latent func(x []float64) float64

	// Func returns the value at x, of length Dim, in the units of Lo and Hi. It is
	// safe for concurrent use.
	Func func(x []float64) float64

	// Outcomes, if not nil, describes several objectives. Values are then negative
	// hypervolumes, and Minimum is the negative of the largest.
	Outcomes *Outcomes
}

// Dim returns the number of coordinates.
func (o Objective) Dim() int { return len(o.Lo) }

// At returns the value at a point of o.Space.
func (o Objective) At(p space.Point) float64 { return o.Func(o.Coordinates(p)) }

// Coordinates returns the coordinates of a point of o.Space.
func (o Objective) Coordinates(p space.Point) []float64 {
	x := make([]float64, o.Dim())
	for i := range x {
		x[i] = p.Code(i)
	}
	return x
}

// On sets the space, which has no fixed parameters, and the bounds of its coordinates.
func (o Objective) On(s *space.Space) Objective {
	o.Space, o.Lo, o.Hi = s, nil, nil
	for _, p := range s.Parameters() {
		lo, hi := p.Min, p.Max
		switch p.Kind {
		case space.KindBool:
			lo, hi = 0, 1
		case space.KindOrdinal, space.KindCategorical:
			lo, hi = 0, float64(len(p.Values)-1)
		}
		o.Lo, o.Hi = append(o.Lo, lo), append(o.Hi, hi)
	}
	return o
}

// inBox sets the bounds, and the space with parameters of the given names, by default
// x1, x2, ….
func (o Objective) inBox(lo, hi []float64, names ...string) Objective {
	params := make([]space.Parameter, len(lo))
	for i := range lo {
		name := fmt.Sprintf("x%d", i+1)
		if len(names) > 0 {
			name = names[i]
		}
		params[i] = space.Float(name, lo[i], hi[i])
	}
	s, err := space.New(params...)
	if err != nil {
		panic("benchmarks: " + err.Error())
	}
	return o.On(s)
}

// inCube sets the same bounds in all d dimensions.
func (o Objective) inCube(d int, lo, hi float64) Objective {
	return o.inBox(repeat(lo, d), repeat(hi, d))
}

func repeat(v float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
