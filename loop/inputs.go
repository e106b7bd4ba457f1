package loop

import (
	"math"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

// groupedValues is the number of values above which a categorical has one lengthscale. With 10 or
// fewer values neither choice was better on all problems (docs/adr/0021), and a lengthscale per column stays.
const groupedValues = 16

// Inputs returns the parameters of s as inputs that a kernel may name. The unit of a float or
// int is its own unit, or the natural logarithm of a ratio if it is logarithmic; the unit of
// an ordinal is one place in its list of values. Bools and categoricals have no unit. A
// categorical of more than 16 values has one lengthscale, relative to the distance of two values.
func Inputs(s *space.Space) []prior.Input {
	inputs := []prior.Input{}
	for i, c := range s.Coordinates() {
		in := prior.Input{Name: c.Parameter.Name, First: c.First, Columns: c.Columns, Unit: c.Width}
		switch {
		case c.Parameter.Log:
			in.Aperiodic = "logarithmic"
		case c.Parameter.Kind == space.KindBool, c.Parameter.Kind == space.KindCategorical:
			in.Aperiodic = string(c.Parameter.Kind)
		}
		if len(c.Parameter.Values) > groupedValues && c.Parameter.Kind == space.KindCategorical {
			in.Distance = math.Sqrt2
			if c.Columns < len(c.Parameter.Values) { // the words of a binary code
				in.Distance = math.Sqrt(float64(c.Columns) / 2)
			}
			in.Values = len(c.Parameter.Values)
			in.Index = func(u []float64) int { return s.Index(i, u) }
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// manyNeighbours is the number of values of all categoricals above which a suggestion uses the
// cheaper form of LogNEI. The search for its maximum compares all neighbours of a point several
// times (docs/adr/0021).
const manyNeighbours = 100

// manyValues reports whether the categoricals of s have more than manyNeighbours values.
func manyValues(s *space.Space) bool {
	n := 0
	for _, in := range Inputs(s) {
		n += in.Values
	}
	return n > manyNeighbours
}
