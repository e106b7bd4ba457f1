package acquisition_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
)

// hill is a Function of one point: -(x - 0.3)².
type hill struct{}

func (hill) Dim() int { return 1 }

func (hill) Eval(value []float64, grad, x *mat.Dense) {
	for i := range value {
		d := x.At(i, 0) - 0.3
		value[i] = -d * d
		if grad != nil {
			grad.Set(i, 0, -2*d)
		}
	}
}

// Maximise a function over a search space with one integer, whose ten values divide the
// unit interval into cells. The value 3 has the cell [0.3, 0.4] with the centre 0.35, and
// the value 2 has the centre 0.25.
func ExampleMaximize() {
	continuous, err := space.New(space.Float("x", 0, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	integer, err := space.New(space.Int("n", 0, 9))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for _, s := range []*space.Space{continuous, integer} {
		x, value, err := acquisition.Maximize(ctx, hill{}, s, nil, acquisition.MaximizeOptions{}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.4f\n", s.Parameters()[0].Name, value)
		_ = s.Decode(x) // the point to evaluate
	}
	// Output:
	// x: -0.0000
	// n: -0.0025
}
