package main

import "math"

// op is an operation on lanes of 64 bits.
type op int

const (
	opInput  op = iota
	opConst     // bits
	opAdd       // a + b
	opSub       // a - b
	opMul       // a·b
	opDiv       // a/b
	opSqrt      // √a
	opFMA       // a·b + c, rounded once
	opFNMA      // c - a·b, rounded once
	opMin       // a < b ? a : b, so b if either is NaN
	opMax       // a > b ? a : b, so b if either is NaN
	opAnd       // a & b on the bits
	opOr        // a | b
	opXor       // a ^ b
	opAddInt    // a + b on the bits
	opShr       // a >> k on the bits
	opShl       // a << k on the bits
	opScale     // a·2ⁿ, rounded once; b is n and c is n + magic
	opLess      // mask a < b
	opEqual     // mask a == b
	opBeyond    // mask !(a ≤ b), true for NaN
	opSelect    // a (a mask) ? b : c
)

// node is the result of an operation.
type node struct {
	op    op
	args  []*node
	bits  uint64 // bits of an opConst
	shift uint   // shift of an opShr or opShl
	index int    // index in program.nodes
}

func (n *node) isConst() bool { return n.op == opConst }
func (n *node) isMask() bool  { return n.op == opLess || n.op == opEqual || n.op == opBeyond }

// program is straight-line code from one input to one or two outputs.
type program struct {
	name   string
	nodes  []*node // in order of evaluation, constants left out
	consts map[uint64]*node
	x      *node
	outs   []*node
}

func newProgram(name string) *program {
	p := &program{name: name, consts: map[uint64]*node{}}
	p.x = p.emit(opInput)
	return p
}

func (p *program) emit(o op, args ...*node) *node {
	n := &node{op: o, args: args, index: len(p.nodes)}
	p.nodes = append(p.nodes, n)
	return n
}

func (p *program) word(bits uint64) *node {
	n, ok := p.consts[bits]
	if !ok {
		n = &node{op: opConst, bits: bits}
		p.consts[bits] = n
	}
	return n
}

func (p *program) c(v float64) *node { return p.word(math.Float64bits(v)) }

func (p *program) add(a, b *node) *node        { return p.emit(opAdd, a, b) }
func (p *program) sub(a, b *node) *node        { return p.emit(opSub, a, b) }
func (p *program) mul(a, b *node) *node        { return p.emit(opMul, a, b) }
func (p *program) div(a, b *node) *node        { return p.emit(opDiv, a, b) }
func (p *program) sqrt(a *node) *node          { return p.emit(opSqrt, a) }
func (p *program) fma(a, b, c *node) *node     { return p.emit(opFMA, a, b, c) }
func (p *program) fnma(a, b, c *node) *node    { return p.emit(opFNMA, a, b, c) }
func (p *program) min(a, b *node) *node        { return p.emit(opMin, a, b) }
func (p *program) max(a, b *node) *node        { return p.emit(opMax, a, b) }
func (p *program) and(a, b *node) *node        { return p.emit(opAnd, a, b) }
func (p *program) or(a, b *node) *node         { return p.emit(opOr, a, b) }
func (p *program) xor(a, b *node) *node        { return p.emit(opXor, a, b) }
func (p *program) addInt(a, b *node) *node     { return p.emit(opAddInt, a, b) }
func (p *program) scale(a, n, t *node) *node   { return p.emit(opScale, a, n, t) }
func (p *program) less(a, b *node) *node       { return p.emit(opLess, a, b) }
func (p *program) equal(a, b *node) *node      { return p.emit(opEqual, a, b) }
func (p *program) beyond(a, b *node) *node     { return p.emit(opBeyond, a, b) }
func (p *program) pick(mask, a, b *node) *node { return p.emit(opSelect, mask, a, b) }

func (p *program) shl(a *node, k uint) *node {
	n := p.emit(opShl, a)
	n.shift = k
	return n
}

func (p *program) shr(a *node, k uint) *node {
	n := p.emit(opShr, a)
	n.shift = k
	return n
}

// prune removes nodes that no output uses, and numbers the others.
func (p *program) prune() {
	live := map[*node]bool{}
	var mark func(n *node)
	mark = func(n *node) {
		if !live[n] {
			live[n] = true
			for _, a := range n.args {
				mark(a)
			}
		}
	}
	for _, o := range p.outs {
		mark(o)
	}
	kept := p.nodes[:0]
	for _, n := range p.nodes {
		if live[n] {
			n.index = len(kept)
			kept = append(kept, n)
		}
	}
	p.nodes = kept
}

// lastUse returns for each node the index of the last node that uses it. Outputs have no
// last use: their entry is len(p.nodes).
func (p *program) lastUse() []int {
	last := make([]int, len(p.nodes))
	for i, n := range p.nodes {
		for _, a := range n.args {
			if !a.isConst() {
				last[a.index] = i
			}
		}
	}
	for _, o := range p.outs {
		last[o.index] = len(p.nodes)
	}
	return last
}
