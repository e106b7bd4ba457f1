// Surrogate runs an optimisation with a surrogate model defined in this program. Its test
// checks the contract of Fourier with package surrogatetest.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

func main() {
	o := benchmarks.Branin()
	objective := func(_ context.Context, p space.Point) (float64, error) { return o.At(p), nil }
	result, err := loop.Minimize(context.Background(), objective, o.Space, loop.Options{
		Surrogate: Fourier{Lengthscale: 0.3},
		Budget:    30,
		Seed:      1,
		NoiseFree: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("best of %d: %.2f (the minimum is %.2f)\n", len(result.Trials), result.Best.Value, o.Minimum)
}
