package dkl_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/dkl"
)

// The function is flat on one side and steep on the other.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(21, 1, nil), NoiseFree: true}
	for i := range 21 {
		x := float64(i) / 20
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Tanh(20*(x-0.8)))
	}
	posterior, err := dkl.Model{}.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	posterior.Predict(mean, variance, mat.NewDense(2, 1, []float64{0.225, 0.825}))
	fmt.Println("the variance is larger on the steep side:", variance[1] > variance[0])
	// Output: the variance is larger on the steep side: true
}
