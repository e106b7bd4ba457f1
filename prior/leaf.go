package prior

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// leaf is the common part of the elementary kernels: a name, a dimension and
// hyperparameters. The family with one number per input ("lengthscale") comes first. It
// has d numbers, or one number if shared.
type leaf struct {
	name   string
	dim    int
	shared bool   // one number for all inputs instead of one per input
	groups []int  // index in the family by input, ascending; nil for one number per input, or if shared
	args   string // arguments that are not hyperparameters, in the syntax of Parse
	params []Param
}

// Dim implements Kernel.
func (l leaf) Dim() int { return l.dim }

// Params implements Kernel.
func (l leaf) Params() []Param { return slices.Clone(l.params) }

// with returns a copy with the values theta.
func (l leaf) with(theta []float64) leaf {
	l.params = slices.Clone(l.params)
	l.set(theta)
	return l
}

// set overwrites the values.
func (l leaf) set(theta []float64) {
	checkLen("theta", len(theta), len(l.params))
	for i, v := range theta {
		l.params[i].Value = v
	}
}

// perInput returns hyperparameters with the names name[0], name[1], … or, if shared,
// one hyperparameter with the given name.
func perInput(name string, dim int, shared bool, make func(name string) Param) []Param {
	if shared {
		return []Param{make(name)}
	}
	out := []Param{}
	for j := range dim {
		out = append(out, make(fmt.Sprintf("%s[%d]", name, j)))
	}
	return out
}

// width returns the length of a per-input family.
func (l leaf) width() int {
	switch {
	case l.shared:
		return 1
	case l.groups != nil:
		return l.groups[l.dim-1] + 1
	}
	return l.dim
}

// index returns the index in the family of input j.
func (l leaf) index(j int) int {
	switch {
	case l.shared:
		return 0
	case l.groups != nil:
		return l.groups[j]
	}
	return j
}

// spread returns one value per input of the family that starts at params[from].
func (l leaf) spread(from int) []float64 {
	out := make([]float64, l.dim)
	for j := range out {
		out[j] = l.params[from+l.index(j)].Value
	}
	return out
}

// gather adds a per-input gradient to the family that starts at dtheta[from].
func (l leaf) gather(dtheta []float64, from int, perInput []float64) {
	for j, g := range perInput {
		dtheta[from+l.index(j)] += g
	}
}

// inverse returns 1/v.
func inverse(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = 1 / v[i]
	}
	return out
}

func (l leaf) label() string { return l.name }

// factor returns the name, the structural arguments and the fixed hyperparameters, in
// the syntax of Parse.
func (l leaf) factor() string {
	args := []string{}
	if l.args != "" {
		args = append(args, l.args)
	}
	if l.shared {
		args = append(args, "ard=false")
	}
	for from := 0; from < len(l.params); {
		name := baseName(l.params[from].Name)
		to := from + 1
		for to < len(l.params) && baseName(l.params[to].Name) == name {
			to++
		}
		if l.params[from].Fixed {
			args = append(args, name+"="+formatValues(l.params[from:to]))
		}
		from = to
	}
	if len(args) == 0 {
		return l.name
	}
	return l.name + "(" + strings.Join(args, ",") + ")"
}

func formatValues(params []Param) string {
	texts := make([]string, len(params))
	equal := true
	for i, p := range params {
		texts[i] = formatNumber(p.Value)
		equal = equal && p.Value == params[0].Value
	}
	if equal {
		return texts[0]
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// baseName removes the label of the kernel and the index: "rbf.lengthscale[2]" becomes
// "lengthscale".
func baseName(name string) string {
	if i := strings.IndexAny(name, "[#"); i >= 0 {
		name = name[:i]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// upper returns row i of a symmetric matrix from column i on.
func upper(m *mat.SymDense, i int) []float64 {
	raw := m.RawSymmetric()
	return raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
}

// fixable is an elementary kernel. fix returns the kernel with the hyperparameters of
// one family fixed. If the number of values is neither 1 nor the length of the family,
// want is the expected number.
type fixable interface {
	fix(name string, values []float64) (k Kernel, want int)
}

// fixed implements fix for kernels that embed leaf.
func (l leaf) fixed(name string, values []float64) (_ leaf, want int) {
	l.params = slices.Clone(l.params)
	var family []*Param
	for i := range l.params {
		if baseName(l.params[i].Name) == name {
			family = append(family, &l.params[i])
		}
	}
	if len(values) != 1 && len(values) != len(family) {
		return l, len(family)
	}
	for i, p := range family {
		p.Value, p.Fixed = values[min(i, len(values)-1)], true
	}
	return l, 0
}
