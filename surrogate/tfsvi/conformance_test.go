package tfsvi

import (
	"testing"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"full":      {Network: surrogate.Network{Hidden: []int{10, 10}}, Context: 10, Sets: 2, Steps: 150, Samples: 30},
		"diagonal":  {Network: surrogate.Network{Hidden: []int{10}}, Context: 10, Divergence: "diagonal", Prior: "fixed", StopGradient: true, Steps: 150, Samples: 31},
		"published": {Preset: surrogate.Published, Network: surrogate.Network{Hidden: []int{10}}, Steps: 150, Rate: 0.01, Samples: 30},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.Options{Fast: true}.Run(t, m) })
	}
}
