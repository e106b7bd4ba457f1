package loop_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// perSecond is an acquisition function of this program: the logarithm of the expected improvement per second of an
// evaluation that takes 1 + 9u seconds at the encoded parameter u.
type perSecond struct{}

func (perSecond) Build(ctx context.Context, p acquisition.Problem, q int, rng *rand.Rand) (acquisition.Function, error) {
	improvement, err := acquisition.LogEI{}.Build(ctx, p, q, rng)
	return rate{improvement}, err
}

// rate is a Function of one point.
type rate struct{ acquisition.Function }

func (r rate) Eval(value []float64, grad, x *mat.Dense) {
	r.Function.Eval(value, grad, x)
	for i := range value {
		u := x.At(i, 0)
		value[i] -= math.Log(1 + 9*u)
		if grad != nil {
			grad.Set(i, 0, grad.At(i, 0)-9/(1+9*u))
		}
	}
}

// A study with an acquisition function of its own, which prefers evaluations that take less time.
func ExampleOptions_acquisition() {
	sp, err := space.New(space.Float("x", 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	objective := func(_ context.Context, p space.Point) (float64, error) { return math.Cos(9 * p.Float("x")), nil }
	r, err := loop.Minimize(context.Background(), objective, sp, loop.Options{Acquisition: perSecond{}, Budget: 10, NoiseFree: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x = %.2f, value %.2f\n", r.Best.Point.Float("x"), r.Best.Value) // also least at 1.05, outside
	// Output: x = 0.35, value -1.00
}
