package acquisition_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Choose the next point without a study.
func ExampleSuggest() {
	// Five values of (x - 0.3)², and a Gaussian process with fixed hyperparameters.
	x := mat.NewDense(5, 1, []float64{0, 0.2, 0.5, 0.75, 1})
	y := make([]float64, 5)
	for i := range y {
		y[i] = math.Pow(x.At(i, 0)-0.3, 2)
	}
	one, noise := 1.0, 1e-6
	model := &gp.Model{}
	model.Kernel, model.Lengthscale, model.Variance, model.Noise = "rbf", []float64{0.5}, &one, &noise
	ctx := context.Background()
	posterior, err := model.Fit(ctx, surrogate.Dataset{X: x, Y: y}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	p := acquisition.Problem{Posterior: posterior, Best: slices.Min(y), Observed: x}
	next, err := acquisition.Suggest(ctx, acquisition.LogEI{}, p, s, 1, acquisition.MaximizeOptions{}, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("evaluate at %.2f\n", next[0].X[0])
	// Output: evaluate at 0.30
}
