package mapnet

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
)

// Minibatch draws size observations with replacement, or returns all if there are at most
// size.
func Minibatch[T any](rng *rand.Rand, x *mat.Dense, y []T, size int) (*mat.Dense, []T) {
	n, d := x.Dims()
	if n <= size {
		return x, y
	}
	bx, by := mat.NewDense(size, d, nil), make([]T, size)
	for i := range by {
		k := rng.IntN(n)
		bx.SetRow(i, x.RawRowView(k))
		by[i] = y[k]
	}
	return bx, by
}

// Misfit returns scale·Σ_i -log N(y_i; f(x_i,w), σ²) over the rows recorded in t, and its
// derivative with respect to log σ². It adds the gradient with respect to the weights to dw.
func Misfit(dw []float64, t *nn.Tape, y []float64, noise, scale float64) (value, dnoise float64) {
	fbar, rr := make([]float64, len(y)), 0.0
	for i, f := range t.Value() {
		e := f - y[i]
		rr += e * e
		fbar[i] = scale * e / noise
	}
	t.VJP(dw, fbar)
	n := float64(len(y))
	return scale * 0.5 * (n*math.Log(2*math.Pi*noise) + rr/noise), scale * 0.5 * (n - rr/noise)
}
