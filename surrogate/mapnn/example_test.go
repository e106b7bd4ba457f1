package mapnn_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/mapnn"
)

func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil)}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	posterior, err := mapnn.Model{}.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	posterior.Predict(mean, variance, mat.NewDense(1, 1, []float64{0.25}))
	fmt.Printf("f(0.25) is about %.1f, variance %v\n", mean[0], variance[0])
	// Output: f(0.25) is about 1.0, variance 0
}
