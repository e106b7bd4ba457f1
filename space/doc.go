// Package space defines search spaces: parameters as data, their validation, their
// encoding to the unit cube, and space-filling designs on that cube. Surrogate models
// and acquisition functions work on the unit cube.
//
// A search space is written in Go
//
//	s, err := space.New(
//		space.LogFloat("lr", 1e-5, 0.1),
//		space.Int("layers", 1, 8),
//		space.Categorical("opt", "adam", "sgd", "lion"),
//	)
//
// or as JSON, which Parse reads. Package studyfile reads JSON and YAML files.
//
//	{"parameters": [
//	  {"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true},
//	  {"name": "layers", "type": "int", "min": 1, "max": 8},
//	  {"name": "opt", "type": "categorical", "values": ["adam", "sgd", "lion"]}
//	]}
//
// A parameter may have a condition under which it is active, and a space may have
// constraints. In Go both are functions:
//
//	s, err := space.New(
//		space.Categorical("opt", "adam", "sgd"),
//		space.Float("momentum", 0, 0.99).If(space.Equal("opt", "sgd")),
//	)
//
// Package expression compiles them from text, as files have them.
//
// # Encoding
//
// Every parameter has columns of the cube [0,1]^d:
//
//	float        one column: the position between min and max, or between their
//	             logarithms if log is true
//	int          one column with a cell per integer: cells of equal width, or from
//	             log(k-½) to log(k+½) if log is true; an integer is encoded as the
//	             centre of its cell
//	float or int with step
//	             one column of equal cells, in the order of the values
//	bool         one column, 0 or 1
//	ordinal      one column of equal cells, in the order of the values
//	categorical  two values: one column, 0 or 1; more values: a column per value, 1 for
//	             the chosen one and 0 for the others, decoded as the first largest column;
//	             more than 64 values: about 4·log2(values) columns with a binary code whose
//	             words are nearly equidistant, decoded as the nearest word
//	fixed        no column
//
// An inactive parameter has the centre of its columns: ½, or equal numbers that sum to 1.
//
// A uniform point of the cube decodes to values that are uniform, or log-uniform, on each
// parameter; for a categorical of more than 64 values approximately.
package space
