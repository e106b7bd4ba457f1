package dropout_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/dropout"
)

func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil)}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	posterior, err := dropout.Model{}.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	posterior.Predict(mean, variance, mat.NewDense(1, 1, []float64{0.25}))
	fmt.Println("f(0.25) is near 1:", math.Abs(mean[0]-1) < 0.3)
	fmt.Println("networks differ:", variance[0] > 0)
	// Output:
	// f(0.25) is near 1: true
	// networks differ: true
}
