package network_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/network"
)

// A residual network of periodic features predicts the next periods.
func Example() {
	f := network.Func(func(x network.Node) network.Node {
		h := x.Periodic(1).Dense(30, 0.5).Apply(network.Tanh)
		return h.Dense(30, 0.5).Apply(network.Tanh).Add(h).Dense(1, 0)
	})
	d := surrogate.Dataset{X: mat.NewDense(20, 1, nil), Lo: []float64{0}, Hi: []float64{3}}
	for i := range 20 {
		x := float64(i) / 20
		d.X.Set(i, 0, x)
		d.Y = append(d.Y, math.Sin(2*math.Pi*x)+0.5*math.Cos(4*math.Pi*x))
	}
	model := fsplaplace.Model{
		Network: surrogate.Network{Architecture: f},
		Spec:    prior.Spec{Kernel: "periodic(period=1)"},
	}
	p, err := model.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	p.Predict(mean, variance, mat.NewDense(2, 1, []float64{0.25, 2.25}))
	fmt.Printf("%.2f, and two periods on %.2f\n", mean[0], mean[1])
	// Output:
	// 0.50, and two periods on 0.50
}

// A velocity field without divergence, from the derivatives of a stream function. Each observation is
// one component of a vortex.
func ExampleHelmholtz() {
	f := network.Helmholtz(nil, network.FullyConnected([]int{30, 30}, network.Tanh, 0.5))
	d := surrogate.Dataset{Lo: []float64{-1, -1, 0}, Hi: []float64{1, 1, 1}}
	var x []float64
	for i := range 12 {
		angle, r := float64(i)*math.Pi/6, 0.3+0.3*float64(i%3)
		east, north := r*math.Cos(angle), r*math.Sin(angle)
		x = append(x, east, north, 0, east, north, 1)
		d.Y = append(d.Y, -north, east)
	}
	d.X = mat.NewDense(len(d.Y), 3, x)
	model := fsplaplace.Model{
		Network: surrogate.Network{Architecture: f},
		Spec:    prior.Spec{Kernel: "stream", Mean: prior.MeanZero},
	}
	p, err := model.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	// The velocity, and its derivatives with respect to the coordinates.
	mean, variance := make([]float64, 2), make([]float64, 2)
	dmean, dvariance := mat.NewDense(2, 3, nil), mat.NewDense(2, 3, nil)
	p.PredictGrad(mean, variance, dmean, dvariance, mat.NewDense(2, 3, []float64{0.5, 0.2, 0, 0.5, 0.2, 1}))
	fmt.Printf("velocity (%.1f, %.1f)\n", mean[0], mean[1])
	fmt.Printf("divergence %.2f, rotation %.2f\n", math.Abs(dmean.At(0, 0)+dmean.At(1, 1)), dmean.At(1, 0)-dmean.At(0, 1))
	// Output:
	// velocity (-0.2, 0.5)
	// divergence 0.00, rotation 2.00
}

// An activation of one's own, x², with its derivatives.
func ExampleActivation() {
	square := func(d [][]float64, z []float64) {
		for i, z := range z {
			for k, v := range []float64{z * z, 2 * z, 2} {
				if k < len(d) {
					d[k][i] = v
				}
			}
			for k := 3; k < len(d); k++ {
				d[k][i] = 0
			}
		}
	}
	net, err := network.Func(func(x network.Node) network.Node { return x.Dense(1, 0).Apply(square) }).Network(1)
	if err != nil {
		log.Fatal(err)
	}
	tape := net.Record([]float64{3, 1}, mat.NewDense(1, 1, []float64{2})) // (3x + 1)² at x = 2
	j := mat.NewDense(1, net.NumParams(), nil)
	tape.Jacobian(j)
	fmt.Println(tape.Value(), j.RawRowView(0))
	// Output:
	// [49] [28 14]
}
