// Package settings reads option structs whose struct tags declare each option: its key, default,
// bounds, allowed values and help.
//
//	type Model struct {
//		Hidden   []int    `set:"hidden" default:"50,50" range:"[1,10000]" help:"widths of the hidden layers"`
//		Noise    *float64 `set:"noise" auto:"learned" range:"(0,inf)" help:"variance of the observation noise"`
//		Trainer  string   `set:"trainer" default:"lbfgs" oneof:"lbfgs,adam" help:"training method"`
//		Steps    int      `set:"steps" auto:"200 or 1000" range:"[1,1000000]" help:"largest number of training steps"`
//	}
//
// A field with the tag set is an option. Its other tags are:
//
//   - default: the value that Resolve puts in place of the zero value.
//   - published: the value that Resolve puts there instead if the struct has an option with the
//     key preset, and it is [Published]. Help ends with it. If the option may be learned, the
//     text "learned" also stands for this value.
//   - auto: the text of a default that depends on other options or on the data.
//     Resolve leaves the zero value, and the owner of the struct replaces it.
//   - range: an interval such as [1,100], (0,1] or (0,inf) that contains every
//     number set. Each int and float64 has one.
//   - weights: the largest number of weights between layers of the given widths.
//   - oneof: the only texts allowed.
//   - help: one line for users.
//
// Each option has either default or auto. Types of options: string, bool, int, uint64, float64,
// pointers to these, and slices of int, float64 and string. The zero value of a type means that the
// option is not set. An option whose zero value is meaningful has a pointer type or the zero value
// as its default.
//
// The options of embedded structs count as options of the struct. If two options have the same key,
// the outer option wins. The tags default, published, range and help of an embedded field replace
// the tags of single options in it, as in
//
//	prior.Spec `default:"kernel=rbf" range:"noise=[1e-10,1e100];variance=(0,1]"`
package settings
