// Package space describes what is searched: parameters as data, their
// validation, their encoding to the unit cube in which every model works, and
// space-filling designs on that cube.
//
// A space is written in Go
//
//	s, err := space.New(
//		space.LogFloat("lr", 1e-5, 0.1),
//		space.Int("layers", 1, 8),
//		space.Categorical("opt", "adam", "sgd", "lion"),
//	)
//
// or as JSON, which Parse reads strictly (package spacefile reads files, YAML too):
//
//	{"parameters": [
//	  {"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true},
//	  {"name": "layers", "type": "int", "min": 1, "max": 8},
//	  {"name": "opt", "type": "categorical", "values": ["adam", "sgd", "lion"]}
//	]}
//
// # Encoding
//
// Every parameter owns columns of the cube [0,1]^d:
//
//	float        one column; the position between min and max, of the logarithms if log
//	int          one column cut into a cell per integer: cells of equal width, or, if log,
//	             from log(k-½) to log(k+½); an integer is encoded as the centre of its cell
//	ordinal      one column of equal cells, in the order of the values
//	categorical  two values: one column, 0 or 1; more: a column for each value, 1 for the
//	             chosen one and 0 elsewhere; decoded as the largest, the first of equals
//	fixed        no column
//
// A uniform point of the cube thus decodes to values that are uniform, or
// log-uniform, on the parameter.
package space
