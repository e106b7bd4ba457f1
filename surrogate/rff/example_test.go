package rff_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/rff"
)

// A path drawn from the posterior is a function that can be evaluated anywhere.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil)}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	posterior, err := rff.Model{}.Fit(context.Background(), d, rng)
	if err != nil {
		log.Fatal(err)
	}
	value := make([]float64, 1)
	posterior.Paths(1, rng)[0].Eval(value, nil, mat.NewDense(1, 1, []float64{0.25}))
	fmt.Printf("%.1f\n", value[0])
	// Output: 1.0
}
