package gp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// BenchmarkFit measures cold fits to 990 observations, and warm fits to 1000 from the state of the cold
// one. It reports the log marginal likelihood and the log density of held-out values.
func BenchmarkFit(b *testing.B) {
	for _, f := range functions {
		d, uniform, near := f.observed(1000)
		for seed := range uint64(3) {
			part := d
			part.X, part.Y = mat.DenseCopyOf(d.X.Slice(0, 990, 0, f.inputs)), d.Y[:990]
			var state surrogate.State
			for _, c := range []struct {
				name string
				data surrogate.Dataset
			}{{"cold", part}, {"warm", d}} {
				b.Run(fmt.Sprintf("%s/seed=%d/%s", f.name, seed, c.name), func(b *testing.B) {
					for b.Loop() {
						p, err := gp.Model{}.FitFrom(b.Context(), state, c.data, random.New(seed, "gp", 0))
						require.NoError(b, err)
						b.ReportMetric(p.(surrogate.Evidence).LogMarginalLikelihood(), "nats")
						for _, held := range []struct {
							name string
							data surrogate.Dataset
						}{{"uniform", uniform}, {"near", near}} {
							density, _, _ := score(p, held.data)
							b.ReportMetric(density, held.name+"-density")
						}
						if c.name == "cold" {
							state = p.(surrogate.Stater).State()
						}
					}
				})
			}
		}
	}
}
