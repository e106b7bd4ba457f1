package prior

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A stationary kernel has one lengthscale for a nominal input, such as a categorical parameter, and
// not one for each column:
//
//	s = Σ_ordered (x_j-x'_j)²/ℓ_j² + Σ_nominal D_j²/ℓ_j²
//
// By column D is the distance of the columns in units of Input.Distance. By value it is 0 or 1. On
// points with a column per value both are the kernel with equal lengthscales √2 ℓ per column, so that
// they are positive definite. By value a pair of points costs a comparison for each input. Between
// the encodings of values it uses the nearest value (Garrido-Merchán and Hernández-Lobato 2020),
// and the gradient with respect to these columns is 0.

// nominalUnit is the factor of the start, the bounds and the hyperprior of a nominal lengthscale.
// The mean square of D/ℓ of two different values at the mode then equals the mean square of (x-x')/ℓ of two
// uniform numbers. The mean squared distance of uniform numbers is ⅙.
var nominalUnit = math.Sqrt(6)

// nominal is a nominal input by value.
type nominal struct {
	input  int
	weight float64 // 1/ℓ²
	moment float64 // Σ w [v≠v'] of the last moments
}

// nominals returns the nominal inputs of a kernel by value.
func (k stationary) nominals() []nominal {
	var out []nominal
	for j, n := range k.values {
		if n > 0 {
			out = append(out, nominal{input: j})
		}
	}
	return out
}

// scale sets 1/ℓ of ordered inputs and 1/ℓ² of nominal inputs.
func (p *pairs) scale(k stationary) {
	k.inverse(p.inv)
	for i := range p.nominal {
		n := &p.nominal[i]
		n.weight = p.inv[n.input] * p.inv[n.input]
		p.inv[n.input] = 0
	}
}

// column returns nominal input n of m points from point j on.
func (p *pairs) column(n *nominal, j, m int) []float64 {
	return p.Data[n.input*p.Len+j:][:m]
}

// distances writes s for the len(dst) points from index from on.
func (p *pairs) distances(dst, x []float64, from int) {
	p.SquaredDistances(dst, x, p.inv, from)
	for i := range p.nominal {
		n := &p.nominal[i]
		v, w := x[n.input], n.weight
		for j, u := range p.column(n, from, len(dst)) {
			if u != v {
				dst[j] += w
			}
		}
	}
}

// secondMoments adds Σ_j w_j (x_c - y_jc)² to sum_c, and the moments of nominal inputs.
func (p *pairs) secondMoments(sum, w, x []float64, from int) {
	p.SecondMoments(sum, w, x, from)
	for i := range p.nominal {
		n := &p.nominal[i]
		v := x[n.input]
		for j, u := range p.column(n, from, len(w)) {
			if u != v {
				n.moment += w[j]
			}
		}
	}
}

// finish multiplies the second moments by factor/ℓ², and sets the moments of nominal inputs.
func (p *pairs) finish(sum []float64, factor float64) {
	for c := range sum {
		sum[c] *= factor * p.inv[c] * p.inv[c]
	}
	for i := range p.nominal {
		n := &p.nominal[i]
		sum[n.input] = factor * n.weight * n.moment
		n.moment = 0
	}
}

// grouped returns the inputs of a stationary kernel with one entry for each nominal input; on if
// there is none, or if fix states a number for each column. A nil on means all inputs.
func (p *parser) grouped(on *chosen, fix []argument) *chosen {
	out := &chosen{grouped: true, byValue: p.byValue, whole: on == nil}
	inputs := p.named
	if on != nil {
		inputs, out.named, out.texts = on.inputs, on.named, on.texts
	}
	columns, nominal := 0, false
	for _, in := range inputs {
		columns, nominal = columns+in.Columns, nominal || in.Values > 0
		if in.Columns == 0 {
			continue
		}
		if in.Name == "" || out.whole {
			in.Unit = 1
		}
		out.addGroup(in)
	}
	perColumn := func(a argument) bool { return len(a.values) == columns && columns != len(out.inputs) }
	if !nominal || out.whole && columns != p.dim || slices.ContainsFunc(fix, perColumn) {
		return on
	}
	return out
}

// addGroup adds an entry. A nominal input is one input of the kernel: with byValue one
// column, which stands for the value, else all columns with a unit in which the distance of two
// values is 1. Each column of another input is an input of the kernel.
func (c *chosen) addGroup(in Input) {
	label, n := inputText(in.Name), in.Columns
	if in.Values > 0 {
		c.addInput(in, label)
		c.sizes = append(c.sizes, 1)
		return
	}
	c.sizes = append(c.sizes, n)
	for k := range n {
		column, text := in, label
		column.First, column.Columns = in.First+k, 1
		switch {
		case in.Name == "" || c.whole:
			text = strconv.Itoa(column.First)
		case n > 1:
			text = fmt.Sprintf("%s:%d", label, k+1)
		}
		c.addInput(column, text)
	}
}

// addInput adds an input of the kernel.
func (c *chosen) addInput(in Input, label string) {
	c.labels, c.inputs = append(c.labels, label), append(c.inputs, in)
	unit, columns := in.Unit, in.Columns
	switch {
	case c.byValue:
		columns = 1
	case in.Values > 0:
		unit = 1 / in.Distance
	}
	for k := range columns {
		c.columns, c.units = append(c.columns, in.First+k), append(c.units, unit)
	}
}

// grouped returns k, a kernel with an input for each entry of c, on the columns or values of c.
func (k stationary) grouped(c *chosen) Kernel {
	units := make([]float64, len(c.inputs))
	if c.byValue {
		k.values = make([]int, k.dim)
	} else {
		k.dim = len(c.columns)
	}
	for i, in := range c.inputs {
		units[i] = in.Unit
		if in.Values > 0 {
			units[i] = nominalUnit
		}
		if c.byValue {
			k.values[i] = in.Values
			continue
		}
		for range in.Columns {
			k.groups = append(k.groups, i)
		}
	}
	k.leaf = k.rescaled("lengthscale", units)
	return k
}

// ordered returns inputs without Values.
func ordered(inputs []Input) []Input {
	out := slices.Clone(inputs)
	for i := range out {
		out[i].Values, out[i].Index = 0, nil
	}
	return out
}
