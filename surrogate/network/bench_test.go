package network_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/network"
)

// The benchmark fits fsp-laplace to 40 velocities. The networks are the layers of the settings, the same layers
// as an architecture, and a Helmholtz network.
func BenchmarkFit(b *testing.B) {
	rng := random.New(1, "bench", 0)
	d := surrogate.Dataset{X: space.Uniform(40, 3, rng), Y: make([]float64, 40)}
	for i := range d.Y {
		d.X.Set(i, 2, float64(i%2))
		d.Y[i] = rng.NormFloat64()
	}
	layers := network.FullyConnected([]int{50, 50}, network.Tanh, 0.5)
	for _, c := range []struct {
		name string
		a    network.Architecture
	}{{"layers", nil}, {"architecture", network.Func(func(x network.Node) network.Node {
		return layers(x.Affine(mat.NewDiagDense(3, []float64{5, 5, 5}), nil))
	})}, {"helmholtz", network.Helmholtz(layers, layers)}} {
		b.Run(c.name, func(b *testing.B) {
			m := fsplaplace.Model{Spec: prior.Spec{Kernel: "potential + stream", Restarts: 1}, Network: surrogate.Network{Architecture: c.a}}
			for b.Loop() {
				if _, err := m.Fit(b.Context(), d, random.New(1, "fit", 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
