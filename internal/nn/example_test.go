package nn_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
)

// The tangent kernel equals the product of Jacobians, which Kernel does not form.
func Example() {
	n := &nn.Network{In: 2, Hidden: []int{50, 50}, Activation: nn.Tanh}
	w := n.Init(random.New(1, "weights", 0))
	tape := n.Record(w, mat.NewDense(3, 2, []float64{0, 0, 1, 0, -1, 2}))

	theta := mat.NewSymDense(3, nil)
	nn.KernelSym(theta, tape)

	j := mat.NewDense(3, n.NumParams(), nil)
	tape.Jacobian(j)
	var product mat.Dense
	product.Mul(j, j.T())

	fmt.Println(n.NumParams(), "parameters")
	fmt.Println("equal:", mat.EqualApprox(theta, &product, 1e-12))
	// Output:
	// 2751 parameters
	// equal: true
}
