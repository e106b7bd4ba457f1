package space

// Kind is the type of a parameter, spelt as in JSON and YAML.
type Kind string

// The kinds of parameter.
const (
	KindFloat       Kind = "float"       // a real number between Min and Max
	KindInt         Kind = "int"         // an integer between Min and Max
	KindBool        Kind = "bool"        // false or true
	KindOrdinal     Kind = "ordinal"     // one of Values, which are ordered
	KindCategorical Kind = "categorical" // one of Values, which are not ordered
	KindFixed       Kind = "fixed"       // always Value
)

// Parameter is one parameter of a search space. Kind determines the fields in use; the
// other fields must be zero.
type Parameter struct {
	Name string // unique in its space
	Kind Kind

	// Min and Max are the inclusive bounds of a float or int.
	Min, Max float64
	// Log selects a logarithmic scale for a float or int; Min must then be positive.
	Log bool
	// Step, if not 0, restricts a float or int without Log to Min, Min+Step, …, Max. Max
	// must be one of these numbers. Decimal fractions are exact: 0 to 1 in steps of 0.1
	// contains 0.3, not 0.30000000000000004.
	Step float64

	// Values are the values of an ordinal or categorical: at least two different
	// strings, booleans or numbers. New converts numbers of any Go type to float64, and values of
	// named types, such as constants, to string or bool. The numbers of an ordinal must increase
	// or decrease throughout.
	Values []any

	// Value is the string, boolean or number of a fixed parameter.
	Value any

	// When is the condition under which the parameter is active; the zero Condition always
	// holds. A parameter is active if the parameters that When.On names are active and the
	// condition holds. An inactive parameter has no value.
	When Condition

	// Given reports that the value is not selected but stated with every request for points, such as the humidity of the
	// day. It is false for a fixed parameter and for a parameter with a condition.
	Given bool

	words []uint64 // code of a categorical of many values in a Space
	grid  grid     // grid of a parameter with a Step in a Space; else computed when needed
	pin   *float64 // the only code of a parameter that a Slice is given; else nil
}

// Float returns a real parameter in [lo, hi].
func Float(name string, lo, hi float64) Parameter {
	return Parameter{Name: name, Kind: KindFloat, Min: lo, Max: hi}
}

// LogFloat returns a real parameter in [lo, hi] on a logarithmic scale.
func LogFloat(name string, lo, hi float64) Parameter {
	return Parameter{Name: name, Kind: KindFloat, Min: lo, Max: hi, Log: true}
}

// Int returns an integer parameter in [lo, hi].
func Int(name string, lo, hi int) Parameter {
	return Parameter{Name: name, Kind: KindInt, Min: float64(lo), Max: float64(hi)}
}

// LogInt returns an integer parameter in [lo, hi] on a logarithmic scale.
func LogInt(name string, lo, hi int) Parameter {
	return Parameter{Name: name, Kind: KindInt, Min: float64(lo), Max: float64(hi), Log: true}
}

// StepFloat returns a real parameter with the values lo, lo+step, …, hi.
func StepFloat(name string, lo, hi, step float64) Parameter {
	return Parameter{Name: name, Kind: KindFloat, Min: lo, Max: hi, Step: step}
}

// StepInt returns an integer parameter with the values lo, lo+step, …, hi.
func StepInt(name string, lo, hi, step int) Parameter {
	return Parameter{Name: name, Kind: KindInt, Min: float64(lo), Max: float64(hi), Step: float64(step)}
}

// Bool returns a parameter that is false or true.
func Bool(name string) Parameter { return Parameter{Name: name, Kind: KindBool} }

// Ordinal returns a choice among ordered values.
func Ordinal(name string, values ...any) Parameter {
	return Parameter{Name: name, Kind: KindOrdinal, Values: values}
}

// Categorical returns a choice among values without order.
func Categorical(name string, values ...any) Parameter {
	return Parameter{Name: name, Kind: KindCategorical, Values: values}
}

// Fixed returns a parameter with a constant value. Objectives receive it.
func Fixed(name string, value any) Parameter {
	return Parameter{Name: name, Kind: KindFixed, Value: value}
}

// columns returns the number of encoded columns of a valid parameter.
func (p *Parameter) columns() int {
	switch {
	case p.Kind == KindFixed:
		return 0
	case p.Kind == KindCategorical && len(p.Values) > maxOneHot:
		return codeColumns(len(p.Values))
	case p.Kind == KindCategorical && len(p.Values) > 2:
		return len(p.Values)
	default:
		return 1
	}
}

// continuous reports whether p is a float without steps.
func (p *Parameter) continuous() bool { return p.Kind == KindFloat && p.Step == 0 }

// discrete reports whether p is neither fixed nor continuous.
func (p *Parameter) discrete() bool { return p.Kind != KindFixed && !p.continuous() }

// levels returns the number of values of a parameter that is not continuous.
func (p *Parameter) levels() int {
	switch p.Kind {
	case KindFloat, KindInt:
		if p.Step > 0 {
			return p.steps().levels
		}
		return int(p.Max-p.Min) + 1
	case KindBool:
		return 2
	case KindOrdinal, KindCategorical:
		return len(p.Values)
	default:
		return 1
	}
}

// choices returns the values of a bool, ordinal, categorical or fixed parameter by code.
func (p *Parameter) choices() []any {
	switch p.Kind {
	case KindBool:
		return []any{false, true}
	case KindFixed:
		return []any{p.Value}
	default:
		return p.Values
	}
}
