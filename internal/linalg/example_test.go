package linalg_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

func ExampleFactorize() {
	// Two observations at one point without noise: a covariance of rank one.
	c, err := linalg.Factorize(mat.NewSymDense(2, []float64{1, 1, 1, 1}))
	if err != nil {
		log.Fatal(err)
	}
	b := []float64{2, 2}
	c.SolveVec(b)
	fmt.Printf("jitter %.0e, solution %.4f\n", c.Jitter(), b)
	// Output: jitter 1e-10, solution [1.0000 1.0000]
}
