package gp_test

import (
	"testing"

	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	surrogatetest.Run(t, gp.Model{})
}
