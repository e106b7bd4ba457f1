package fvi

import (
	"testing"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"gp":        {Network: surrogate.Network{Hidden: []int{10}}, Context: 8, Batch: 8, Draws: 20, Steps: 30, Samples: 30},
		"implicit":  {Network: surrogate.Network{Hidden: []int{10, 10}}, Prior: "piecewise-linear", Context: 5, Draws: 10, Steps: 30, Samples: 31, Anneal: 0.5},
		"random":    {Network: surrogate.Network{Hidden: []int{10}}, Start: "random", Score: "plain", Weight: "batch", Box: "data", Context: 5, Batch: 6, Draws: 10, Steps: 100, Samples: 20},
		"published": {Preset: surrogate.Published, Network: surrogate.Network{Hidden: []int{10}, Activation: "tanh"}, Draws: 20, Steps: 60, Rate: 0.01, Samples: 30},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.Options{Fast: true}.Run(t, m) })
	}
}
