package prior

import (
	"gonum.org/v1/gonum/mat"
)

// tape evaluates a kernel and its reverse-mode product at fixed points, under one
// vector of hyper-parameters after the other. It owns what it writes to: one per
// goroutine.
type tape interface {
	// gram is Gram under the hyper-parameters theta (not their logs).
	gram(dst *mat.SymDense, theta []float64)
	// pull is ParamVJP under the last of them.
	pull(dtheta []float64, kbar *mat.SymDense)
}

// taped is a kernel that keeps, from its Gram matrix, what the gradient needs.
type taped interface {
	tape(x *mat.Dense) tape
}

// newTape returns the tape of any kernel at the rows of x, which must not change.
func newTape(k Kernel, x *mat.Dense) tape {
	if k, ok := k.(taped); ok {
		return k.tape(x)
	}
	return &plainTape{k, x}
}

// plainTape keeps nothing.
type plainTape struct {
	k Kernel
	x *mat.Dense
}

func (t *plainTape) gram(dst *mat.SymDense, theta []float64) {
	t.k = t.k.WithParams(theta)
	t.k.Gram(dst, t.x)
}

func (t *plainTape) pull(dtheta []float64, kbar *mat.SymDense) { t.k.ParamVJP(dtheta, t.x, kbar) }

// paramVJP is ParamVJP by a tape.
func paramVJP(k Kernel, dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n, _ := x.Dims()
	params := k.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	t := newTape(k, x)
	t.gram(newSym(n), theta)
	t.pull(dtheta, kbar)
}

// newSym is an n×n matrix, also for n = 0.
func newSym(n int) *mat.SymDense {
	if n == 0 {
		return &mat.SymDense{}
	}
	return mat.NewSymDense(n, nil)
}

// tapes are those of several kernels, whose hyper-parameters stand one after the
// other.
type tapes struct {
	all  []tape
	from []int // where the hyper-parameters of each begin, and of all end
}

func newTapes(ks []Kernel, x *mat.Dense) tapes {
	t := tapes{from: []int{0}}
	for i, k := range ks {
		t.all = append(t.all, newTape(k, x))
		t.from = append(t.from, t.from[i]+len(k.Params()))
	}
	return t
}

// of returns the part of theta that belongs to kernel i.
func (t *tapes) of(i int, theta []float64) []float64 { return theta[t.from[i]:t.from[i+1]] }
