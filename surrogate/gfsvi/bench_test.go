package gfsvi

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate/internal/toy"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// The benchmark evaluates the objective and its gradient with the default settings and 50
// observations of 2 inputs.
func BenchmarkObjective(b *testing.B) {
	rng := random.New(1, "bench", 0)
	o := small(30, 30)
	o.gamma = 1e-6
	p := o.net.NumParams()
	v, grad := variational.NewLowRank(p, 100), variational.NewLowRank(p, 100)
	for i := range v.Vector {
		v.Vector[i] = 0.1 * rng.NormFloat64()
	}
	at := batch{x: space.Uniform(150, 2, rng), measure: 150, y: make([]float64, 50), weight: 1}
	for b.Loop() {
		if _, err := o.eval(v, at, grad); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	post, err := Model{Steps: 1}.Fit(b.Context(), toy.Wave(40), random.New(1, "fit", 0))
	if err != nil {
		b.Fatal(err)
	}
	x := mat.DenseCopyOf(space.Uniform(1024, 1, random.New(1, "x", 0)))
	mean, variance := make([]float64, 1024), make([]float64, 1024)
	for b.Loop() {
		post.Predict(mean, variance, x)
	}
}
