package fvi_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fvi"
)

// steps is a prior on functions of one input with one jump.
type steps struct{}

func (steps) Sample(dst, x *mat.Dense, rng *rand.Rand) {
	k, m := dst.Dims()
	for i := range k {
		at, before, after := 2*rng.Float64(), rng.NormFloat64(), rng.NormFloat64()
		for j := range m {
			if x.At(j, 0) < at {
				dst.Set(i, j, before)
			} else {
				dst.Set(i, j, after)
			}
		}
	}
}

// A prior needs only a method that draws functions.
func Example() {
	d := surrogate.Dataset{X: mat.NewDense(10, 1, nil), Lo: []float64{0}, Hi: []float64{2}}
	for i := range 10 {
		x := float64(i) / 5
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Copysign(1, x-1.1))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	posterior, err := fvi.Model{Sampler: steps{}, Network: surrogate.Network{Hidden: []int{20, 20}}, Draws: 20, Steps: 200}.Fit(context.Background(), d, rng)
	if err != nil {
		log.Fatal(err)
	}
	value := make([]float64, 2)
	posterior.Paths(1, rng)[0].Eval(value, nil, mat.NewDense(2, 1, []float64{0.5, 1.5}))
	fmt.Println("from below to above:", value[0] < -0.5 && value[1] > 0.5)
	// Output:
	// from below to above: true
}
