package nn

import (
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Custom is a network that is not fully connected. Package surrogate/network describes its methods.
type Custom interface {
	NumParams() int
	Linear() int
	Init(mean float64, rng *rand.Rand) []float64
	Record(w []float64, x *mat.Dense) Recorded
}

// Recorded is the tape of a Custom network.
type Recorded interface {
	Value() []float64
	Jacobian(dst *mat.Dense)
	JVP(dst, u []float64)
	VJP(dw, bar []float64)
	InputGrad(dx *mat.Dense)
	TangentGrad(dw []float64, dx, u *mat.Dense)
}

// customTape is the tape of a Custom network with its Jacobian, which kernels share. The Jacobian is
// computed when it is first needed.
type customTape struct {
	Recorded
	once sync.Once
	j    *mat.Dense
}

// recordCustom is Record of a Custom network.
func (t *Tape) recordCustom(c Custom, w []float64, x *mat.Dense) {
	t.custom = &customTape{Recorded: c.Record(w, x)}
	checkLen("value", len(t.custom.Value()), t.m)
	t.value = append(t.value[:0], t.custom.Value()...)
}

// rows returns the Jacobian, which must not be changed.
func (c *customTape) rows(t *Tape) *mat.Dense {
	c.once.Do(func() {
		c.j = mat.NewDense(t.m, len(t.buf), nil)
		c.Jacobian(c.j)
	})
	return c.j
}

// customVJP adds the gradient of Σ_ij kbar_ij Θ(x_i, y_j) with respect to the rows x_i of s.
func customVJP(dx *mat.Dense, s, t *Tape, kbar *mat.Dense) {
	j := t.custom.rows(t)
	u := mat.NewDense(s.m, len(s.buf), nil)
	linalg.Mul(u, 1, linalg.N, kbar, linalg.N, j, 0)
	s.custom.TangentGrad(nil, dx, u)
}

// scaledRows returns the Jacobian with row i multiplied by 2s_i.
func (t *Tape) scaledRows(s []float64) *mat.Dense {
	u := mat.DenseCopyOf(t.custom.rows(t))
	for i, v := range s {
		scaleTo(u, 2*v, u, i)
	}
	return u
}

// OutputFeatures writes s times the derivatives of f with respect to its last k parameters to dst (m×k). These
// are the k parameters of the output layer. In a fully connected network the result is s(a_D, 1). It does not
// depend on these parameters.
func (t *Tape) OutputFeatures(dst *mat.Dense, s float64) {
	_, k := dst.Dims()
	for i := range t.m {
		row := dst.RawRowView(i)
		var src []float64
		if t.custom != nil {
			src = t.custom.rows(t).RawRowView(i)[len(t.buf)-k:]
		} else {
			src = t.a[len(t.hidden)].RawRowView(i)
			row[k-1] = s
		}
		for j, v := range src {
			row[j] = s * v
		}
	}
}

// OutputVJP adds the gradient of Σ_ij bar_ij φ_ij, with φ the matrix of OutputFeatures for s = 1 and
// bar m×k, to dx (m×d) and dw; either may be nil. It costs O(mp).
func (t *Tape) OutputVJP(dw []float64, dx, bar *mat.Dense) {
	if t.m == 0 {
		return
	}
	_, k := bar.Dims()
	if t.custom == nil {
		t.HiddenVJP(dw, dx, bar.Slice(0, t.m, 0, k-1).(*mat.Dense))
		return
	}
	u := mat.NewDense(t.m, len(t.buf), nil)
	u.Slice(0, t.m, len(t.buf)-k, len(t.buf)).(*mat.Dense).Copy(bar)
	t.custom.TangentGrad(dw, dx, u)
}
