package prior_test

import (
	"math/rand/v2"
	"testing"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/prior/priortest"
)

func TestConformance(t *testing.T) {
	prior.EachKernel(t, func(t *testing.T, k prior.Kernel, _ *rand.Rand) { priortest.Run(t, k) })
}
