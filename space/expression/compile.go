package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/space"
)

// operand is a compiled part of an expression. Exactly one of the functions is not nil. An
// operand of mixed type has the function scalar.
type operand struct {
	number func(p space.Point) float64
	truth  func(p space.Point) bool
	text   func(p space.Point) string
	scalar func(p space.Point) any // a number, truth or text

	size     func(p space.Point) float64 // of the largest term of a sum; nil of another number
	constant bool
	values   []any // values of a parameter that is a choice, as float64, bool or string
	name     string
}

// kind names the type of an operand.
func (v operand) kind() string {
	switch {
	case v.number != nil:
		return "a number"
	case v.truth != nil:
		return "true or false"
	case v.text != nil:
		return "text"
	}
	return "a value of any type"
}

// any returns the value of an operand of any type.
func (v operand) any() func(p space.Point) any {
	switch {
	case v.number != nil:
		return func(p space.Point) any { return v.number(p) }
	case v.truth != nil:
		return func(p space.Point) any { return v.truth(p) }
	case v.text != nil:
		return func(p space.Point) any { return v.text(p) }
	}
	return v.scalar
}

func number(x float64) operand {
	return operand{number: func(space.Point) float64 { return x }, constant: true}
}

// compiler compiles expressions on parameters.
type compiler struct {
	params []space.Parameter
	used   map[int]bool // parameters that occur
}

func (c *compiler) compile(n ast.Node) (operand, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return number(float64(n.Value)), nil
	case *ast.FloatNode:
		return number(n.Value), nil
	case *ast.StringNode:
		return operand{text: func(space.Point) string { return n.Value }, constant: true}, nil
	case *ast.BoolNode:
		return operand{truth: func(space.Point) bool { return n.Value }, constant: true}, nil
	case *ast.IdentifierNode:
		return c.parameter(n, n.Value)
	case *ast.MemberNode:
		base, ok := n.Node.(*ast.IdentifierNode)
		name, text := n.Property.(*ast.StringNode)
		if !ok || !text || base.Value != "param" || n.Optional || n.Method {
			return operand{}, faultAt(n, "only param['name'] has brackets or dots")
		}
		return c.parameter(n, name.Value)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return operand{}, faultAt(n, "only a function such as log can be called")
		}
		return c.call(n, name.Value, n.Arguments)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	}
	return operand{}, faultAt(n, "this form of expression is not available: use parameters, numbers, text, comparisons, and, or, not")
}

// parameter compiles the value of a parameter.
func (c *compiler) parameter(n ast.Node, name string) (operand, error) {
	i := slices.IndexFunc(c.params, func(p space.Parameter) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(c.params))
		for i := range c.params {
			names[i] = c.params[i].Name
		}
		if _, ok := functions[name]; ok {
			return operand{}, faultAt(n, "%s is a function: want %s(…)", name, name)
		}
		for _, p := range c.params {
			if slices.Contains(p.Values, any(name)) {
				return operand{}, faultAt(n, "no parameter has the name %q, which is a value of %s: write a value in quotes, '%s'", name, p.Name, name)
			}
		}
		return operand{}, faultAt(n, "unknown parameter %q%s", name, didyoumean.Hint(name, names))
	}
	c.used[i] = true
	v := operand{name: name}
	switch p := c.params[i]; p.Kind {
	case space.KindFloat, space.KindInt:
		v.number = func(p space.Point) float64 { return p.Code(i) }
		return v, nil
	case space.KindBool:
		v.truth = func(p space.Point) bool { return p.Code(i) == 1 }
		return v, nil
	case space.KindOrdinal, space.KindCategorical:
		v.values = slices.Clone(p.Values)
	case space.KindFixed:
		v.values = []any{p.Value}
	default: // a faulty parameter
		v.scalar = func(space.Point) any { return nil }
		return v, nil
	}
	return v.choice(i), nil
}

// choice sets the function of a parameter with listed values.
func (v operand) choice(i int) operand {
	numbers, truths, texts := make([]float64, len(v.values)), make([]bool, len(v.values)), make([]string, len(v.values))
	counts := map[string]int{}
	for k, w := range v.values {
		switch w := w.(type) {
		case string:
			texts[k] = w
			counts["text"]++
		case bool:
			truths[k] = w
			counts["truth"]++
		case float64:
			numbers[k] = w
			counts["number"]++
		}
	}
	all := v.values
	switch len(all) {
	case counts["number"]:
		v.number = func(p space.Point) float64 { return numbers[int(p.Code(i))] }
	case counts["truth"]:
		v.truth = func(p space.Point) bool { return truths[int(p.Code(i))] }
	case counts["text"]:
		v.text = func(p space.Point) string { return texts[int(p.Code(i))] }
	default:
		v.scalar = func(p space.Point) any { return all[int(p.Code(i))] }
	}
	return v
}

func (c *compiler) unary(n *ast.UnaryNode) (operand, error) {
	v, err := c.compile(n.Node)
	if err != nil {
		return v, err
	}
	switch n.Operator {
	case "not", "!":
		if v.truth == nil && v.scalar == nil {
			return v, faultAt(n.Node, "want true or false after %s, not %s", n.Operator, v.kind())
		}
		f := v.asTruth()
		return operand{truth: func(p space.Point) bool { return !f(p) }}, nil
	case "-", "+":
		if v.number == nil && v.scalar == nil {
			return v, faultAt(n.Node, "want a number after %s, not %s", n.Operator, v.kind())
		}
		f := v.asNumber()
		if n.Operator == "-" {
			return operand{number: func(p space.Point) float64 { return -f(p) }, size: v.size, constant: v.constant}, nil
		}
		return operand{number: f, size: v.size, constant: v.constant}, nil
	}
	return v, faultAt(n, "unknown operator %s", n.Operator)
}

// asNumber returns the number of an operand, NaN if it has another type.
func (v operand) asNumber() func(p space.Point) float64 {
	if v.number != nil {
		return v.number
	}
	return func(p space.Point) float64 {
		if x, ok := v.scalar(p).(float64); ok {
			return x
		}
		return math.NaN()
	}
}

// asTruth returns the truth of an operand, false if it has another type.
func (v operand) asTruth() func(p space.Point) bool {
	if v.truth != nil {
		return v.truth
	}
	return func(p space.Point) bool {
		b, _ := v.scalar(p).(bool)
		return b
	}
}

func (c *compiler) conditional(n *ast.ConditionalNode) (operand, error) {
	cond, err := c.compile(n.Cond)
	if err != nil {
		return cond, err
	}
	a, err := c.compile(n.Exp1)
	if err != nil {
		return a, err
	}
	b, err := c.compile(n.Exp2)
	if err != nil {
		return b, err
	}
	if cond.truth == nil && cond.scalar == nil {
		return cond, faultAt(n.Cond, "want true or false before ?, not %s", cond.kind())
	}
	test := cond.asTruth()
	switch {
	case a.number != nil && b.number != nil:
		return operand{number: func(p space.Point) float64 {
			if test(p) {
				return a.number(p)
			}
			return b.number(p)
		}}, nil
	case a.truth != nil && b.truth != nil:
		return operand{truth: func(p space.Point) bool {
			if test(p) {
				return a.truth(p)
			}
			return b.truth(p)
		}}, nil
	}
	x, y := a.any(), b.any()
	return operand{scalar: func(p space.Point) any {
		if test(p) {
			return x(p)
		}
		return y(p)
	}}, nil
}

func (c *compiler) binary(n *ast.BinaryNode) (operand, error) {
	if n.Operator == "in" {
		return c.in(n)
	}
	left, err := c.compile(n.Left)
	if err != nil {
		return left, err
	}
	right, err := c.compile(n.Right)
	if err != nil {
		return right, err
	}
	switch n.Operator {
	case "and", "&&", "or", "||":
		for i, v := range []operand{left, right} {
			if v.truth == nil && v.scalar == nil {
				return v, faultAt([]ast.Node{n.Left, n.Right}[i], "want true or false beside %s, not %s", n.Operator, v.kind())
			}
		}
		a, b := left.asTruth(), right.asTruth()
		if n.Operator == "and" || n.Operator == "&&" {
			return operand{truth: func(p space.Point) bool { return a(p) && b(p) }}, nil
		}
		return operand{truth: func(p space.Point) bool { return a(p) || b(p) }}, nil
	case "==", "!=":
		equal, err := c.equal(n, left, right)
		if err != nil || n.Operator == "==" {
			return operand{truth: equal}, err
		}
		return operand{truth: func(p space.Point) bool { return !equal(p) }}, nil
	}
	return arithmetic(n, left, right)
}

// equal compiles the comparison of two operands, of which one may be a constant that is no
// value of the other.
func (c *compiler) equal(n *ast.BinaryNode, left, right operand) (func(p space.Point) bool, error) {
	for _, pair := range []struct {
		choice, other operand
		node          ast.Node
	}{{left, right, n.Right}, {right, left, n.Left}} {
		if pair.choice.values == nil || !pair.other.constant {
			continue
		}
		if err := pair.choice.check(pair.other.any()(space.Point{}), pair.node); err != nil {
			return nil, err
		}
	}
	switch {
	case left.number != nil && right.number != nil:
		d := difference(left, right)
		return func(p space.Point) bool { return d(p) == 0 }, nil
	case left.text != nil && right.text != nil:
		return func(p space.Point) bool { return left.text(p) == right.text(p) }, nil
	case left.truth != nil && right.truth != nil:
		return func(p space.Point) bool { return left.truth(p) == right.truth(p) }, nil
	case left.scalar == nil && right.scalar == nil:
		return nil, faultAt(n.Right, "%s never equals %s", left.kind(), right.kind())
	}
	a, b := left.any(), right.any()
	return func(p space.Point) bool { return a(p) == b(p) }, nil
}

// check returns a fault if x is not a value of a choice.
func (v operand) check(x any, n ast.Node) error {
	if v.values == nil || slices.Contains(v.values, x) {
		return nil
	}
	var names []string
	for _, w := range v.values {
		names = append(names, fmt.Sprint(w))
	}
	list := strings.Join(names[:min(len(names), 12)], ", ")
	if len(names) > 12 {
		list += ", …"
	}
	return faultAt(n, "%v is not a value of %s: one of %s", x, v.name, list)
}

// in compiles the test whether an operand is one of a list of constants.
func (c *compiler) in(n *ast.BinaryNode) (operand, error) {
	left, err := c.compile(n.Left)
	if err != nil {
		return left, err
	}
	list, ok := n.Right.(*ast.ArrayNode)
	if !ok {
		return left, faultAt(n.Right, "want a list such as [1, 2] after in")
	}
	set := map[any]bool{}
	for _, item := range list.Nodes {
		v, err := c.compile(item)
		if err != nil {
			return v, err
		}
		if !v.constant {
			return v, faultAt(item, "a list has numbers and text only")
		}
		if left.scalar == nil && left.kind() != v.kind() {
			return v, faultAt(item, "%s never equals %s", left.kind(), v.kind())
		}
		x := v.any()(space.Point{})
		if err := left.check(x, item); err != nil {
			return v, err
		}
		set[x] = true
	}
	value := left.any()
	return operand{truth: func(p space.Point) bool { return set[value(p)] }}, nil
}

// arithmetic compiles an operator of two numbers.
func arithmetic(n *ast.BinaryNode, left, right operand) (operand, error) {
	if !slices.Contains([]string{"<", "<=", ">", ">=", "+", "-", "*", "/", "%", "**", "^"}, n.Operator) {
		return operand{}, faultAt(n, "the operator %s is not available", n.Operator)
	}
	for _, side := range []struct {
		v    operand
		node ast.Node
	}{{left, n.Left}, {right, n.Right}} {
		if side.v.number == nil && side.v.scalar == nil {
			return operand{}, faultAt(side.node, "want a number beside %s, not %s", n.Operator, side.v.kind())
		}
	}
	a, b := left.asNumber(), right.asNumber()
	out := operand{constant: left.constant && right.constant}
	d := difference(left, right)
	switch n.Operator {
	case "<":
		out.truth = func(p space.Point) bool { return d(p) < 0 }
	case "<=":
		out.truth = func(p space.Point) bool { return d(p) <= 0 }
	case ">":
		out.truth = func(p space.Point) bool { return d(p) > 0 }
	case ">=":
		out.truth = func(p space.Point) bool { return d(p) >= 0 }
	case "+":
		out.number = func(p space.Point) float64 { return a(p) + b(p) }
		out.size = largest(left, right)
	case "-":
		out.number = func(p space.Point) float64 { return a(p) - b(p) }
		out.size = largest(left, right)
	case "*":
		out.number = func(p space.Point) float64 { return a(p) * b(p) }
	case "/":
		out.number = func(p space.Point) float64 { return a(p) / b(p) }
	case "%":
		out.number = func(p space.Point) float64 { return math.Mod(a(p), b(p)) }
	case "**", "^":
		out.number = func(p space.Point) float64 { return math.Pow(a(p), b(p)) }
	}
	return out, nil
}

// rounding bounds the relative rounding error of a sum of a few dozen terms.
const rounding = 0x1p-46

// difference returns left minus right, 0 if they differ by the rounding of their sums alone. Thus 0.1 + 0.2 equals
// 0.3. Whole numbers are exact.
func difference(left, right operand) func(p space.Point) float64 {
	a, b, size := left.asNumber(), right.asNumber(), largest(left, right)
	return func(p space.Point) float64 {
		x, y := a(p), b(p)
		switch d := x - y; {
		case x == y: // also if both are infinite
			return 0
		case x == math.Trunc(x) && y == math.Trunc(y), !(math.Abs(d) <= rounding*size(p)):
			return d
		}
		return 0
	}
}

// largest returns the larger of the sizes of two operands.
func largest(left, right operand) func(p space.Point) float64 {
	a, b := left.sizeOf(), right.sizeOf()
	return func(p space.Point) float64 { return max(a(p), b(p)) }
}

// sizeOf returns the size of an operand, for other numbers than sums their absolute value.
func (v operand) sizeOf() func(p space.Point) float64 {
	if v.size != nil {
		return v.size
	}
	f := v.asNumber()
	return func(p space.Point) float64 { return math.Abs(f(p)) }
}

// functions are the functions of numbers; their second entry is the number of arguments, 0
// for one or more.
var functions = map[string]struct {
	f     func(x []float64) float64
	arity int
}{
	"abs":   {func(x []float64) float64 { return math.Abs(x[0]) }, 1},
	"ceil":  {func(x []float64) float64 { return math.Ceil(x[0]) }, 1},
	"exp":   {func(x []float64) float64 { return math.Exp(x[0]) }, 1},
	"floor": {func(x []float64) float64 { return math.Floor(x[0]) }, 1},
	"log":   {func(x []float64) float64 { return math.Log(x[0]) }, 1},
	"log2":  {func(x []float64) float64 { return math.Log2(x[0]) }, 1},
	"log10": {func(x []float64) float64 { return math.Log10(x[0]) }, 1},
	"max":   {func(x []float64) float64 { return slices.Max(x) }, 0},
	"min":   {func(x []float64) float64 { return slices.Min(x) }, 0},
	"round": {func(x []float64) float64 { return math.Round(x[0]) }, 1},
	"sqrt":  {func(x []float64) float64 { return math.Sqrt(x[0]) }, 1},
}

func (c *compiler) call(n ast.Node, name string, args []ast.Node) (operand, error) {
	f, ok := functions[name]
	if !ok {
		var names []string
		for name := range functions {
			names = append(names, name)
		}
		slices.Sort(names)
		return operand{}, faultAt(n, "unknown function %s%s", name, didyoumean.Hint(name, names))
	}
	if f.arity > 0 && len(args) != f.arity || len(args) == 0 {
		return operand{}, faultAt(n, "%s has %d arguments, want %s", name, len(args), map[int]string{0: "one or more", 1: "one"}[f.arity])
	}
	parts := make([]func(p space.Point) float64, len(args))
	constant := true
	for i, arg := range args {
		v, err := c.compile(arg)
		if err != nil {
			return v, err
		}
		if v.number == nil && v.scalar == nil {
			return v, faultAt(arg, "want a number in %s, not %s", name, v.kind())
		}
		parts[i], constant = v.asNumber(), constant && v.constant
	}
	return operand{constant: constant, number: func(p space.Point) float64 {
		var room [4]float64
		x := room[:0]
		for _, part := range parts {
			x = append(x, part(p))
		}
		return f.f(x)
	}}, nil
}
