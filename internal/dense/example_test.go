package dense_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/dense"
)

func ExampleCholesky() {
	a := blas64.Symmetric{N: 2, Stride: 2, Uplo: blas.Upper, Data: []float64{4, 2, 0, 10}}
	fmt.Println(dense.Cholesky(a), a.Data[0], a.Data[1], a.Data[3])
	// Output: true 2 1 3
}
