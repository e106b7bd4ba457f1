package fsplaplace

import (
	"fmt"
	"math"
	"testing"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// BenchmarkFit fits 100 observations of 6 inputs without a warm start.
func BenchmarkFit(b *testing.B) {
	const n, dim = 100, 6
	d := surrogate.Dataset{X: space.Sobol(n, dim, random.New(1, "x", 0)), Y: make([]float64, n)}
	for i := range dim {
		d.Lo, d.Hi = append(d.Lo, 0), append(d.Hi, 1)
		for r := range n {
			d.Y[r] += math.Sin(4*d.X.At(r, i) + float64(i))
		}
	}
	for _, m := range []Model{{Factor: "ridge"}, {Factor: "cholesky"}, {Factor: "lanczos", CovarianceContext: 1000}} {
		b.Run(fmt.Sprint(m.Factor), func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Fit(b.Context(), d, random.New(1, "fit", 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
