package network

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// op is the operation of a node.
type op int

const (
	opInput   op = iota
	opConst      // the row b for each point
	opDense      // n·W + b of a block, or n·W
	opAffine     // n·a + b
	opApply      // a derivative of an activation
	opAdd        // sum of two nodes
	opMul        // elementwise product of two nodes
	opColumns    // columns from the column from on
	opConcat     // columns of all arguments
	opMap        // a fixed map
)

// node is an operation with its arguments, which precede it.
type node struct {
	op   op
	args []int
	cols int

	block     int  // of opDense
	bias      bool // opDense adds the biases
	direction bool // opDense takes its matrix and biases from the direction u instead of the weights

	group, order int // of opApply

	a *mat.Dense // of opAffine
	b []float64  // of opAffine, nil for 0, and of opConst

	from int // of opColumns

	eval func(dst, x *mat.Dense)     // of opMap
	vjp  func(dx, x, bar *mat.Dense) // of opMap

	ofX, ofW bool // depends on the inputs, on the weights
}

// block is a matrix and the biases of opDense. Its weights begin at the index at.
type block struct {
	in, out, at int
	sd          float64 // of the initial biases
}

func (b block) size() int { return (b.in + 1) * b.out }

// group is an activation at an argument. Its nodes are derivatives of different order.
type group struct {
	f   Activation
	arg int
}

// graph is a network under construction.
type graph struct {
	nodes  []node
	blocks []block
	groups []group
	err    error // the first error
}

func (g *graph) fail(format string, a ...any) {
	if g != nil && g.err == nil {
		g.err = fmt.Errorf("network: "+format, a...)
	}
}

func (g *graph) append(v node) int {
	v.ofX, v.ofW = v.op == opInput, v.op == opDense && !v.direction
	for _, a := range v.args {
		v.ofX, v.ofW = v.ofX || g.nodes[a].ofX, v.ofW || g.nodes[a].ofW
	}
	if v.op == opMap && v.ofW {
		g.fail("Map of a node that depends on weights")
	}
	g.nodes = append(g.nodes, v)
	return len(g.nodes) - 1
}

// zero is the identity of a tangent without a node.
const zero = -1

// tangents appends the tangents of nodes to a graph: their derivatives along a direction.
type tangents struct {
	g       *graph
	weights bool // the direction is in the space of weights
	known   map[int]int
}

// of returns the tangent of a node, or zero.
func (t *tangents) of(id int) int {
	if v, ok := t.known[id]; ok {
		return v
	}
	v := t.compute(t.g.nodes[id])
	t.known[id] = v
	return v
}

func (t *tangents) compute(n node) int {
	g, args := t.g, make([]int, len(n.args))
	any := false
	for i, a := range n.args {
		args[i] = t.of(a)
		any = any || args[i] != zero
	}
	if n.op == opDense {
		out := zero
		if any {
			out = g.append(node{op: opDense, args: args, cols: n.cols, block: n.block})
		}
		if t.weights {
			out = t.sum(out, g.append(node{op: opDense, args: n.args, cols: n.cols, block: n.block, bias: n.bias, direction: true}))
		}
		return out
	}
	if !any {
		return zero
	}
	switch n.op {
	case opAffine:
		return g.append(node{op: opAffine, args: args, cols: n.cols, a: n.a})
	case opApply:
		slope := g.append(node{op: opApply, args: n.args, cols: n.cols, group: n.group, order: n.order + 1})
		return t.product(slope, args[0])
	case opAdd:
		return t.sum(args[0], args[1])
	case opMul:
		return t.sum(t.product(args[0], n.args[1]), t.product(n.args[0], args[1]))
	case opColumns:
		return g.append(node{op: opColumns, args: args, cols: n.cols, from: n.from})
	case opConcat:
		for i, a := range args {
			if a == zero {
				cols := g.nodes[n.args[i]].cols
				args[i] = g.append(node{op: opConst, cols: cols, b: make([]float64, cols)})
			}
		}
		return g.append(node{op: opConcat, args: args, cols: n.cols})
	}
	g.fail("Along of a Map")
	return zero
}

func (t *tangents) sum(a, b int) int {
	switch {
	case a == zero:
		return b
	case b == zero:
		return a
	}
	return t.g.append(node{op: opAdd, args: []int{a, b}, cols: t.g.nodes[a].cols})
}

func (t *tangents) product(a, b int) int {
	if a == zero || b == zero {
		return zero
	}
	return t.g.append(node{op: opMul, args: []int{a, b}, cols: t.g.nodes[a].cols})
}

// degree returns the degree of a node as a polynomial of the weights of the given blocks: 0, 1, or 2
// for more.
func (g *graph) degree(id int, blocks []bool) int {
	degrees := make([]int, id+1)
	for i := range degrees {
		n := g.nodes[i]
		d := 0
		for _, a := range n.args {
			if n.op == opMul {
				d += degrees[a]
			} else {
				d = max(d, degrees[a])
			}
		}
		switch {
		case n.op == opDense && blocks[n.block]:
			d++
		case n.op == opApply && d > 0:
			d = 2
		}
		degrees[i] = min(d, 2)
	}
	return degrees[id]
}

// layout numbers the weights and returns the number of the last weights in which the node out is
// affine.
func (g *graph) layout(out int) (total, linear int) {
	last := make([]bool, len(g.blocks))
	for k := len(last) - 1; k >= 0; k-- {
		last[k] = true
		last[k] = g.degree(out, last) < 2
	}
	for _, of := range []bool{false, true} {
		for k := range g.blocks {
			if last[k] != of {
				continue
			}
			g.blocks[k].at = total
			total += g.blocks[k].size()
			if of {
				linear += g.blocks[k].size()
			}
		}
	}
	return total, linear
}

// needed returns the nodes on which out depends, in order, that are not in except.
func (g *graph) needed(out int, except []int) []int {
	use := make([]bool, out+1)
	use[out] = true
	skip := make([]bool, len(g.nodes))
	for _, i := range except {
		skip[i] = true
	}
	for i := out; i >= 0; i-- {
		if use[i] {
			for _, a := range g.nodes[i].args {
				use[a] = true
			}
		}
	}
	var list []int
	for i, u := range use {
		if u && !skip[i] {
			list = append(list, i)
		}
	}
	return list
}
