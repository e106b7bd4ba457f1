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
//	             the chosen one and 0 for the others, decoded as the first largest column
//	fixed        no column
//
// A uniform point of the cube decodes to values that are uniform, or log-uniform, on each
// parameter.
package space
