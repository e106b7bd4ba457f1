package acquisition_test

import (
	"context"
	"fmt"
	"math"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// An acquisition function of one's own: an upper confidence bound of the improvement,
// best - μ + √2·s.
func ExampleMarginal() {
	s, err := space.New(space.Float("x", 0, 1), space.Float("y", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	f := func(_ context.Context, p space.Point) (float64, error) {
		return math.Hypot(p.Float("x")-0.3, p.Float("y")-0.6), nil
	}
	optimistic := acquisition.Marginal{Score: func(mean, sd, best float64) (value, dmean, dsd float64) {
		return best - mean + math.Sqrt2*sd, -1, math.Sqrt2
	}}
	result, err := loop.Minimize(context.Background(), f, s, loop.Options{Acquisition: optimistic, Budget: 25, NoiseFree: true})
	fmt.Println(err, result.Best.Value < 0.05)
	// Output: <nil> true
}
