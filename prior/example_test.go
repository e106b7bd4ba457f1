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

// A kernel of your own from its value and gradient at a pair of points: a function that is smooth in log x.
func ExamplePairwise() {
	length := prior.Param{Name: "lengthscale", Value: 1, Lo: 0.01, Hi: 100}
	kernel := prior.Pairwise("log-rbf", 1, []prior.Param{length}, func(theta, x, y, dx, dtheta []float64) float64 {
		r := math.Log(x[0]/y[0]) / theta[0]
		k := math.Exp(-r * r / 2)
		if dx != nil {
			dx[0] = -k * r / (theta[0] * x[0])
			dtheta[0] = k * r * r / theta[0]
		}
		return k
	})
	x, y := mat.NewDense(8, 1, nil), make([]float64, 8)
	for i := range y {
		x.Set(i, 0, math.Exp2(float64(i)-8)) // 1/256 to 1/2
		y[i] = math.Cos(float64(i))
	}
	fit, err := prior.Spec{Custom: prior.Scale(kernel)}.Fit(context.Background(), x, y, true, nil, rand.New(rand.NewPCG(1, 2)))
	fmt.Println(fit.Kernel, err)
	for _, h := range fit.Hypers {
		fmt.Println(h.Name)
	}
	// Output:
	// variance*log-rbf <nil>
	// variance
	// lengthscale
	// noise
	// mean
}
