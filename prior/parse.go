package prior

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrExpression reports an invalid kernel expression.
var ErrExpression = errors.New("bad kernel expression")

// Parse returns the kernel on R^dim that a text describes, for example
// "rbf*periodic(period=0.5) + 0.1*linear[0,2]". The grammar, with spaces allowed
// between symbols:
//
//	Expression = Term { "+" Term } .
//	Term       = Factor { "*" Factor } .
//	Factor     = Kernel [ Inputs ] [ Arguments ] | "(" Expression ")" | number | "variance" .
//	Kernel     = "rbf" | "matern12" | "matern32" | "matern52" | "rq" | "periodic" | "linear" |
//	             "polynomial" | "arccos" | "potential" | "stream" | "white" | "constant" .
//	Inputs     = "[" Input { "," Input } "]" .
//	Input      = index | name | quoted .
//	Arguments  = "(" Argument { "," Argument } ")" .
//	Argument   = Parameter "=" Values | "ard" "=" ( "true" | "false" ) | ( "depth" | "degree" ) "=" index .
//	Parameter  = "lengthscale" | "period" | "alpha" | "offset" | "weight" | "bias" .
//	Values     = number | "[" number { "," number } "]" .
//	number     = ( digits [ "." [ digits ] ] | "." digits ) [ exponent ] .
//	exponent   = ( "e" | "E" ) [ "+" | "-" ] digits .
//	index      = digits .
//	digits     = digit { digit } .
//	name       = letter { letter | digit } .
//	quoted     = "\"" { character } "\"" .
//	letter     = "a" … "z" | "A" … "Z" | "_" .
//	digit      = "0" … "9" .
//	character  = " " … "!" | "#" … "[" | "]" … "~" | "\\" ( "\"" | "\\" ) .
//
// Inputs selects columns, counted from 0, or inputs by name, which ParseNamed accepts. A
// quoted name may contain any other characters too. An argument fixes a hyperparameter: one
// number for all inputs or one for each. With ard=false all inputs share one
// lengthscale (and period). Depth belongs to arccos and degree to polynomial, both
// from 1 to 64. Numbers are positive, and so are the products of the constants that
// multiply a kernel, in float64.
//
// Every term has one output variance: the product of its numbers, fixed, or a learned
// variance. Linear, polynomial, arccos and sums in parentheses have an amplitude of their
// own. A term with such a factor has no output variance unless it contains a number
// or the word variance.
//
// Errors wrap ErrExpression and give the position, counted from 1.
func Parse(expr string, dim int) (Kernel, error) { return ParseNamed(expr, dim, nil) }

// ParseNamed is Parse for inputs with names, such as "periodic[hour](period=24) +
// linear[year]". If the inputs of a kernel are named, its lengthscales, periods and the weights of linear and
// polynomial have the unit of the inputs. So have their hyperpriors. The inputs of linear and polynomial are
// distances from the lower end of the unit interval. A name of an input with several columns selects all of
// them. An argument is then one number for all inputs, one for each name or one for each column. Stationary
// kernels have one lengthscale for a nominal input, also without its name, unless an argument has a number for
// each column.
func ParseNamed(expr string, dim int, inputs []Input) (Kernel, error) {
	return parse(expr, dim, inputs, false, false)
}

// Limits on the size of a kernel, which bound the memory and the stack of Parse.
const (
	maxDepth  = 64
	maxNested = 100
)

func parse(expr string, dim int, inputs []Input, shared, byValue bool) (Kernel, error) {
	if dim < 1 {
		return nil, fmt.Errorf("%w: a kernel of %d inputs, want at least 1", ErrExpression, dim)
	}
	p := parser{text: expr, dim: dim, named: inputs, shared: shared, byValue: byValue}
	terms, err := p.expression()
	if err == nil {
		if p.space(); p.at < len(p.text) {
			err = p.fail(p.at, "unexpected %q", p.rest())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrExpression, expr, err)
	}
	return buildSum(terms), nil
}

// parsedTerm is a parsed product.
type parsedTerm struct {
	factors  []Kernel // elementary, or sums in parentheses
	number   float64  // product of the numbers, 1 if there are none
	numbered bool
	variance bool // the word variance occurs

	// The least and the largest product of constants that multiplies an elementary
	// kernel of the term, sums in parentheses included.
	least, most float64
}

// scaleBy multiplies the constants of t by the constants of a factor. It reports
// whether the products are positive and finite.
func (t *parsedTerm) scaleBy(least, most float64) bool {
	t.least *= least
	t.most *= most
	return positive(t.least) && positive(t.most)
}

func buildSum(terms []parsedTerm) Kernel {
	built := make([]Kernel, len(terms))
	for i, t := range terms {
		k := Product(t.factors...)
		switch {
		case t.numbered:
			k = ScaleBy(t.number, k)
		case t.variance || !carriesVariance(k):
			k = Scale(k)
		}
		built[i] = k
	}
	return Sum(built...)
}

type parser struct {
	text   string
	at     int // number of bytes parsed
	dim    int
	named  []Input
	shared bool
	nested int

	byValue bool // Spec.ByValue
}

func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("position %d: %w", at+1, fmt.Errorf(format, args...))
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take consumes c if it is the next character after spaces.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if p.take(c) {
		return nil
	}
	return p.fail(p.at, "expected %q, found %s", c, p.found())
}

func (p *parser) rest() string { return p.text[p.at:min(len(p.text), p.at+12)] }

func (p *parser) found() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	return strconv.Quote(p.rest())
}

// word parses a run of letters, digits and underscores.
func (p *parser) word() string {
	p.space()
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || letter(p.text[p.at]) || digit(p.text[p.at])) {
		p.at++
	}
	return p.text[from:p.at]
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// number parses a positive decimal number.
func (p *parser) number() (float64, error) {
	p.space()
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponentSign := (c == '+' || c == '-') && p.at > from && p.text[p.at-1]|0x20 == 'e'
		if !digit(c) && c != '.' && !(c|0x20 == 'e' && p.at > from) && !exponentSign {
			break
		}
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil || !positive(v) {
		text := p.text[from:p.at]
		p.at = from
		if text == "" {
			return 0, p.fail(from, "expected a positive number, found %s", p.found())
		}
		return 0, p.fail(from, "%q is not a positive number", text)
	}
	return v, nil
}

func (p *parser) expression() ([]parsedTerm, error) {
	if p.nested++; p.nested > maxNested {
		return nil, p.fail(p.at, "more than %d nested parentheses", maxNested)
	}
	defer func() { p.nested-- }()
	var terms []parsedTerm
	total := 0.0
	for {
		p.space()
		from := p.at
		t, more, err := p.term()
		if err != nil {
			return nil, err
		}
		if total += t.most; math.IsInf(total, 0) {
			return nil, p.fail(from, "the sum of the constants is not a finite number")
		}
		if terms = append(terms, t); more != nil {
			terms = append(terms[:len(terms)-1], more...)
		}
		if !p.take('+') {
			return terms, nil
		}
	}
}

// term parses a product. If the product is only a sum in parentheses, more has the
// terms of the sum.
func (p *parser) term() (t parsedTerm, more []parsedTerm, err error) {
	t.number, t.least, t.most = 1, 1, 1
	for {
		p.space()
		from := p.at
		switch {
		case p.take('('):
			terms, err := p.expression()
			if err != nil {
				return t, nil, err
			}
			if err := p.expect(')'); err != nil {
				return t, nil, err
			}
			if len(terms) == 1 {
				t.factors = append(t.factors, terms[0].factors...)
				t.number *= terms[0].number
				t.numbered = t.numbered || terms[0].numbered
				t.variance = t.variance || terms[0].variance
			} else {
				t.factors, more = append(t.factors, buildSum(terms)), terms
			}
			least, most := terms[0].least, terms[0].most
			for _, inner := range terms[1:] {
				least, most = min(least, inner.least), most+inner.most
			}
			if !t.scaleBy(least, most) {
				return t, nil, p.outOfRange(from)
			}
		case p.at < len(p.text) && (digit(p.text[p.at]) || p.text[p.at] == '.'):
			v, err := p.number()
			if err != nil {
				return t, nil, err
			}
			t.number *= v
			t.numbered = true
			if !t.scaleBy(v, v) {
				return t, nil, p.outOfRange(from)
			}
			more = nil
		default:
			name := p.word()
			if name == "variance" {
				t.variance = true
				break
			}
			k, err := p.kernel(name, from)
			if err != nil {
				return t, nil, err
			}
			t.factors = append(t.factors, k)
		}
		if !p.take('*') {
			break
		}
	}
	if len(t.factors) == 0 {
		t.factors = []Kernel{Constant(p.dim)}
	}
	if len(t.factors) != 1 || t.numbered || t.variance {
		more = nil
	}
	return t, more, nil
}

func (p *parser) outOfRange(at int) error {
	return p.fail(at, "the product of the constants is not a positive finite number")
}

// kernel parses the inputs and arguments after the name of an elementary kernel.
func (p *parser) kernel(name string, from int) (Kernel, error) {
	at := slices.Index(Names(), name)
	switch {
	case name == "":
		return nil, p.fail(from, "expected a kernel, found %s", p.found())
	case at < 0:
		return nil, p.fail(from, "unknown kernel %q%s", name, didyoumean.Hint(name, Names()))
	}
	entry, dim := catalogue[at], p.dim
	p.space()
	list := p.at
	inputs, err := p.inputs()
	if err != nil {
		return nil, err
	}
	args, err := p.arguments(name, entry.args)
	if err != nil {
		return nil, err
	}
	shared, depth := p.shared, 0
	var fix []argument
	for _, a := range args {
		switch a.key {
		case "ard":
			shared = !a.flag
		case "depth", "degree":
			depth = int(a.values[0])
		default:
			fix = append(fix, a)
		}
	}
	if _, ok := entry.build(1, false, 0).(stationary); ok {
		inputs = p.grouped(inputs, fix)
	}
	if inputs != nil {
		dim = len(inputs.labels)
	}
	k := entry.build(dim, shared && dim > 1, depth)
	if k == nil {
		return nil, p.fail(from, "%s takes %d inputs, not %d", name, velocityInputs, dim)
	}
	if inputs != nil {
		if err := inputs.checkPeriods(k); err != nil {
			return nil, p.fail(list+1, "%w", err)
		}
		if m, ok := k.(measured); ok && inputs.named && !inputs.grouped {
			k = m.inUnits(inputs.units)
		}
		if inputs.grouped {
			k = k.(stationary).grouped(inputs)
		}
	}
	for _, a := range fix {
		if k, err = p.fix(k, a, inputs); err != nil {
			return nil, err
		}
	}
	if inputs != nil {
		k = inputs.on(k, p.dim)
	}
	return k, nil
}
