package ibnn_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/ibnn"
)

// Outside the data the mean of a ReLU network continues linearly.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(6, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}), Y: []float64{-1, -0.6, -0.2, 0.2, 0.6, 1}}
	posterior, err := ibnn.Model{}.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	posterior.Predict(mean, variance, mat.NewDense(1, 1, []float64{1.2}))
	fmt.Printf("f(1.2) is about %.1f\n", mean[0])
	// Output: f(1.2) is about 1.4
}
