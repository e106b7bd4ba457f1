package main

import (
	"testing"

	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestContract(t *testing.T) {
	surrogatetest.Run(t, Fourier{Lengthscale: 0.3})
}
