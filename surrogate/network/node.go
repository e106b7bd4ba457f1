package network

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Node is a vector-valued function of the inputs and the weights of a network: a matrix with a row
// for each point. Its methods add nodes to the network of the [Func] that received it.
//
// A method whose arguments do not fit each other returns a Node that makes Func.Network return an
// error.
type Node struct {
	g  *graph
	id int
}

// Func composes a network of the Node of its inputs, one column for each. It returns a Node with one
// column, the values f(x,w). It is called once for each network and must not keep nodes.
type Func func(x Node) Node

// Network implements [Architecture]. The error reports nodes that do not fit each other.
//
// Weights are the weights of the Dense nodes in the order of their creation. The nodes in which the network is
// affine come last instead. Each node has the matrix, row by row, then the biases. Initial weights are normal
// with standard deviation 1/√d for d inputs of the node, truncated at two standard deviations. If the result is
// a Dense node, its bias starts at the mean.
//
// For m points a Tape has the memory of the m×c values of all nodes. Value, JVP, VJP, InputGrad and
// TangentGrad cost a small multiple of O(mp), with direction matrices u in TangentGrad.
func (f Func) Network(d int) (Network, error) {
	if d < 1 {
		return nil, fmt.Errorf("network: %d inputs, want at least 1", d)
	}
	if f == nil {
		return nil, fmt.Errorf("network: a Func that is nil")
	}
	g := &graph{}
	g.append(node{op: opInput, cols: d})
	out := f(Node{g, 0})
	switch {
	case g.err != nil:
		return nil, g.err
	case out.g != g:
		return nil, fmt.Errorf("network: the function did not return a node of its inputs")
	case out.Width() != 1:
		return nil, fmt.Errorf("network: the function returned a node of %d columns, want 1", out.Width())
	}
	return compile(g, out.id)
}

// valid reports whether all nodes belong to one graph without an error.
func (n Node) valid(others ...Node) bool {
	if n.g == nil || n.g.err != nil {
		return false
	}
	for _, o := range others {
		if o.g != n.g {
			n.g.fail("a node of another network")
			return false
		}
	}
	return true
}

// add appends a node if the arguments are valid.
func (n Node) add(v node) Node {
	return Node{n.g, n.g.append(v)}
}

// fail records an error and returns an invalid Node.
func (n Node) fail(format string, a ...any) Node {
	n.g.fail(format, a...)
	return n
}

// Width returns the number of columns, or 0 after an error.
func (n Node) Width() int {
	if !n.valid() {
		return 0
	}
	return n.g.nodes[n.id].cols
}

// Dense returns n·W + b with a trained matrix W and trained biases b of the given number of columns.
// bias is the standard deviation of the initial biases: without biases, networks of odd activations
// start as odd functions. For inputs in [-s,s] a bias of about s/2 spreads the units over the box.
func (n Node) Dense(width int, bias float64) Node {
	if !n.valid() {
		return n
	}
	if width < 1 {
		return n.fail("Dense of %d columns, want at least 1", width)
	}
	if !(bias >= 0) || math.IsInf(bias, 0) {
		return n.fail("Dense with the bias %v, want a number that is 0 or more", bias)
	}
	n.g.blocks = append(n.g.blocks, block{in: n.Width(), out: width, sd: bias})
	return n.add(node{op: opDense, args: []int{n.id}, cols: width, block: len(n.g.blocks) - 1, bias: true})
}

// Affine returns n·a + b with a fixed matrix and a fixed row, which may be nil for 0. It copies both.
// For example, mat.NewDiagDense scales each column.
func (n Node) Affine(a mat.Matrix, b []float64) Node {
	if !n.valid() {
		return n
	}
	if a == nil {
		return n.fail("Affine by a matrix that is nil")
	}
	r, c := a.Dims()
	if r != n.Width() || c < 1 || b != nil && len(b) != c {
		return n.fail("Affine of %d columns by a %d×%d matrix and %d numbers", n.Width(), r, c, len(b))
	}
	return n.add(node{op: opAffine, args: []int{n.id}, cols: c, a: mat.DenseCopyOf(a), b: slices.Clone(b)})
}

// Apply returns φ of each element.
func (n Node) Apply(f Activation) Node {
	if !n.valid() {
		return n
	}
	if f == nil {
		return n.fail("Apply of an Activation that is nil")
	}
	n.g.groups = append(n.g.groups, group{f: f, arg: n.id})
	return n.add(node{op: opApply, args: []int{n.id}, cols: n.Width(), group: len(n.g.groups) - 1})
}

// Add returns the sum of n and another node with as many columns.
func (n Node) Add(o Node) Node { return n.both(opAdd, "Add", o) }

// Mul returns the elementwise product of n and another node with as many columns.
func (n Node) Mul(o Node) Node { return n.both(opMul, "Mul", o) }

func (n Node) both(op op, name string, o Node) Node {
	if !n.valid(o) {
		return n
	}
	if n.Width() != o.Width() {
		return n.fail("%s of %d and %d columns", name, n.Width(), o.Width())
	}
	return n.add(node{op: op, args: []int{n.id, o.id}, cols: n.Width()})
}

// Columns returns the columns from up to, not including, to.
func (n Node) Columns(from, to int) Node {
	if !n.valid() {
		return n
	}
	if from < 0 || to <= from || to > n.Width() {
		return n.fail("Columns %d to %d of %d", from, to, n.Width())
	}
	return n.add(node{op: opColumns, args: []int{n.id}, cols: to - from, from: from})
}

// Concat returns the columns of n followed by the columns of the others.
func (n Node) Concat(others ...Node) Node {
	if !n.valid(others...) {
		return n
	}
	v := node{op: opConcat, args: []int{n.id}, cols: n.Width()}
	for _, o := range others {
		v.args = append(v.args, o.id)
		v.cols += o.Width()
	}
	return n.add(v)
}

// Map returns a fixed function φ of each row of n, with the given number of columns. eval writes
// φ(x_i) to the rows of dst (m×width) for the rows of x. vjp adds Σ_k bar_ik ∂φ_k(x_i)/∂x_i to dx,
// for bar m×width. Several goroutines may call both.
//
// φ is a feature of inputs: n must not depend on weights, and Along does not differentiate it.
// Func.Network returns an error otherwise.
func (n Node) Map(width int, eval func(dst, x *mat.Dense), vjp func(dx, x, bar *mat.Dense)) Node {
	if !n.valid() {
		return n
	}
	if width < 1 {
		return n.fail("Map to %d columns, want at least 1", width)
	}
	if eval == nil || vjp == nil {
		return n.fail("Map of a function that is nil")
	}
	return n.add(node{op: opMap, args: []int{n.id}, cols: width, eval: eval, vjp: vjp})
}

// Along returns the derivative of n with respect to x along a direction, which has a column for each
// column of x,
//
//	Σ_j direction_j ∂n/∂x_j .
//
// Quantities that do not depend on x are constant. With a node of ones as direction and x one input,
// it is a partial derivative.
func (n Node) Along(x, direction Node) Node {
	if !n.valid(x, direction) {
		return n
	}
	if x.Width() != direction.Width() {
		return n.fail("Along %d columns of a node of %d", direction.Width(), x.Width())
	}
	t := tangents{g: n.g, known: map[int]int{x.id: direction.id}}
	id := t.of(n.id)
	if !n.valid() {
		return n
	}
	if id == zero {
		id = n.g.append(node{op: opConst, cols: n.Width(), b: make([]float64, n.Width())})
	}
	return Node{n.g, id}
}
