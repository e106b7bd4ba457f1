package space

// Kind is the type of a parameter, spelt as in the space file.
type Kind string

// The kinds of parameter.
const (
	KindFloat       Kind = "float"       // a real number between Min and Max
	KindInt         Kind = "int"         // an integer between Min and Max
	KindOrdinal     Kind = "ordinal"     // one of Values, whose order means something
	KindCategorical Kind = "categorical" // one of Values, without order
	KindFixed       Kind = "fixed"       // always Value
)

// Parameter is one dimension of a search. Which fields count depends on Kind;
// the others must be zero.
type Parameter struct {
	Name string // unique in its space
	Kind Kind

	// Min and Max are the inclusive bounds of a float or int.
	Min, Max float64
	// Log searches the logarithm of a float or int; Min must then be positive.
	Log bool

	// Values are what an ordinal or categorical chooses from: at least two
	// different strings, booleans or numbers. Numbers of any Go type are kept
	// as float64; those of an ordinal must increase or decrease throughout.
	Values []any

	// Value is the string, boolean or number of a fixed parameter.
	Value any
}

// Float is a real parameter in [lo, hi].
func Float(name string, lo, hi float64) Parameter {
	return Parameter{Name: name, Kind: KindFloat, Min: lo, Max: hi}
}

// LogFloat is a real parameter in [lo, hi] searched on a logarithmic scale.
func LogFloat(name string, lo, hi float64) Parameter {
	return Parameter{Name: name, Kind: KindFloat, Min: lo, Max: hi, Log: true}
}

// Int is an integer parameter in [lo, hi].
func Int(name string, lo, hi int) Parameter {
	return Parameter{Name: name, Kind: KindInt, Min: float64(lo), Max: float64(hi)}
}

// LogInt is an integer parameter in [lo, hi] searched on a logarithmic scale.
func LogInt(name string, lo, hi int) Parameter {
	return Parameter{Name: name, Kind: KindInt, Min: float64(lo), Max: float64(hi), Log: true}
}

// Ordinal is a choice among values whose order means something.
func Ordinal(name string, values ...any) Parameter {
	return Parameter{Name: name, Kind: KindOrdinal, Values: values}
}

// Categorical is a choice among values without order.
func Categorical(name string, values ...any) Parameter {
	return Parameter{Name: name, Kind: KindCategorical, Values: values}
}

// Fixed is a parameter that is passed on but not searched.
func Fixed(name string, value any) Parameter {
	return Parameter{Name: name, Kind: KindFixed, Value: value}
}

// columns is the number of encoded columns of a valid parameter.
func (p *Parameter) columns() int {
	switch {
	case p.Kind == KindFixed:
		return 0
	case p.Kind == KindCategorical && len(p.Values) > 2:
		return len(p.Values)
	default:
		return 1
	}
}

// discrete reports whether a parameter takes one of several separate values.
func (p *Parameter) discrete() bool {
	return p.Kind == KindInt || p.Kind == KindOrdinal || p.Kind == KindCategorical
}

// levels is the number of values of a discrete parameter, 1 for a fixed one.
func (p *Parameter) levels() int {
	switch p.Kind {
	case KindInt:
		return int(p.Max-p.Min) + 1
	case KindOrdinal, KindCategorical:
		return len(p.Values)
	default:
		return 1
	}
}
