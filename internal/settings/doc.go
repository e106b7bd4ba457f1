// Package settings reads and writes the fields of an option struct by name, as
// the command's --set key=value does. A field takes part when its struct tag
// names a key:
//
//	type Options struct {
//		Hidden []int    `set:"hidden" help:"widths of the hidden layers" default:"50,50"`
//		Noise  *float64 `set:"noise" help:"variance of the observation noise" default:"learned"`
//		Method string   `set:"method" help:"how steps are taken" default:"adam" values:"adam,newton"`
//	}
//
// The fields of embedded structs count as the struct's own; where two fields
// have one key, the outer field wins. The tags help and default are for display;
// a tag values lists the only texts allowed. Kinds of fields: string, bool, int,
// uint64, float64, pointers to these (nil reads "learned"), and slices of int,
// float64 and string (comma-separated; an empty slice reads "learned"). The 0 of an
// int or a float64 stands for the default; to set it is an error, unless the
// default is 0.
package settings
