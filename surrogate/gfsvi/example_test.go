package gfsvi_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gfsvi"
)

// Away from the data the posterior variance is near the prior variance.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil), Lo: []float64{0}, Hi: []float64{2}}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	model := gfsvi.Model{Network: surrogate.Network{Hidden: []int{20, 20}}, Context: 60, Steps: 50}
	posterior, err := model.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	posterior.Predict(mean, variance, mat.NewDense(2, 1, []float64{0.25, 1.9}))
	fmt.Printf("f(0.25) is about %.1f\n", mean[0])
	fmt.Println("the variance is larger at 1.9:", variance[1] > 100*variance[0])
	// Output:
	// f(0.25) is about 1.0
	// the variance is larger at 1.9: true
}
