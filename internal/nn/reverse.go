package nn

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// reverse propagates the adjoints in ws.abar and ws.dbar, with respect to a[l] and
// delta[l], back through the backward and the forward pass. It adds the gradient with
// respect to the inputs to dx and with respect to the parameters to dw; either may be
// nil. It overwrites the adjoints.
func (t *Tape) reverse(ws *workspace, dx *mat.Dense, dw *params) {
	depth := len(t.hidden)
	for l, h := range t.hidden {
		resize(&ws.curve, t.m, h)
		curve, slope := flat(&ws.curve), flat(&t.slope[l])
		t.activation.curve(curve, flat(&t.z[l]), flat(&t.a[l+1]), slope)
		resize(&ws.tmp, t.m, h)
		gbar, g, dbar := flat(&ws.tmp), flat(&t.g[l]), flat(&ws.dbar[l])
		for i, d := range dbar {
			gbar[i] = d * slope[i]
			dbar[i] = d * g[i] * curve[i] // the adjoint of z[l] replaces the adjoint of delta[l]
		}
		if l == depth-1 {
			if dw != nil {
				addColumnSums(dw.v, &ws.tmp)
			}
			break
		}
		linalg.Mul(&ws.dbar[l+1], 1, linalg.N, &ws.tmp, linalg.N, &t.w[l+1], 1)
		if dw != nil {
			linalg.Mul(&dw.w[l+1], 1, linalg.T, &ws.tmp, linalg.N, &t.delta[l+1], 1)
		}
	}
	t.descend(ws, dx, dw)
}

// descend is the second half of reverse: it propagates the adjoints of a[l] in ws.abar
// and of z[l] in ws.dbar back through the forward pass.
func (t *Tape) descend(ws *workspace, dx *mat.Dense, dw *params) {
	depth := len(t.hidden)
	for l := depth - 1; l >= 0; l-- {
		if l < depth-1 {
			linalg.Mul(&ws.abar[l+1], 1, linalg.N, &ws.dbar[l+1], linalg.T, &t.w[l+1], 1)
		}
		zbar, slope := flat(&ws.dbar[l]), flat(&t.slope[l])
		for i, a := range flat(&ws.abar[l+1]) {
			zbar[i] += a * slope[i]
		}
		if dw != nil {
			linalg.Mul(&dw.w[l], 1, linalg.T, &t.a[l], linalg.N, &ws.dbar[l], 1)
			addColumnSums(dw.b[l], &ws.dbar[l])
		}
	}
	if dx == nil {
		return
	}
	for i := range t.m {
		linalg.Axpy(1, ws.abar[0].RawRowView(i), dx.RawRowView(i))
	}
	if depth > 0 {
		linalg.Mul(dx, 1, linalg.N, &ws.dbar[0], linalg.T, &t.w[0], 1)
	}
}

// HiddenVJP differentiates Σ_ij abar_ij a_D(x_i)_j, a function of the last hidden
// layer. It adds the gradient with respect to the inputs to dx (m×d) and with respect
// to the parameters to dw; either may be nil. abar is m×h_D. It costs O(mp).
func (t *Tape) HiddenVJP(dw []float64, dx, abar *mat.Dense) {
	last := len(t.hidden)
	_, width := t.a[last].Dims()
	t.checkGrads(dw, dx)
	checkDims("abar", abar, t.m, width)
	if t.m == 0 {
		return
	}
	ws := grab()
	defer ws.release()
	ws.adjoints(t)
	for l := range t.hidden {
		ws.abar[l].Zero()
		ws.dbar[l].Zero()
	}
	ws.abar[last].Copy(abar)
	t.descend(ws, dx, t.cutGrad(ws, dw))
}

// JVPInputGrad adds to dx (m×d) the gradient ∂(J(x_i)·dir)/∂x_i for every row,
// in O(mp): the gradient of the linearised function x ↦ J(x)·dir.
func (t *Tape) JVPInputGrad(dx *mat.Dense, dir []float64) {
	checkDims("dx", dx, t.m, t.in)
	checkLen("dir", len(dir), len(t.buf))
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		u := mat.NewDense(t.m, len(dir), nil)
		repeat(u, dir)
		t.custom.TangentGrad(nil, dx, u)
		return
	}
	ws := grab()
	defer ws.release()
	ws.adjoints(t)
	ws.dir.cut(t.in, t.hidden, dir)
	for l := range t.hidden {
		linalg.Mul(&ws.abar[l], 1, linalg.N, &t.delta[l], linalg.T, &ws.dir.w[l], 0)
		affine(&ws.dbar[l], &t.a[l], &ws.dir.w[l], ws.dir.b[l])
	}
	repeat(&ws.abar[len(t.hidden)], ws.dir.v)
	t.reverse(ws, dx, nil)
}

// TangentGrad adds the gradient of Σ_i J(x_i)·u_i, with u_i row i of u (m×p). It adds the gradient with respect
// to the inputs to dx (m×d). With respect to the parameters the gradient is Σ_i H(x_i) u_i with H = ∂²f/∂w²,
// and is added to dw. Either may be nil. TangentGrad costs O(mp).
func (t *Tape) TangentGrad(dw []float64, dx, u *mat.Dense) {
	t.checkGrads(dw, dx)
	checkDims("u", u, t.m, len(t.buf))
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		t.custom.TangentGrad(dw, dx, u)
		return
	}
	ws := grab()
	defer ws.release()
	ws.adjoints(t)
	for i := range t.m {
		ws.dir.cut(t.in, t.hidden, u.RawRowView(i))
		for l := range t.hidden {
			linalg.MulVec(ws.abar[l].RawRowView(i), 1, linalg.N, &ws.dir.w[l], t.delta[l].RawRowView(i), 0)
			dbar := ws.dbar[l].RawRowView(i)
			copy(dbar, ws.dir.b[l])
			linalg.MulVec(dbar, 1, linalg.T, &ws.dir.w[l], t.a[l].RawRowView(i), 1)
		}
		copy(ws.abar[len(t.hidden)].RawRowView(i), ws.dir.v)
	}
	t.reverse(ws, dx, t.cutGrad(ws, dw))
}

// checkGrads panics unless dw and dx have the sizes of gradients with respect to the parameters and
// the inputs, or are nil.
func (t *Tape) checkGrads(dw []float64, dx *mat.Dense) {
	if dw != nil {
		checkLen("dw", len(dw), len(t.buf))
	}
	if dx != nil {
		checkDims("dx", dx, t.m, t.in)
	}
}

// cutGrad returns views of dw by layer in ws.dir, or nil for nil.
func (t *Tape) cutGrad(ws *workspace, dw []float64) *params {
	if dw == nil {
		return nil
	}
	ws.dir.cut(t.in, t.hidden, dw)
	return &ws.dir
}
