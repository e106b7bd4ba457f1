package nn

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Tape stores the forward and backward pass of a network for the m rows of a batch. It
// owns copies of the parameters and the inputs. The zero value is ready for Record.
// Methods other than Record, Transpose and Return only read the tape and may run
// concurrently.
type Tape struct {
	m          int
	in         int
	hidden     []int
	activation Activation

	buf    []float64 // the parameters
	params           // the parameters by layer

	// Hidden layer l, counted from 0, takes a[l] to a[l+1] = φ(z[l]).
	a, z  []mat.Dense
	slope []mat.Dense // φ′(z)
	g     []mat.Dense // ∂f/∂a[l+1]
	delta []mat.Dense // ∂f/∂z = g∘φ′(z)
	value []float64

	aT, deltaT transposes // set by Transpose, otherwise empty

	custom *customTape // of a Custom network, which has none of the layers
}

// transposes has the transposes of matrices, or none.
type transposes []*mat.Dense

func (ts transposes) at(l int) *mat.Dense {
	if len(ts) == 0 {
		return nil
	}
	return ts[l]
}

// Transpose makes Kernel(·, s, t) and KernelVJP(·, s, t, ·) faster for s of few rows.
// Call it right after Record, before t is shared.
func (t *Tape) Transpose() {
	t.aT, t.deltaT = nil, nil
	if t.custom != nil {
		return
	}
	for l := range t.a {
		t.aT = append(t.aT, mat.DenseCopyOf(t.a[l].T()))
	}
	for l := range t.delta {
		t.deltaT = append(t.deltaT, mat.DenseCopyOf(t.delta[l].T()))
	}
}

var tapes = sync.Pool{New: func() any { return new(Tape) }}

// BorrowTape returns a tape for Record, until Return.
func BorrowTape() *Tape { return tapes.Get().(*Tape) }

// Return ends the use of t and of the results of its methods.
func (t *Tape) Return() {
	t.custom = nil
	tapes.Put(t)
}

// Record returns the tape of the network with parameters w at the rows of x
// (m×d).
func (n *Network) Record(w []float64, x *mat.Dense) *Tape {
	t := new(Tape)
	t.Record(n, w, x)
	return t
}

// Record overwrites t with the passes of n with parameters w at the rows of x,
// in O(mp). It reuses t's memory.
func (t *Tape) Record(n *Network, w []float64, x *mat.Dense) {
	t.m = batch(n.In, x)
	checkLen("w", len(w), n.NumParams())
	t.in, t.activation = n.In, n.Activation
	t.hidden = append(t.hidden[:0], n.Hidden...)
	t.buf = append(t.buf[:0], w...)
	if t.custom = nil; n.Custom != nil {
		t.recordCustom(n.Custom, w, x)
		return
	}
	t.cut(t.in, t.hidden, t.buf)

	d := len(t.hidden)
	t.a, t.z, t.slope = resizeSlice(t.a, d+1), resizeSlice(t.z, d), resizeSlice(t.slope, d)
	t.g, t.delta = resizeSlice(t.g, d), resizeSlice(t.delta, d)
	t.value = resizeSlice(t.value, t.m)
	t.aT, t.deltaT = nil, nil
	if t.m == 0 {
		return
	}
	resize(&t.a[0], t.m, t.in)
	t.a[0].Copy(x)
	for l, h := range t.hidden {
		resize(&t.z[l], t.m, h)
		resize(&t.a[l+1], t.m, h)
		resize(&t.slope[l], t.m, h)
		affine(&t.z[l], &t.a[l], &t.w[l], t.b[l])
		t.activation.apply(flat(&t.a[l+1]), flat(&t.slope[l]), flat(&t.z[l]))
	}
	t.head(t.value, &t.a[d])

	for l := d - 1; l >= 0; l-- {
		resize(&t.g[l], t.m, t.hidden[l])
		resize(&t.delta[l], t.m, t.hidden[l])
		if l == d-1 {
			repeat(&t.g[l], t.v)
		} else {
			linalg.Mul(&t.g[l], 1, linalg.N, &t.delta[l+1], linalg.T, &t.w[l+1], 0)
		}
		delta, slope := flat(&t.delta[l]), flat(&t.slope[l])
		for i, g := range flat(&t.g[l]) {
			delta[i] = g * slope[i]
		}
	}
}

// flat returns the data of a matrix with contiguous rows.
func flat(m *mat.Dense) []float64 { return m.RawMatrix().Data }

// Len returns m, the number of rows.
func (t *Tape) Len() int { return t.m }

// NumParams returns p, the number of parameters of the recorded network.
func (t *Tape) NumParams() int { return len(t.buf) }

// Value returns f at the m rows. It must not be changed, and Record overwrites
// it.
func (t *Tape) Value() []float64 { return t.value }

// InputGrad writes ∂f/∂x, m×d.
func (t *Tape) InputGrad(dx *mat.Dense) {
	checkDims("dx", dx, t.m, t.in)
	switch {
	case t.m == 0:
	case t.custom != nil:
		t.custom.InputGrad(dx)
	case len(t.hidden) == 0:
		repeat(dx, t.v)
	default:
		linalg.Mul(dx, 1, linalg.N, &t.delta[0], linalg.T, &t.w[0], 0)
	}
}

// VJP adds Σ_i fbar_i J(x_i) to dw, in O(mp).
func (t *Tape) VJP(dw, fbar []float64) {
	checkLen("dw", len(dw), len(t.buf))
	checkLen("fbar", len(fbar), t.m)
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		t.custom.VJP(dw, fbar)
		return
	}
	ws := grab()
	defer ws.release()
	ws.dir.cut(t.in, t.hidden, dw)
	for l, h := range t.hidden {
		resize(&ws.tmp, t.m, h)
		tmp, delta := flat(&ws.tmp), flat(&t.delta[l])
		for i, f := range fbar {
			row := tmp[i*h : (i+1)*h]
			for j, d := range delta[i*h : (i+1)*h] {
				row[j] = f * d
			}
		}
		linalg.Mul(&ws.dir.w[l], 1, linalg.T, &t.a[l], linalg.N, &ws.tmp, 1)
		addColumnSums(ws.dir.b[l], &ws.tmp)
	}
	linalg.MulVec(ws.dir.v, 1, linalg.T, &t.a[len(t.hidden)], fbar, 1)
	for _, f := range fbar {
		ws.dir.c[0] += f
	}
}

// JVP writes J(x_i)·dir for every row, in O(mp).
func (t *Tape) JVP(out, dir []float64) {
	checkLen("out", len(out), t.m)
	checkLen("dir", len(dir), len(t.buf))
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		t.custom.JVP(out, dir)
		return
	}
	ws := grab()
	defer ws.release()
	ws.dir.cut(t.in, t.hidden, dir)
	ws.dir.head(out, &t.a[len(t.hidden)])
	for l, h := range t.hidden {
		resize(&ws.tmp, t.m, h)
		affine(&ws.tmp, &t.a[l], &ws.dir.w[l], ws.dir.b[l])
		tmp, delta := flat(&ws.tmp), flat(&t.delta[l])
		for i := range out {
			out[i] += linalg.Dot(tmp[i*h:(i+1)*h], delta[i*h:(i+1)*h])
		}
	}
}

// Jacobian writes J, m×p, with a row ∂f(x_i)/∂w for each point.
func (t *Tape) Jacobian(dst *mat.Dense) {
	checkDims("dst", dst, t.m, len(t.buf))
	if t.custom != nil && t.m > 0 {
		dst.Copy(t.custom.rows(t))
		return
	}
	for i := range t.m {
		row := dst.RawRowView(i)
		for l, h := range t.hidden {
			delta := flat(&t.delta[l])[i*h : (i+1)*h]
			for _, a := range t.a[l].RawRowView(i) {
				for j, d := range delta {
					row[j] = a * d
				}
				row = row[h:]
			}
			row = row[copy(row, delta):]
		}
		k := copy(row, t.a[len(t.hidden)].RawRowView(i))
		row[k] = 1
	}
}

// NewJacobian returns J in new memory.
func (t *Tape) NewJacobian() *mat.Dense {
	j := mat.NewDense(t.m, len(t.buf), nil)
	t.Jacobian(j)
	return j
}

// same panics unless s and t record networks of the same shape.
func same(s, t *Tape) {
	if (s.custom != nil || t.custom != nil) && s.m*t.m > 0 {
		if s.custom == nil || t.custom == nil || len(s.buf) != len(t.buf) {
			panic("nn: tapes of different networks")
		}
		return
	}
	if s.in != t.in || s.activation != t.activation || !slices.Equal(s.hidden, t.hidden) {
		panic("nn: tapes of different networks")
	}
}

// Layer returns the factors of the derivatives of layer l, counted from 0: its inputs
// a_l (m×h_l) and δ_{l+1} = ∂f/∂z (m×h_{l+1}), so that ∂f/∂W is a_lᵀδ and ∂f/∂b is δ.
// For the output layer l = D, δ is nil and represents ones. The matrices must not be
// changed.
func (t *Tape) Layer(l int) (a, delta *mat.Dense) {
	if l == len(t.hidden) {
		return &t.a[l], nil
	}
	return &t.a[l], &t.delta[l]
}
