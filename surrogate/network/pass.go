package network

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/workspace"
)

// pass is one evaluation of nodes at the rows of a record, forwards or backwards. It serves one
// goroutine.
type pass struct {
	*record
	val []*mat.Dense
	der [][][]float64
	new func(r, c int) *mat.Dense

	u  []float64  // direction for all rows
	us *mat.Dense // or a direction for each row

	bar  []*mat.Dense // adjoints of nodes
	dw   []float64    // gradients to add to, nil for none
	rows *mat.Dense   // gradient of each row with respect to the weights
	dx   *mat.Dense
}

// pass returns a pass that starts at the values of the record.
func (r *record) pass(mem *workspace.Memory) *pass {
	return &pass{record: r, val: slices.Clone(r.val), der: r.der, new: mem.Zeros}
}

// forward sets the values of nodes in order.
func (p *pass) forward(list []int) {
	for _, id := range list {
		if p.val[id] == nil {
			p.val[id] = p.evaluate(p.nodes[id])
		}
	}
}

func (p *pass) evaluate(n node) *mat.Dense {
	if n.op == opApply {
		return p.derivative(n.group, n.order)
	}
	out := p.new(p.m, n.cols)
	var a *mat.Dense
	if len(n.args) > 0 {
		a = p.val[n.args[0]]
	}
	switch n.op {
	case opConst:
		p.repeat(out, n.b)
	case opAffine:
		p.repeat(out, n.b)
		linalg.Mul(out, 1, linalg.N, a, linalg.N, n.a, 1)
	case opDense:
		p.dense(out, a, n)
	case opAdd:
		out.Add(a, p.val[n.args[1]])
	case opMul:
		out.MulElem(a, p.val[n.args[1]])
	case opColumns:
		for i := range p.m {
			copy(out.RawRowView(i), a.RawRowView(i)[n.from:])
		}
	case opConcat:
		for i := range p.m {
			row := out.RawRowView(i)
			for _, a := range n.args {
				row = row[copy(row, p.val[a].RawRowView(i)):]
			}
		}
	case opMap:
		n.eval(out, a)
	}
	return out
}

// repeat writes b, unless nil, to every row.
func (p *pass) repeat(out *mat.Dense, b []float64) {
	if b != nil {
		for i := range p.m {
			copy(out.RawRowView(i), b)
		}
	}
}

// derivative returns the derivative of the given order of an activation. The record computes, once,
// all orders that its tapes need for values, Jacobians and tangents.
func (p *pass) derivative(group, order int) *mat.Dense {
	g := p.groups[group]
	if p.der[group] == nil {
		p.der[group] = p.differentiate(group, p.orders[group], func(n int) []float64 { return make([]float64, n) })
	}
	_, cols := p.val[g.arg].Dims()
	d := new(mat.Dense)
	d.SetRawMatrix(blas64.General{Rows: p.m, Cols: cols, Stride: cols, Data: p.der[group][order]})
	return d
}

// differentiate returns the derivatives of an activation to the given order.
func (p *pass) differentiate(group, order int, floats func(n int) []float64) [][]float64 {
	z := flat(p.val[p.groups[group].arg])
	d := make([][]float64, order+1)
	for k := range d {
		d[k] = floats(len(z))
	}
	p.groups[group].f(d, z)
	return d
}

// higher adds to p the derivatives of one order more than forward needs, for a pass back through the
// tangent.
func (p *pass) higher() {
	p.der = slices.Clone(p.der)
	for k, d := range p.der {
		if d == nil {
			continue // not part of the network
		}
		p.der[k] = p.differentiate(k, p.orders[k]+1, func(n int) []float64 { return p.new(1, n).RawRowView(0) })
	}
}

// weights returns the matrix and the biases of a block in a vector of weights.
func (b block) weights(w []float64) (a *mat.Dense, bias []float64) {
	k := b.in * b.out
	w = w[b.at : b.at+b.size()]
	return mat.NewDense(b.in, b.out, w[:k]), w[k:]
}

// dense writes a·W + b, a·U + u, or the products of each row with its own direction.
func (p *pass) dense(out, a *mat.Dense, n node) {
	block, w := p.blocks[n.block], p.w
	if n.direction {
		w = p.u
	}
	if n.direction && p.us != nil {
		for i := range p.m {
			u, bias := block.weights(p.us.RawRowView(i))
			row := out.RawRowView(i)
			if n.bias {
				copy(row, bias)
			}
			linalg.MulVec(row, 1, linalg.T, u, a.RawRowView(i), 1)
		}
		return
	}
	matrix, bias := block.weights(w)
	if n.bias {
		p.repeat(out, bias)
	}
	linalg.Mul(out, 1, linalg.N, a, linalg.N, matrix, 1)
}

// adjoint returns the adjoint of a node, which starts at 0.
func (p *pass) adjoint(id int) *mat.Dense {
	if p.bar[id] == nil {
		p.bar[id] = p.new(p.m, p.nodes[id].cols)
	}
	return p.bar[id]
}

// wants reports whether the adjoint of a node enters a result.
func (p *pass) wants(id int) bool {
	n := p.nodes[id]
	return p.dx != nil && n.ofX || (p.dw != nil || p.rows != nil) && n.ofW
}

// back adds the adjoint of a node to the adjoints of its arguments and to the gradients.
func (p *pass) back(id int) {
	n, bar := p.nodes[id], p.bar[id]
	for k, a := range n.args {
		if !p.wants(a) {
			continue
		}
		to := p.adjoint(a)
		switch n.op {
		case opDense:
			p.denseBack(to, bar, n)
		case opAffine:
			linalg.Mul(to, 1, linalg.N, bar, linalg.T, n.a, 1)
		case opApply:
			addProduct(flat(to), flat(bar), p.der[n.group][n.order+1])
		case opAdd:
			to.Add(to, bar)
		case opMul:
			addProduct(flat(to), flat(bar), flat(p.val[n.args[1-k]]))
		case opColumns:
			for i := range p.m {
				linalg.Axpy(1, bar.RawRowView(i), to.RawRowView(i)[n.from:n.from+n.cols])
			}
		case opConcat:
			from := 0
			for _, before := range n.args[:k] {
				from += p.nodes[before].cols
			}
			for i := range p.m {
				linalg.Axpy(1, bar.RawRowView(i)[from:from+p.nodes[a].cols], to.RawRowView(i))
			}
		case opMap:
			n.vjp(to, p.val[a], bar)
		}
	}
	switch {
	case n.op == opInput && p.dx != nil:
		p.dx.Add(p.dx, bar)
	case n.op == opDense && !n.direction && (p.dw != nil || p.rows != nil):
		p.denseGrad(bar, n)
	}
}

// addProduct adds the elementwise product of a and b to dst.
func addProduct(dst, a, b []float64) {
	for i, v := range a {
		dst[i] += v * b[i]
	}
}

// denseBack adds bar·Wᵀ, or for a direction of each row its product with the row, to the adjoint of the argument.
func (p *pass) denseBack(to, bar *mat.Dense, n node) {
	block := p.blocks[n.block]
	if n.direction {
		for i := range p.m {
			u, _ := block.weights(p.us.RawRowView(i))
			linalg.MulVec(to.RawRowView(i), 1, linalg.N, u, bar.RawRowView(i), 1)
		}
		return
	}
	w, _ := block.weights(p.w)
	linalg.Mul(to, 1, linalg.N, bar, linalg.T, w, 1)
}

// denseGrad adds the gradient with respect to a block.
func (p *pass) denseGrad(bar *mat.Dense, n node) {
	block, a := p.blocks[n.block], p.val[n.args[0]]
	if p.rows != nil {
		for i := range p.m {
			row := p.rows.RawRowView(i)[block.at : block.at+block.size()]
			b := bar.RawRowView(i)
			for j, v := range a.RawRowView(i) {
				linalg.Axpy(v, b, row[j*block.out:(j+1)*block.out])
			}
			if n.bias {
				linalg.Axpy(1, b, row[block.in*block.out:])
			}
		}
		return
	}
	w, bias := block.weights(p.dw)
	linalg.Mul(w, 1, linalg.T, a, linalg.N, bar, 1)
	for i := range p.m {
		if n.bias {
			linalg.Axpy(1, bar.RawRowView(i), bias)
		}
	}
}
