package domain

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/network"
)

// Network returns the network declared by n for the inputs of d. Errors are errors of
// Dataset.Validate and of Build. An architecture is evaluated once, and a value that is not finite at
// initial weights is an error too.
func Network(n surrogate.Network, d surrogate.Dataset) (*nn.Network, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	_, dim := d.Dims()
	net, err := Build(n, dim)
	if err == nil && net.Custom != nil {
		err = tryInitial(net.Custom, d.X)
	}
	if err != nil {
		return nil, err
	}
	return net, nil
}

// tryInitial returns an error if n has a wrong number of initial weights, or a value at a row of x that is
// not finite.
func tryInitial(n nn.Custom, x *mat.Dense) error {
	w := n.Init(0, rand.New(rand.NewPCG(1, 0)))
	if len(w) != n.NumParams() {
		return settings.Errorf("the architecture has %d initial weights, want %d", len(w), n.NumParams())
	}
	for i, v := range n.Record(w, x).Value() {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return settings.Errorf("the architecture is %v at initial weights and the inputs %v of observation %d, want a number",
				v, x.RawRowView(i), i)
		}
	}
	return nil
}

// Build returns the network declared by n for dim inputs. Errors are errors of nn.New and of the
// architecture.
func Build(n surrogate.Network, dim int) (*nn.Network, error) {
	if n.Architecture == nil {
		return nn.New(dim, n.Hidden, n.Activation)
	}
	net, err := n.Architecture.Network(dim)
	if err != nil {
		return nil, err
	}
	if net == nil {
		return nil, settings.Errorf("the architecture returned no network for %d inputs", dim)
	}
	p, k := net.NumParams(), net.Linear()
	if p < 1 || k < 0 || k > p {
		return nil, settings.Errorf("the architecture has %d weights, and is affine in %d of them", p, k)
	}
	return &nn.Network{In: dim, Custom: custom{net}}, nil
}

// FullyConnected returns an error for a model that needs the layers of a network if n has an
// architecture.
func FullyConnected(model string, n network.Architecture) error {
	if n == nil {
		return nil
	}
	return settings.Errorf("%s does not support Architecture: it needs the layers of a fully connected network", model)
}

// custom is a network as a nn.Custom.
type custom struct{ network.Network }

func (c custom) Record(w []float64, x *mat.Dense) nn.Recorded { return c.Network.Record(w, x) }

// For returns the scaling a of the inputs of net, or the identity for an architecture, whose inputs
// are in the units of the dataset.
func (a Affine) For(net *nn.Network) Affine {
	if net.Custom == nil {
		return a
	}
	return Affine{Shift: make([]float64, net.In), Scale: slices.Repeat([]float64{1}, net.In)}
}
