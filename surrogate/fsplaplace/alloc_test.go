//go:build !race

// The race detector clears pools at random.

package fsplaplace

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// A step of the published training allocates no memory, with all observations or with a
// batch.
func TestAdamAllocations(t *testing.T) {
	for _, n := range []int{100, adamBatch + 100} {
		p, w := untrained(2, 0.5, Model{Trainer: "adam", Context: 50}, 1)
		rng := random.New(1, "allocations", 0)
		p.data.X, p.data.Y = space.Sobol(n, 2, rng), make([]float64, n)
		a := p.newAdam(w)
		require.Zero(t, alloctest.PerRun(20, func() {
			if err := a.step(true, rng); err != nil {
				panic(err)
			}
		}), n)
	}
}

// A step on labels allocates no memory.
func TestLabelAdamAllocations(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, n := range []int{100, adamBatch + 100} {
			d := rings(n, classes)
			base, _ := untrained(2, 0.5, Model{Trainer: "adam", Context: 50}, 1)
			base.data.X, base.inputs = d.X, domain.ZScore(d.X)
			l := classify.Latents(classes)
			p := &labelProblem{problem: *base, prior: classify.Prior{Kernel: prior.Matern32(2), Means: make([]float64, l)}, y: d.Y}
			rng := random.New(1, "allocations", 0)
			var w []float64
			for range l {
				w = append(w, p.net.Init(rng)...)
			}
			a := p.newAdam(w)
			require.Zero(t, alloctest.PerRun(20, func() {
				if err := a.step(true, rng); err != nil {
					panic(err)
				}
			}), "%d of %d classes", n, classes)
		}
	}
}

// Predictions allocate no memory, with any factor.
func TestPosteriorAllocations(t *testing.T) {
	for _, factor := range []string{"ridge", "cholesky"} {
		post, err := Model{Factor: factor, Network: surrogate.Network{Hidden: []int{20, 20}}, Context: 50, Steps: 2}.Fit(t.Context(), wave(30), random.New(1, "fit", 0))
		require.NoError(t, err)
		x := space.Sobol(16, 1, random.New(1, "x", 0))
		mean, variance, cov := make([]float64, 16), make([]float64, 16), mat.NewSymDense(16, nil)
		dmean, dvariance := mat.NewDense(16, 1, nil), mat.NewDense(16, 1, nil)
		path := post.Paths(1, random.New(1, "paths", 0))[0]
		require.Zero(t, alloctest.PerRun(20, func() {
			post.Predict(mean, variance, x)
			post.PredictGrad(mean, variance, dmean, dvariance, x)
			post.Joint(mean, cov, x)
			post.JointVJP(dmean, mean, cov, x)
			path.Eval(mean, dmean, x)
		}), factor)
	}
}
