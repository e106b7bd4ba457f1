package autodiff

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/gradcheck"
)

// The gradient of a function of all operations agrees with central differences.
func TestGradients(t *testing.T) {
	for _, net := range []Network{{Widths: []int{2, 3, 2}}, {Widths: []int{2, 4}, Relu: true}} {
		_, _, outputs := net.layer(len(net.Widths))
		require.Equal(t, 1, outputs)
		x := make([]float64, 20)
		for i := range x {
			x[i] = math.Sin(float64(7*i)) / 2
		}
		of := func(x []float64) Number {
			w := Variables(x)
			f, j := net.Jacobian(w, []float64{0.3, -0.7})
			g, k := net.Jacobian(w, []float64{-0.4, 0.9})
			require.InDelta(t, f.Value, net.Value(w, []float64{0.3, -0.7}).Value, 1e-15)
			gram := NewMatrix(2, 2, func(a, b int) Number {
				sum := Constant(0)
				if a == b {
					sum = w[0].Exp().Plus(Constant(0.2))
				}
				for i := range w {
					sum = sum.Plus([]Number{j[i], k[i]}[a].Times([]Number{j[i], k[i]}[b]))
				}
				return sum
			})
			unit := NewMatrix(2, 2, func(a, b int) Number { return Constant([]float64{1, 0.2, 0.2, 0.8}[2*a+b]) })
			values := gram.Eigenvalues()
			return Divergence([]Number{f, g}, gram, unit).
				Plus(NegLogNormal(0.3, f, w[1].Softplus())).
				Plus(values[0].Sqrt().Over(values[1].Log().Square().Plus(Constant(1))))
		}
		require.NoError(t, gradcheck.Gradient(func(x []float64) float64 { return of(x).Value }, x, of(x).Grad, 1e-7), "%v", net)

		f := func(x []float64) float64 { return net.Value(Variables(x), []float64{0.3, -0.7}).Value }
		_, j := net.Jacobian(Variables(x), []float64{0.3, -0.7})
		row := make([]float64, len(j))
		for i, g := range j {
			row[i] = g.Value
		}
		require.NoError(t, gradcheck.Gradient(f, x, row, 1e-8), "%v", net)
	}
}

func TestKernels(t *testing.T) {
	a, b, length := []float64{0, 1}, []float64{0.6, 0.2}, []float64{2, 0.5}
	r := math.Sqrt(0.09 + 2.56)
	require.InDelta(t, 1.5*math.Exp(-r*r/2), RBF(1.5, length)(a, b), 1e-15)
	require.InDelta(t, 1.5*(1+math.Sqrt(5)*r+5*r*r/3)*math.Exp(-math.Sqrt(5)*r), Matern52(1.5, length)(a, b), 1e-15)
}
