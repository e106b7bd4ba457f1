package domain

import (
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate"
)

// Network returns the network declared by n for the inputs of d. Errors are errors of
// Dataset.Validate and of nn.New.
func Network(n surrogate.Network, d surrogate.Dataset) (*nn.Network, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	_, dim := d.Dims()
	return nn.New(dim, n.Hidden, n.Activation)
}
