package gp_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil)}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	posterior, err := gp.Model{}.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	posterior.Predict(mean, variance, mat.NewDense(2, 1, []float64{0.25, 10}))
	fmt.Printf("f(0.25) is about %.1f, with sd %.1f\n", mean[0], math.Sqrt(variance[0]))
	fmt.Println("the variance is larger at 10:", variance[1] > 100*variance[0])
	// Output:
	// f(0.25) is about 1.0, with sd 0.0
	// the variance is larger at 10: true
}

// A prior that is known in advance: no hyperparameter is fitted.
func ExampleNew() {
	kernel, err := prior.Parse("2*rbf(lengthscale=0.5)", 1)
	if err != nil {
		log.Fatal(err)
	}
	d := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0}), Y: []float64{1}}
	posterior, err := gp.New(prior.Process{Kernel: kernel, Noise: 0.5}, d)
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	posterior.Predict(mean, variance, d.X)
	fmt.Printf("f(0) ~ N(%.2f, %.2f)\n", mean[0], variance[0])
	// Output: f(0) ~ N(0.80, 0.40)
}
