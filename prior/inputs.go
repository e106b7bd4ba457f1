package prior

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// onInputs evaluates inner on some of the inputs.
type onInputs struct {
	inner  Kernel
	dim    int
	inputs []int

	// For inputs that an expression names:
	units  []float64 // factor of each input; nil for 1
	labels []string  // inputs in the names of hyperparameters
	list   string    // inputs in the expression
	whole  bool      // the expression has no list: these are all inputs

	entries []Input // the inputs if some have no order, else nil
}

// OnInputs returns the kernel on R^dim that evaluates k, a kernel on R^len(inputs), at
// the given inputs, counted from 0. It panics if their number is not the dimension of k, or if one of
// them is not in [0, dim).
func OnInputs(k Kernel, dim int, inputs ...int) Kernel {
	checkLen("inputs", len(inputs), k.Dim())
	for _, j := range inputs {
		if j < 0 || j >= dim {
			panic(fmt.Sprintf("prior: input %d of %d", j, dim))
		}
	}
	each := func(ks []Kernel) []Kernel {
		out := make([]Kernel, len(ks))
		for i, k := range ks {
			out[i] = OnInputs(k, dim, inputs...)
		}
		return out
	}
	switch k := k.(type) {
	case sum:
		return sum{each(k.terms)}
	case product:
		return product{each(k.factors)}
	case scaled:
		k.inner = OnInputs(k.inner, dim, inputs...)
		return k
	case onInputs:
		if k.entries != nil {
			break
		}
		chosen := make([]int, len(k.inputs))
		for i, j := range k.inputs {
			chosen[i] = inputs[j]
		}
		return onInputs{inner: k.inner, dim: dim, inputs: chosen, units: k.units}
	}
	return onInputs{inner: k, dim: dim, inputs: append([]int(nil), inputs...)}
}

func (k onInputs) pick(x *mat.Dense) *mat.Dense {
	n := checkPoints("points", x, k.dim)
	if n == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(n, len(k.inputs), nil)
	for i := range n {
		row := x.RawRowView(i)
		for c, j := range k.inputs {
			if in := k.nominal(c); in != nil {
				out.RawRowView(i)[c] = float64(in.Index(row[j : j+in.Columns]))
				continue
			}
			out.RawRowView(i)[c] = row[j]
		}
		if k.units != nil {
			floats.Mul(out.RawRowView(i), k.units)
		}
	}
	return out
}

// nominal returns input c of the inner kernel if it has no order, else nil.
func (k onInputs) nominal(c int) *Input {
	if k.entries == nil || k.entries[c].Values == 0 {
		return nil
	}
	return &k.entries[c]
}

// put adds a gradient with respect to the selected inputs to dx.
func (k onInputs) put(dx, picked *mat.Dense) {
	for i := range picked.RawMatrix().Rows {
		row := dx.RawRowView(i)
		for c, v := range picked.RawRowView(i) {
			if k.nominal(c) != nil {
				continue
			}
			if k.units != nil {
				v *= k.units[c]
			}
			row[k.inputs[c]] += v
		}
	}
}

func (k onInputs) Dim() int                             { return k.dim }
func (k onInputs) Gram(dst *mat.SymDense, x *mat.Dense) { k.inner.Gram(dst, k.pick(x)) }
func (k onInputs) Cross(dst, x, y *mat.Dense)           { k.inner.Cross(dst, k.pick(x), k.pick(y)) }
func (k onInputs) Diag(dst []float64, x *mat.Dense)     { k.inner.Diag(dst, k.pick(x)) }

func (k onInputs) tape(x *mat.Dense) tape { return newTape(k.inner, k.pick(x)) }

func (k onInputs) CrossVJP(dx, x, y, kbar *mat.Dense) {
	px := k.pick(x)
	picked := zerosLike(px)
	k.inner.CrossVJP(picked, px, k.pick(y), kbar)
	k.put(dx, picked)
}

func (k onInputs) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	px := k.pick(x)
	picked := zerosLike(px)
	k.inner.DiagVJP(picked, px, dbar)
	k.put(dx, picked)
}

func (k onInputs) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	k.inner.ParamVJP(dtheta, k.pick(x), kbar)
}

// Params returns hyperparameters named after the inputs of the whole space.
func (k onInputs) Params() []Param {
	params := k.inner.Params()
	for i := range params {
		open := strings.LastIndexByte(params[i].Name, '[')
		var j int
		if _, err := fmt.Sscanf(params[i].Name[max(0, open):], "[%d]", &j); err == nil {
			label := strconv.Itoa(k.inputs[j])
			if k.labels != nil {
				label = k.labels[j]
			}
			params[i].Name = params[i].Name[:open] + "[" + label + "]"
		}
	}
	return params
}

func (k onInputs) WithParams(theta []float64) Kernel {
	k.inner = k.inner.WithParams(theta)
	return k
}

func (k onInputs) String() string { return term(k) }

func (k onInputs) factor() string {
	text := factor(k.inner)
	if k.whole {
		return text
	}
	at := strings.IndexByte(text, '(')
	if at < 0 {
		at = len(text)
	}
	list := k.list
	if list == "" {
		list = strings.ReplaceAll(strings.Trim(fmt.Sprint(k.inputs), "[]"), " ", ",")
	}
	return text[:at] + "[" + list + "]" + text[at:]
}

func (k onInputs) label() string { return label(k.inner) }
