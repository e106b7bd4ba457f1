// Package expression compiles conditions and constraints of search spaces, and numbers, that are
// written as text:
//
//	optimizer == 'sgd' and momentum > 0.5
//	layers * width <= 4096
//	log2(batch) in [4, 5, 6]
//
// The names of parameters stand for their values; param['learning rate'] stands for a
// parameter whose name is not a word. Operators are, from weak to strong,
//
//	condition ? a : b
//	or ||
//	and &&
//	== != < <= > >= in
//	+ -
//	* / %
//	** ^      power
//	not ! -   before an operand
//
// A list of constants such as [1, 2, 3] follows in, also as not in. The functions are abs,
// ceil, exp, floor, log, log2, log10, round and sqrt of one number, and min and max of one or
// more. Numbers are float64: 1/0 is infinite, 0/0 is no number, and a comparison with it does
// not hold. Numbers that differ by the rounding of a sum alone are equal: 0.1 + 0.2 <= 0.3 holds.
// Text stands in single or double quotes.
//
// An expression has at most MaxLength bytes and no loops, so that an evaluation takes at most
// a few microseconds. Package github.com/expr-lang/expr parses the text; all other features
// of its language are errors.
package expression

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/functionspace/bo/space"
)

// Bounds of an expression.
const (
	MaxLength = 1000 // bytes of the text
	MaxNodes  = 400  // operands and operators
)

// Compile compiles a condition on the given parameters. The error names the character at
// which the fault begins, counted from 1. Parameters of an unknown kind may occur anywhere, so
// that a fault of a parameter causes no other ones.
func Compile(text string, params []space.Parameter) (space.Condition, error) {
	tree, c, root, err := compile(text, params)
	if err == nil && root.truth == nil {
		err = fmt.Errorf("%s: %w", excerpt(text), faultAt(tree, "want a condition that is true or false, not %s", root.kind()))
	}
	if err == nil && len(c.used) == 0 {
		err = fmt.Errorf("%s: %w", excerpt(text), faultAt(tree, "names no parameter"))
	}
	if err != nil {
		return space.Condition{}, err
	}
	return space.Condition{Text: text, On: c.names(), Holds: root.truth, Excess: c.excess(tree)}, nil
}

// Number compiles a number, such as "3 + 2*log(x)", and returns the names of the parameters in
// it. The errors are as in Compile.
func Number(text string, params []space.Parameter) (f func(space.Point) float64, on []string, err error) {
	tree, c, root, err := compile(text, params)
	if err == nil && root.number == nil {
		err = fmt.Errorf("%s: %w", excerpt(text), faultAt(tree, "want a number, not %s", root.kind()))
	}
	if err != nil {
		return nil, nil, err
	}
	return root.number, c.names(), nil
}

// compile parses and compiles a text. The error states how to write a parameter whose name is no word and is in the text.
func compile(text string, params []space.Parameter) (ast.Node, *compiler, operand, error) {
	tree, c, root, err := compileText(text, params)
	if err != nil {
		for _, p := range params {
			if r := Reference(p.Name); p.Name != "" && r != p.Name && strings.Contains(text, p.Name) && !strings.Contains(text, "['"+p.Name+"']") && !strings.Contains(text, `["`+p.Name+`"]`) {
				return tree, c, root, fmt.Errorf("%w: write %s for the parameter %s", err, r, p.Name)
			}
		}
	}
	return tree, c, root, err
}

// Reference returns the text of a parameter in an expression: its name, or param['a name'] if the name is no word.
func Reference(name string) string {
	tree, err := parser.Parse(name)
	if err == nil {
		if word, ok := tree.Node.(*ast.IdentifierNode); ok && word.Value == name {
			return name
		}
	}
	if strings.ContainsAny(name, `'\`) {
		return "param[" + strconv.Quote(name) + "]"
	}
	return "param['" + name + "']"
}

func compileText(text string, params []space.Parameter) (ast.Node, *compiler, operand, error) {
	if len(text) > MaxLength {
		return nil, nil, operand{}, fmt.Errorf("the expression has %d bytes, at most %d", len(text), MaxLength)
	}
	config := conf.CreateNew()
	config.MaxNodes = MaxNodes
	for name := range config.Builtins {
		config.Disabled[name] = true
	}
	tree, err := parser.ParseWithConfig(text, config)
	if f, ok := errors.AsType[*file.Error](err); ok {
		return nil, nil, operand{}, fmt.Errorf("%s: character %d: %s", excerpt(text), f.Column+1, plain(f.Message))
	} else if err != nil {
		return nil, nil, operand{}, fmt.Errorf("%s: %w", excerpt(text), err)
	}
	c := &compiler{params: params, used: map[int]bool{}}
	root, err := c.compile(tree.Node)
	if err != nil {
		return nil, nil, operand{}, fmt.Errorf("%s: %w", excerpt(text), err)
	}
	return tree.Node, c, root, nil
}

// token matches the parser's name of a token, such as Identifier("mol").
var token = regexp.MustCompile(`^unexpected token (\w+)(?:\((".*")\))?`)

// plain returns a message of the parser without its names of tokens.
func plain(message string) string {
	switch found := token.FindStringSubmatch(message); {
	case found == nil:
		return message
	case found[1] == "EOF":
		return "the text ends too early"
	case found[2] == `"="`:
		return `unexpected "=": write == for a comparison`
	default:
		return "unexpected " + cmp.Or(found[2], found[1])
	}
}

// names returns the names of the parameters that occur, in their order.
func (c *compiler) names() []string {
	var names []string
	for i, p := range c.params {
		if c.used[i] {
			names = append(names, p.Name)
		}
	}
	return names
}

// Space returns the space of parameters and constraints with conditions as text.
func Space(params []space.Parameter, constraints ...string) (*space.Space, error) {
	d := space.Spec{Parameters: params, Compile: Compile}
	for _, text := range constraints {
		d.Constraints = append(d.Constraints, space.Condition{Text: text})
	}
	return d.Space()
}

// Parse is space.ParseWith for expressions.
func Parse(text []byte) (*space.Space, error) { return space.ParseWith(text, Compile) }

// excerpt quotes the beginning of an expression.
func excerpt(text string) string {
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// faultAt returns a fault at the character of a node.
func faultAt(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("character %d: %s", n.Location().From+1, fmt.Sprintf(format, args...))
}

// excess returns the function that measures how far a condition is from holding, nil if only
// its truth is known. Comparisons of numbers have the difference of their sides, "and" the
// sum and "or" the least of its operands.
func (c *compiler) excess(n ast.Node) func(p space.Point) float64 {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	if slices.Contains([]string{"and", "&&", "or", "||"}, b.Operator) {
		left, right := c.excessOrTruth(b.Left), c.excessOrTruth(b.Right)
		if b.Operator == "and" || b.Operator == "&&" {
			return func(p space.Point) float64 { return left(p) + right(p) }
		}
		return func(p space.Point) float64 { return min(left(p), right(p)) }
	}
	left, err := c.compile(b.Left)
	right, err2 := c.compile(b.Right)
	if err != nil || err2 != nil || left.number == nil || right.number == nil {
		return nil
	}
	l, r := left.number, right.number
	const tie = 1e-9 // of two equal sides of a strict comparison
	switch b.Operator {
	case "<=":
		return func(p space.Point) float64 { return max(0, l(p)-r(p)) }
	case ">=":
		return func(p space.Point) float64 { return max(0, r(p)-l(p)) }
	case "<":
		return func(p space.Point) float64 { return strict(l(p), r(p), tie) }
	case ">":
		return func(p space.Point) float64 { return strict(r(p), l(p), tie) }
	case "==":
		return func(p space.Point) float64 { return max(l(p)-r(p), r(p)-l(p)) }
	}
	return nil
}

// strict returns the excess of a < b.
func strict(a, b, tie float64) float64 {
	if a < b {
		return 0
	}
	return a - b + tie
}

// excessOrTruth returns the excess of an operand, 0 or 1 if only its truth is known.
func (c *compiler) excessOrTruth(n ast.Node) func(p space.Point) float64 {
	if f := c.excess(n); f != nil {
		return f
	}
	v, err := c.compile(n)
	if err != nil || v.truth == nil {
		return func(space.Point) float64 { return 1 }
	}
	return func(p space.Point) float64 {
		if v.truth(p) {
			return 0
		}
		return 1
	}
}
