package svgp_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/svgp"
)

// Two thousand observations with twenty inducing points.
func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	d := surrogate.Dataset{X: mat.NewDense(2000, 1, nil), Y: make([]float64, 2000)}
	for i := range d.Y {
		x := rng.Float64()
		d.X.Set(i, 0, x)
		d.Y[i] = math.Sin(2*math.Pi*x) + 0.1*rng.NormFloat64()
	}
	posterior, err := svgp.Model{Inducing: 20}.Fit(context.Background(), d, rng)
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	posterior.Predict(mean, variance, mat.NewDense(1, 1, []float64{0.25}))
	fmt.Printf("f(0.25) is about %.1f, noise sd %.1f\n", mean[0], math.Sqrt(posterior.Noise()))
	// Output:
	// f(0.25) is about 1.0, noise sd 0.1
}
