package prior

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/parallel"
)

// tape evaluates the Gram matrix of a kernel and its reverse-mode product at fixed
// points, for a sequence of hyperparameter vectors. It holds memory, so every goroutine
// needs one.
type tape interface {
	// gram is Gram at the hyperparameters theta (not log θ).
	gram(dst *mat.SymDense, theta []float64)
	// pull is ParamVJP with the hyperparameters of the last gram.
	pull(dtheta []float64, kbar *mat.SymDense)
}

// taped is a kernel whose Gram matrix can store the terms of the gradient.
type taped interface {
	tape(x *mat.Dense) tape
}

// newTape returns a tape of any kernel at the rows of x, which must not change.
func newTape(k Kernel, x *mat.Dense) tape {
	if k, ok := k.(taped); ok {
		return k.tape(x)
	}
	return &plainTape{k, x}
}

// plainTape stores no terms and evaluates the kernel again.
type plainTape struct {
	k Kernel
	x *mat.Dense
}

func (t *plainTape) gram(dst *mat.SymDense, theta []float64) {
	t.k = t.k.WithParams(theta)
	t.k.Gram(dst, t.x)
}

func (t *plainTape) pull(dtheta []float64, kbar *mat.SymDense) { t.k.ParamVJP(dtheta, t.x, kbar) }

// valuesOnly returns a tape of k hyperparameters for sequences that change one hyperparameter after the other and
// call gram only. It uses t. A Gram matrix before a scale or a sum is evaluated again only if one of its
// hyperparameters has changed.
func valuesOnly(t tape, k int) tape {
	switch t := t.(type) {
	case *scaledTape:
		t.inner = valuesOnly(t.inner, k-1)
		return t
	case *sumTape:
		for i := range t.all {
			t.all[i] = valuesOnly(t.all[i], t.from[i+1]-t.from[i])
		}
		return t
	case *stationaryTape:
		t.flat = t.alphas == nil
	}
	return &memoTape{tape: t, theta: make([]float64, k)}
}

// memoTape stores the last Gram matrix.
type memoTape struct {
	tape
	theta []float64
	last  *mat.SymDense // nil before the first gram
}

func (t *memoTape) gram(dst *mat.SymDense, theta []float64) {
	if t.last == nil {
		t.last = newSym(dst.SymmetricDim())
	} else if slices.Equal(t.theta, theta) {
		dst.CopySym(t.last)
		return
	}
	t.tape.gram(dst, theta)
	copy(t.theta, theta)
	t.last.CopySym(dst)
}

// paramVJP implements ParamVJP with a tape.
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

// eachRow calls f for the rows 0 … n-1 of a triangle, on all processors from manyRows rows on. For
// fewer rows it allocates nothing.
func eachRow[T any](n int, of T, f func(of T, i int)) {
	if n < manyRows {
		for i := range n {
			f(of, i)
		}
		return
	}
	const parts = 16
	parallel.Each(parts, func(k int) {
		for i := k; i < n; i += parts {
			f(of, i)
		}
	})
}

// triangular returns the number of entries before row i of an upper triangle of size n, stored by rows.
func triangular(n, i int) int { return i * (2*n - i + 1) / 2 }

// newSym returns an n×n matrix, also for n = 0.
func newSym(n int) *mat.SymDense {
	if n == 0 {
		return &mat.SymDense{}
	}
	return mat.NewSymDense(n, nil)
}

// tapes has the tapes of several kernels with concatenated hyperparameters.
type tapes struct {
	all  []tape
	from []int // start of each kernel's hyperparameters, and the total length
}

func newTapes(ks []Kernel, x *mat.Dense) tapes {
	t := tapes{from: []int{0}}
	for i, k := range ks {
		t.all = append(t.all, newTape(k, x))
		t.from = append(t.from, t.from[i]+len(k.Params()))
	}
	return t
}

// of returns the part of theta for kernel i.
func (t *tapes) of(i int, theta []float64) []float64 { return theta[t.from[i]:t.from[i+1]] }
