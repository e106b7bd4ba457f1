package classify_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/classify"
)

// Two contradictory labels at one point leave the latent function at its mean.
func ExampleFindMode() {
	p := classify.Prior{Kernel: prior.RBF(1), Means: []float64{0}}
	x := mat.NewDense(2, 1, []float64{0.3, 0.3})
	mode, err := classify.FindMode(context.Background(), p.Grams(x), p.Means, []int{0, 1}, nil)
	fmt.Printf("%.3f %v\n", mode.Prob.At(0, 0), err)
	// Output: 0.500 <nil>
}
