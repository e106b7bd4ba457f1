package prior

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// backward adds to dtheta the gradient of Σ_ij kbar_ij k(x_i, x_j) with respect
// to log θ.
type backward func(dtheta []float64, kbar *mat.SymDense)

// taped is a kernel that keeps, from its Gram matrix, what the gradient needs.
// The fit evaluates both at every step.
type taped interface {
	// tape is Gram and returns ParamVJP at the same points. It keeps no
	// reference to dst. What it returns needs what it took from mem.
	tape(mem *memory, dst *mat.SymDense, x *mat.Dense) backward
}

// memory is what the tapes of one step write to, and those of the next step
// again. A nil *memory is fresh every time.
type memory struct {
	parts [][]float64
	used  int
}

// reset takes everything back.
func (m *memory) reset() { m.used = 0 }

// take returns n numbers of any value.
func (m *memory) take(n int) []float64 {
	if m == nil {
		return make([]float64, n)
	}
	if m.used == len(m.parts) {
		m.parts = append(m.parts, nil)
	}
	part := &m.parts[m.used]
	m.used++
	if cap(*part) < n {
		*part = make([]float64, n)
	}
	return (*part)[:n]
}

// sym is take for a symmetric matrix.
func (m *memory) sym(n int) *mat.SymDense {
	if n == 0 {
		return &mat.SymDense{}
	}
	return mat.NewSymDense(n, m.take(n*n))
}

// gramTape is tape for any kernel.
func gramTape(k Kernel, mem *memory, dst *mat.SymDense, x *mat.Dense) backward {
	if t, ok := k.(taped); ok {
		return t.tape(mem, dst, x)
	}
	k.Gram(dst, x)
	return func(dtheta []float64, kbar *mat.SymDense) { k.ParamVJP(dtheta, x, kbar) }
}

// CrossTape is Cross followed by CrossVJP at the same points, as often as
// wanted: it writes k(x_i, y_j) to dst (n×m) and returns CrossVJP with x and y
// given. Stationary kernels, scaled or summed, evaluate their exponentials once
// for all of them; x and y must not change in between.
func CrossTape(k Kernel, dst, x, y *mat.Dense) (vjp func(dx, kbar *mat.Dense)) {
	switch k := k.(type) {
	case stationary:
		return k.crossTape(dst, x, y)
	case scaled:
		inner := CrossTape(k.inner, dst, x, y)
		for i := range dst.RawMatrix().Rows {
			floats.Scale(k.variance.Value, dst.RawRowView(i))
		}
		return func(dx, kbar *mat.Dense) {
			part := zerosLike(dx)
			inner(part, kbar)
			addScaled(dx, k.variance.Value, part)
		}
	case sum:
		vjps := []func(dx, kbar *mat.Dense){CrossTape(k.terms[0], dst, x, y)}
		part := zerosLike(dst)
		for _, t := range k.terms[1:] {
			vjps = append(vjps, CrossTape(t, part, x, y))
			addScaled(dst, 1, part)
		}
		return func(dx, kbar *mat.Dense) {
			for _, vjp := range vjps {
				vjp(dx, kbar)
			}
		}
	}
	k.Cross(dst, x, y)
	return func(dx, kbar *mat.Dense) { k.CrossVJP(dx, x, y, kbar) }
}
