package tfsvi_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/tfsvi"
)

// A path is one network, evaluated at any points.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(11, 1, nil), Lo: []float64{0}, Hi: []float64{2}}
	for i := range 11 {
		x := float64(i) / 10
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	posterior, err := tfsvi.Model{Network: surrogate.Network{Hidden: []int{50}}}.Fit(context.Background(), d, rng)
	if err != nil {
		log.Fatal(err)
	}
	x := mat.NewDense(2, 1, []float64{0.25, 0.75})
	value := make([]float64, 2)
	posterior.Paths(1, rng)[0].Eval(value, nil, x)
	fmt.Println("it rises to 0.25 and falls to 0.75:", value[0] > 0.5 && value[1] < -0.5)
	// Output:
	// it rises to 0.25 and falls to 0.75: true
}
