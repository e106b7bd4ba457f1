package fsplaplace

import (
	"testing"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	surrogatetest.Run(t, Model{Network: surrogate.Network{Hidden: []int{20, 20}}, Context: 120})
}

func TestConformanceOfThePublishedModel(t *testing.T) {
	m := published()
	m.Steps = 200
	surrogatetest.Options{Fast: true}.Run(t, m)
}

func TestConformanceOfTheExactFactor(t *testing.T) {
	surrogatetest.Options{Fast: true}.Run(t, Model{Factor: "cholesky", Network: surrogate.Network{Hidden: []int{10, 10}, Activation: "gelu"}, Context: 60})
}
