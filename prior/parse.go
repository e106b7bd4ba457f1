package prior

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrExpression reports a kernel expression that cannot be read.
var ErrExpression = errors.New("bad kernel expression")

// Parse reads a kernel on R^dim:
//
//	expression = term { "+" term }
//	term       = factor { "*" factor }
//	factor     = name [ "[" input { "," input } "]" ] [ "(" argument { "," argument } ")" ]
//	           | "(" expression ")" | number | "variance"
//	argument   = key "=" ( number | "[" number { "," number } "]" | "true" | "false" )
//
// for example "rbf*periodic(period=0.5) + 0.1*linear[0,2]". Names are those of
// [Names]. The list in square brackets chooses inputs, counted from 0. An
// argument fixes a hyper-parameter: one number for all inputs or one for each;
// ard=false makes one lengthscale (and period) serve all inputs; depth and degree
// are whole numbers of arccos and polynomial.
//
// Every term has one output variance: the number that stands before it, fixed,
// or else a learned one. Linear, polynomial, arccos and sums in parentheses set
// their own amplitude, so a term with one of them as a factor has no variance
// unless the number or the word variance stands in it.
//
// Errors wrap ErrExpression and give the position, counted from 1.
func Parse(expr string, dim int) (Kernel, error) { return parse(expr, dim, false) }

// Limits on what an expression may ask for, so that no text takes the machine
// down.
const (
	maxDepth  = 64
	maxNested = 100
)

func parse(expr string, dim int, shared bool) (Kernel, error) {
	if dim < 1 {
		return nil, fmt.Errorf("%w: a kernel of %d inputs", ErrExpression, dim)
	}
	p := parser{text: expr, dim: dim, shared: shared}
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

// parsedTerm is a product as written.
type parsedTerm struct {
	factors  []Kernel // elementary, or sums in parentheses
	number   float64  // product of the numbers, 1 if there are none
	numbered bool
	variance bool // the word stood in it
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
	at     int // bytes read
	dim    int
	shared bool
	nested int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("position %d: %s", at+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take reads c if it comes next.
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

// word reads a run of letters, digits and underscores.
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

// number reads a positive decimal number.
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
	for {
		t, more, err := p.term()
		if err != nil {
			return nil, err
		}
		if terms = append(terms, t); more != nil {
			terms = append(terms[:len(terms)-1], more...)
		}
		if !p.take('+') {
			return terms, nil
		}
	}
}

// term reads a product. If it is nothing but a sum in parentheses, the terms of
// that come back as more.
func (p *parser) term() (t parsedTerm, more []parsedTerm, err error) {
	t.number = 1
	var sums int
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
			sums++
		case p.at < len(p.text) && (digit(p.text[p.at]) || p.text[p.at] == '.'):
			v, err := p.number()
			if err != nil {
				return t, nil, err
			}
			t.number *= v
			t.numbered = true
			if !positive(t.number) {
				return t, nil, p.fail(from, "the product of the numbers is %v", t.number)
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

// kernel reads what follows the name of an elementary kernel.
func (p *parser) kernel(name string, from int) (Kernel, error) {
	at := slices.Index(Names(), name)
	switch {
	case name == "":
		return nil, p.fail(from, "expected a kernel, found %s", p.found())
	case at < 0:
		return nil, p.fail(from, "unknown kernel %q%s", name, didyoumean.Hint(name, Names()))
	}
	entry, dim := catalogue[at], p.dim
	inputs, err := p.inputs()
	if err != nil {
		return nil, err
	}
	if inputs != nil {
		dim = len(inputs)
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
	k := entry.build(dim, shared && dim > 1, depth)
	if k == nil {
		return nil, p.fail(from, "%s takes %d inputs, not %d", name, velocityInputs, dim)
	}
	for _, a := range fix {
		if k, err = p.fix(k, a); err != nil {
			return nil, err
		}
	}
	if inputs != nil {
		k = OnInputs(k, p.dim, inputs...)
	}
	return k, nil
}

func (p *parser) inputs() ([]int, error) {
	if !p.take('[') {
		return nil, nil
	}
	var inputs []int
	for {
		p.space()
		from := p.at
		j, err := strconv.Atoi(p.word())
		switch {
		case err != nil || j < 0:
			p.at = from
			return nil, p.fail(from, "expected the number of an input, found %s", p.found())
		case j >= p.dim:
			return nil, p.fail(from, "input %d of a space with %d: counting starts at 0", j, p.dim)
		case slices.Contains(inputs, j):
			return nil, p.fail(from, "input %d is named twice", j)
		}
		inputs = append(inputs, j)
		if !p.take(',') {
			return inputs, p.expect(']')
		}
	}
}
