package surrogate_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Predictions in the user's units: inputs are temperatures of 300 to 400, outputs
// are yields of some hundred kilograms.
func Example() {
	d := surrogate.Dataset{
		X: mat.NewDense(5, 1, []float64{300, 320, 350, 380, 400}),
		Y: []float64{110, 190, 250, 220, 170},
	}
	model := surrogate.Scaled{Model: gp.Model{}}
	posterior, err := model.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	posterior.Predict(mean, variance, mat.NewDense(2, 1, []float64{355, 1000}))
	fmt.Println("the yield at 355 is between 200 and 300:", mean[0] > 200 && mean[0] < 300)
	fmt.Println("the variance is larger at 1000:", variance[1] > 10*variance[0])
	// Output:
	// the yield at 355 is between 200 and 300: true
	// the variance is larger at 1000: true
}

// The probability that a trial is feasible.
func ExampleClassifier() {
	d := surrogate.Labels{
		X: mat.NewDense(6, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}),
		Y: []int{0, 0, 0, 1, 1, 1}, Classes: 2,
	}
	var model surrogate.Classifier = gp.Model{}
	posterior, err := model.FitLabels(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	prob := mat.NewDense(3, 2, nil)
	posterior.Predict(prob, mat.NewDense(3, 1, []float64{0.1, 0.5, 0.9}))
	for i := range 3 {
		fmt.Printf("feasible with probability %.1f\n", prob.At(i, 1))
	}
	// Output:
	// feasible with probability 0.3
	// feasible with probability 0.5
	// feasible with probability 0.7
}
