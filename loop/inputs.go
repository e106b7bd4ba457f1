package loop

import (
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
)

// Inputs returns the parameters of s as inputs that a kernel may name. The unit of a float or
// int is its own unit, or the natural logarithm of a ratio if it is logarithmic; the unit of
// an ordinal is one place in its list of values. Bools and categoricals have no unit.
func Inputs(s *space.Space) []prior.Input {
	inputs := []prior.Input{}
	for _, c := range s.Coordinates() {
		in := prior.Input{Name: c.Parameter.Name, First: c.First, Columns: c.Columns, Unit: c.Width}
		switch {
		case c.Parameter.Log:
			in.Aperiodic = "logarithmic"
		case c.Parameter.Kind == space.KindBool, c.Parameter.Kind == space.KindCategorical:
			in.Aperiodic = string(c.Parameter.Kind)
		}
		inputs = append(inputs, in)
	}
	return inputs
}
