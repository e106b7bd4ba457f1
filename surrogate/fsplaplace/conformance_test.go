package fsplaplace

import (
	"testing"

	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	surrogatetest.Run(t, Model{Hidden: []int{20, 20}, Context: 120})
}
