package gp

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
)

// rbf is variance·exp(-½Σ((x_j-y_j)/lengthscale_j)²), written a second time so
// that these tests lean on nothing but the Kernel interface.
type rbf struct {
	variance    float64
	lengthscale []float64
}

func (k rbf) at(x, y []float64) float64 {
	var s float64
	for j, l := range k.lengthscale {
		s += (x[j] - y[j]) * (x[j] - y[j]) / (l * l)
	}
	return k.variance * math.Exp(-s/2)
}

func (k rbf) Dim() int { return len(k.lengthscale) }

func (k rbf) Gram(dst *mat.SymDense, x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		for j := i; j < n; j++ {
			dst.SetSym(i, j, k.at(x.RawRowView(i), x.RawRowView(j)))
		}
	}
}

func (k rbf) Cross(dst, x, y *mat.Dense) {
	dst.Apply(func(i, j int, _ float64) float64 { return k.at(x.RawRowView(i), y.RawRowView(j)) }, dst)
}

func (k rbf) Diag(dst []float64, _ *mat.Dense) {
	for i := range dst {
		dst[i] = k.variance
	}
}

func (k rbf) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m := kbar.Dims()
	for i := range n {
		g, a := dx.RawRowView(i), x.RawRowView(i)
		for j := range m {
			b := y.RawRowView(j)
			w := kbar.At(i, j) * k.at(a, b)
			for c, l := range k.lengthscale {
				g[c] += w * (b[c] - a[c]) / (l * l)
			}
		}
	}
}

func (k rbf) DiagVJP(*mat.Dense, *mat.Dense, []float64) {}

func (k rbf) ParamVJP([]float64, *mat.Dense, *mat.SymDense) { panic("not used") }
func (k rbf) Params() []prior.Param                         { return nil }
func (k rbf) WithParams([]float64) prior.Kernel             { panic("not used") }
func (k rbf) String() string                                { return "rbf" }
