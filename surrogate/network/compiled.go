package network

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
)

// compiled is the network of a graph. It is immutable.
type compiled struct {
	nodes   []node
	blocks  []block
	groups  []group
	params  int
	linear  int
	out     int
	tangent int   // J(x)·u, or zero
	value   []int // the nodes of out
	extra   []int // the other nodes of tangent
	orders  []int // highest derivative of each group for values, gradients of value and values of extra
}

func compile(g *graph, out int) (*compiled, error) {
	if !g.nodes[out].ofW {
		return nil, fmt.Errorf("network: the function has no weights")
	}
	c := &compiled{out: out}
	c.params, c.linear = g.layout(out)
	t := tangents{g: g, weights: true, known: map[int]int{}}
	c.tangent = t.of(out)
	if g.err != nil {
		return nil, g.err
	}
	c.value = g.needed(out, nil)
	c.extra = g.needed(c.tangent, c.value)
	c.nodes, c.blocks, c.groups = g.nodes, g.blocks, g.groups
	c.orders = make([]int, len(c.groups))
	for i, list := range [][]int{c.extra, c.value} {
		for _, id := range list {
			if n := c.nodes[id]; n.op == opApply {
				c.orders[n.group] = max(c.orders[n.group], n.order+i)
			}
		}
	}
	return c, nil
}

func (c *compiled) NumParams() int { return c.params }
func (c *compiled) Linear() int    { return c.linear }

func (c *compiled) Init(mean float64, rng *rand.Rand) []float64 {
	w := make([]float64, c.params)
	for _, b := range c.blocks {
		k := b.at + b.in*b.out
		nn.TruncatedNormal(w[b.at:k], b.in, rng)
		for i := range b.out {
			w[k+i] = b.sd * rng.NormFloat64()
		}
	}
	if n := c.nodes[c.out]; n.op == opDense && n.bias {
		w[c.blocks[n.block].at+c.blocks[n.block].in] = mean
	}
	return w
}

func (c *compiled) Record(w []float64, x *mat.Dense) Tape {
	shape.Len("w", len(w), c.params)
	m, _ := x.Dims()
	if m > 0 {
		shape.Points(x, c.nodes[0].cols)
	}
	r := &record{compiled: c, m: m, w: append([]float64(nil), w...), val: make([]*mat.Dense, len(c.nodes)), der: make([][][]float64, len(c.groups))}
	if m == 0 {
		return r
	}
	r.val[0] = mat.DenseCopyOf(x)
	p := pass{record: r, val: r.val, der: r.der, new: func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }}
	p.forward(c.value)
	return r
}

// record is the Tape of a compiled network.
type record struct {
	*compiled
	m   int
	w   []float64
	val []*mat.Dense  // values of the nodes in value
	der [][][]float64 // derivatives of the groups in value, by order, to the order that extra needs
}

func (r *record) Value() []float64 {
	if r.m == 0 {
		return nil
	}
	return flat(r.val[r.out])
}

func (r *record) Jacobian(dst *mat.Dense) {
	shape.Dims("dst", dst, r.m, r.params)
	if r.m == 0 {
		return
	}
	dst.Zero()
	r.reverse(r.out, nil, func(p *pass) { p.rows = dst })
}

func (r *record) VJP(dw, bar []float64) {
	shape.Len("dw", len(dw), r.params)
	shape.Len("bar", len(bar), r.m)
	if r.m > 0 {
		r.reverse(r.out, bar, func(p *pass) { p.dw = dw })
	}
}

func (r *record) InputGrad(dx *mat.Dense) {
	shape.Dims("dx", dx, r.m, r.nodes[0].cols)
	if r.m == 0 {
		return
	}
	dx.Zero()
	r.reverse(r.out, nil, func(p *pass) { p.dx = dx })
}

func (r *record) JVP(dst, u []float64) {
	shape.Len("dst", len(dst), r.m)
	shape.Len("u", len(u), r.params)
	if r.m == 0 {
		return
	}
	mem := workspace.Borrow()
	defer mem.Return()
	p := r.pass(mem)
	p.u = u
	p.forward(r.extra)
	copy(dst, flat(p.val[r.tangent]))
}

func (r *record) TangentGrad(dw []float64, dx, u *mat.Dense) {
	shape.Dims("u", u, r.m, r.params)
	if dw != nil {
		shape.Len("dw", len(dw), r.params)
	}
	if dx != nil {
		shape.Dims("dx", dx, r.m, r.nodes[0].cols)
	}
	if r.m > 0 {
		r.reverse(r.tangent, nil, func(p *pass) { p.dw, p.dx, p.us = dw, dx, u })
	}
}

// reverse runs a pass back from a node with the adjoint bar, or ones for nil. set selects the
// results.
func (r *record) reverse(from int, bar []float64, set func(p *pass)) {
	mem := workspace.Borrow()
	defer mem.Return()
	p := r.pass(mem)
	set(p)
	if from == r.tangent {
		p.forward(r.extra)
		p.higher()
	}
	p.bar = make([]*mat.Dense, len(r.nodes))
	start := p.adjoint(from)
	for i := range r.m {
		start.Set(i, 0, 1)
		if bar != nil {
			start.Set(i, 0, bar[i])
		}
	}
	for id := from; id >= 0; id-- {
		if p.bar[id] != nil {
			p.back(id)
		}
	}
}

func flat(m *mat.Dense) []float64 { return m.RawMatrix().Data }
