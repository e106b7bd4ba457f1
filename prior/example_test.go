package prior_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
)

func Example() {
	// A smooth seasonal function plus a trend, with a known period.
	x, y := mat.NewDense(12, 1, nil), make([]float64, 12)
	for i := range y {
		t := float64(i) / 11
		x.Set(i, 0, t)
		y[i] = math.Sin(2*math.Pi*t/0.25) + 2*t
	}
	spec := prior.Spec{Kernel: "rbf*periodic(period=0.25) + linear"}
	fit, err := spec.Fit(context.Background(), x, y, true, nil, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fit.Kernel)
	for _, h := range fit.Hypers {
		if h.Fixed {
			fmt.Println(h.Name, h.Value)
		}
	}
	fmt.Println(fit.LogMarginal > 0)
	// Output:
	// rbf*periodic(period=0.25)+linear
	// periodic.period[0] 0.25
	// true
}
