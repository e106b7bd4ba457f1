package prior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// scaled is variance·inner.
type scaled struct {
	inner    Kernel
	variance Param
}

// Scale multiplies k by a learned output variance with initial value 1. Its
// hyperparameter precedes the hyperparameters of k.
func Scale(k Kernel) Kernel { return scaled{k, varianceParam()} }

// ScaleBy multiplies k by a fixed number. It panics unless the number is positive and finite.
func ScaleBy(variance float64, k Kernel) Kernel {
	if !(variance > 0) || math.IsInf(variance, 1) {
		panic(fmt.Sprintf("prior: output variance %v, want a positive finite number", variance))
	}
	p := varianceParam()
	p.Value, p.Fixed = variance, true
	return scaled{k, p}
}

func (k scaled) Dim() int { return k.inner.Dim() }

func (k scaled) Gram(dst *mat.SymDense, x *mat.Dense) {
	k.inner.Gram(dst, x)
	for i := range dst.SymmetricDim() {
		floats.Scale(k.variance.Value, upper(dst, i))
	}
}

// scaledTape stores the Gram matrix.
type scaledTape struct {
	inner    tape
	variance float64
	values   []float64 // the upper triangle
	dinner   []float64

	matrix *mat.SymDense // of the last gram or pull
	terms  []float64     // of the rows, in the derivative with respect to the variance
}

func (k scaled) tape(x *mat.Dense) tape {
	n, _ := x.Dims()
	return &scaledTape{inner: newTape(k.inner, x), values: make([]float64, n*(n+1)/2), dinner: make([]float64, len(k.inner.Params())), terms: make([]float64, n)}
}

func (t *scaledTape) gram(dst *mat.SymDense, theta []float64) {
	t.variance = theta[0]
	t.inner.gram(dst, theta[1:])
	t.matrix = dst
	eachRow(len(t.terms), t, (*scaledTape).gramRow)
}

func (t *scaledTape) gramRow(i int) {
	row := upper(t.matrix, i)
	floats.Scale(t.variance, row)
	copy(t.values[triangular(len(t.terms), i):], row)
}

func (t *scaledTape) pullRow(i int) {
	row, at := upper(t.matrix, i), triangular(len(t.terms), i)
	t.terms[i] = 2*floats.Dot(row, t.values[at:at+len(row)]) - row[0]*t.values[at]
}

func (t *scaledTape) pull(dtheta []float64, kbar *mat.SymDense) {
	var sum float64
	t.matrix = kbar
	eachRow(len(t.terms), t, (*scaledTape).pullRow)
	for _, v := range t.terms {
		sum += v
	}
	dtheta[0] += sum
	clear(t.dinner)
	t.inner.pull(t.dinner, kbar)
	floats.AddScaled(dtheta[1:], t.variance, t.dinner)
}

func (k scaled) Cross(dst, x, y *mat.Dense) {
	k.inner.Cross(dst, x, y)
	for i := range dst.RawMatrix().Rows {
		floats.Scale(k.variance.Value, dst.RawRowView(i))
	}
}

func (k scaled) Diag(dst []float64, x *mat.Dense) {
	k.inner.Diag(dst, x)
	floats.Scale(k.variance.Value, dst)
}

func (k scaled) CrossVJP(dx, x, y, kbar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	inner := mem.Zeros(dx.Dims())
	k.inner.CrossVJP(inner, x, y, kbar)
	addScaled(dx, k.variance.Value, inner)
}

func (k scaled) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	mem := workspace.Borrow()
	defer mem.Return()
	inner := mem.Zeros(dx.Dims())
	k.inner.DiagVJP(inner, x, dbar)
	addScaled(dx, k.variance.Value, inner)
}

func (k scaled) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	paramVJP(k, dtheta, x, kbar)
}

func (k scaled) Params() []Param {
	return uniqueNames(append([]Param{k.variance}, k.inner.Params()...))
}

func (k scaled) WithParams(theta []float64) Kernel {
	checkLen("theta", len(theta), 1+len(k.inner.Params()))
	k.variance.Value = theta[0]
	k.inner = k.inner.WithParams(theta[1:])
	return k
}

func (k scaled) String() string {
	if !k.variance.Fixed && !carriesVariance(k.inner) {
		return factor(k.inner)
	}
	return factor(k)
}

func (k scaled) factor() string {
	if k.variance.Fixed {
		return formatNumber(k.variance.Value) + "*" + factor(k.inner)
	}
	return "variance*" + factor(k.inner)
}

func (k scaled) label() string { return label(k.inner) }

func zerosLike(m *mat.Dense) *mat.Dense {
	r, c := m.Dims()
	return mat.NewDense(r, c, nil)
}

// addScaled adds a·src to dst.
func addScaled(dst *mat.Dense, a float64, src *mat.Dense) {
	for i := range src.RawMatrix().Rows {
		floats.AddScaled(dst.RawRowView(i), a, src.RawRowView(i))
	}
}
