package prior

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Input is an input of a kernel with a name and a unit. It has one or several columns of
// the points, such as the columns of a categorical parameter.
type Input struct {
	Name    string
	First   int     // first column
	Columns int     // number of columns
	Unit    float64 // length of the unit interval of a column in the unit of the input
	// Values, if not 0, is the number of values of a nominal input, one without order. Stationary
	// kernels then have one lengthscale for all columns of the input. Index returns the value, from
	// 0 to Values-1, nearest to any numbers in its columns, and Values if the input has no value.
	Values int
	Index  func(columns []float64) int
	// Distance is the root mean square distance between the columns of two values of a nominal
	// input. It is the unit of the lengthscale.
	Distance float64
	// Aperiodic, if not empty, is the reason why the input has no period, such as
	// "logarithmic".
	Aperiodic string
}

// chosen is a list of inputs in an expression.
type chosen struct {
	columns []int
	sizes   []int     // number of columns of each entry of the list
	units   []float64 // unit of each column
	labels  []string  // each column in the names of hyperparameters
	texts   []string  // the entries of the list
	named   bool      // an entry is a name
	reasons []string  // reasons why a column has no period
	inputs  []Input   // the entries; an entry that is a number has a zero Name
	grouped bool      // there is one label and one size for each entry of inputs
	byValue bool      // grouped, with one column for each entry
	whole   bool      // all inputs; there is no list
}

func (c *chosen) add(column int, unit float64, label, aperiodic string) {
	c.columns, c.units = append(c.columns, column), append(c.units, unit)
	c.labels, c.reasons = append(c.labels, label), append(c.reasons, aperiodic)
}

// inputs parses a list of inputs; nil if there is none.
func (p *parser) inputs() (*chosen, error) {
	if !p.take('[') {
		return nil, nil
	}
	c := &chosen{}
	for {
		p.space()
		from, before := p.at, len(c.columns)
		if err := p.input(c); err != nil {
			return nil, err
		}
		for _, column := range c.columns[before:] {
			if slices.Contains(c.columns[:before], column) {
				return nil, p.fail(from, "input %s is named twice", c.texts[len(c.texts)-1])
			}
		}
		c.sizes = append(c.sizes, len(c.columns)-before)
		if !p.take(',') {
			return c, p.expect(']')
		}
	}
}

// input parses a number or a name of an input.
func (p *parser) input(c *chosen) error {
	from := p.at
	name, quoted, err := p.name()
	if err != nil {
		return err
	}
	if !quoted {
		if j, err := strconv.Atoi(name); err == nil {
			if j >= p.dim {
				return p.fail(from, "input %d of a space with %d: counting starts at 0", j, p.dim)
			}
			c.add(j, 1, strconv.Itoa(j), "")
			c.texts, c.inputs = append(c.texts, strconv.Itoa(j)), append(c.inputs, Input{First: j, Columns: 1})
			return nil
		}
		if name == "" || digit(name[0]) {
			p.at = from
			return p.fail(from, "expected the number of an input, found %s", p.found())
		}
	}
	if p.named == nil {
		p.at = from
		return p.fail(from, "expected the number of an input, found %s: names belong to the parameters of a study", p.found())
	}
	names := make([]string, len(p.named))
	for i, in := range p.named {
		names[i] = in.Name
	}
	i := slices.Index(names, name)
	if i < 0 {
		return p.fail(from, "%q is not a parameter%s", name, didyoumean.Hint(name, names))
	}
	in := p.named[i]
	if in.Columns == 0 {
		return p.fail(from, "%q is fixed, so it is no input of a kernel", name)
	}
	text := inputText(name)
	for k := range in.Columns {
		label := text
		if in.Columns > 1 {
			label = fmt.Sprintf("%s:%d", text, k+1)
		}
		c.add(in.First+k, in.Unit, label, in.Aperiodic)
	}
	c.texts, c.inputs, c.named = append(c.texts, text), append(c.inputs, in), true
	return nil
}

// name parses a word or a text in double quotes, in which \ precedes " and \.
func (p *parser) name() (name string, quoted bool, err error) {
	from := p.at
	if !p.take('"') {
		return p.word(), false, nil
	}
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return b.String(), true, nil
		case c == '\\' && p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\\'):
			c = p.text[p.at]
			p.at++
		case c == '\\':
			return "", true, p.fail(p.at-1, `expected \" or \\ in a name`)
		}
		b.WriteByte(c)
	}
	return "", true, p.fail(from, "the name has no closing quote")
}

// inputText returns a name as Parse reads it.
func inputText(name string) string {
	plain := name != "" && !digit(name[0])
	for i := range len(name) {
		plain = plain && (name[i] == '_' || letter(name[i]) || digit(name[i]))
	}
	if plain {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// spread returns a value for each column, given a value for each entry of the list.
func (c *chosen) spread(values []float64) []float64 {
	if c == nil || len(values) != len(c.sizes) {
		return values
	}
	var out []float64
	for i, n := range c.sizes {
		out = append(out, slices.Repeat(values[i:i+1], n)...)
	}
	return out
}

// checkPeriods returns an error if a kernel has a period along an input without periods.
func (c *chosen) checkPeriods(k Kernel) error {
	if _, ok := k.(periodic); !ok {
		return nil
	}
	column := 0
	for i, n := range c.sizes {
		if reason := c.reasons[column]; reason != "" {
			return fmt.Errorf("%s is %s and has no period: use another kernel, such as matern52[%s]", c.texts[i], reason, c.texts[i])
		}
		column += n
	}
	return nil
}

// on returns k, a kernel on the chosen columns in their units, as a kernel on R^dim.
func (c *chosen) on(k Kernel, dim int) Kernel {
	if !c.named && !c.whole {
		return OnInputs(k, dim, c.columns...)
	}
	out := onInputs{inner: k, dim: dim, inputs: c.columns, labels: c.labels, list: strings.Join(c.texts, ","), whole: c.whole}
	if c.byValue {
		out.entries = c.inputs
	}
	if _, ok := k.(measured); ok {
		out.units = c.units
	}
	return out
}

// measured is an elementary kernel whose hyperparameters have the unit of the inputs.
// inUnits returns the kernel with ranges, starts and hyperpriors for inputs in [0, units].
type measured interface {
	inUnits(units []float64) Kernel
}

func (k stationary) inUnits(units []float64) Kernel {
	k.leaf = k.rescaled("lengthscale", units)
	return k
}

func (k dotProduct) inUnits(units []float64) Kernel {
	k.leaf = k.rescaled("lengthscale", units)
	return k
}

func (k velocity) inUnits(units []float64) Kernel {
	k.leaf = k.rescaled("lengthscale", units)
	return k
}

// inUnits keeps the lengthscales, which are relative to a circle of radius 1.
func (k periodic) inUnits(units []float64) Kernel {
	k.leaf = k.rescaled("period", units)
	return k
}

// rescaled multiplies the hyperparameters of one family by the units of their inputs; a
// hyperparameter of several inputs by the geometric mean.
func (l leaf) rescaled(family string, units []float64) leaf {
	l.params = slices.Clone(l.params)
	var mean float64
	for _, u := range units {
		mean += math.Log(u) / float64(len(units))
	}
	next := 0
	for i := range l.params {
		p := &l.params[i]
		if baseName(p.Name) != family {
			continue
		}
		log := mean
		if strings.HasSuffix(p.Name, "]") {
			log = math.Log(units[next])
			next++
		}
		if log == 0 {
			continue
		}
		unit := math.Exp(log)
		p.Value, p.Lo, p.Hi = p.Value*unit, p.Lo*unit, p.Hi*unit
		if d, ok := p.Prior.(LogNormal); ok {
			p.Prior = LogNormal{Mu: d.Mu + log, Sigma: d.Sigma}
		}
	}
	return l
}

// named reports whether a part of k has inputs that an expression names.
func named(k Kernel) bool {
	switch k := k.(type) {
	case sum:
		return slices.ContainsFunc(k.terms, named)
	case product:
		return slices.ContainsFunc(k.factors, named)
	case scaled:
		return named(k.inner)
	case onInputs:
		return k.labels != nil && !k.whole
	}
	return false
}
