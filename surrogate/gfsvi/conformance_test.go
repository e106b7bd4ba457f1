package gfsvi

import (
	"testing"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"low-rank":  {Network: surrogate.Network{Hidden: []int{12, 12}}, Context: 30, Rank: 20, Steps: 20},
		"diagonal":  {Network: surrogate.Network{Hidden: []int{10, 10}}, Context: 30, Covariance: "diagonal", Steps: 20, PriorNoise: true},
		"published": {Preset: surrogate.Published, Network: surrogate.Network{Hidden: []int{10, 10}}, Context: 30, Steps: 150, Rate: 0.02},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.Options{Fast: true}.Run(t, m) })
	}
}
