package surrogate

import "github.com/functionspace/bo/surrogate/network"

// Network declares a fully connected network. Network models embed it.
type Network struct {
	Hidden     []int  `set:"hidden" default:"50,50" range:"[1,10000]" weights:"10000000" help:"widths of the hidden layers"`
	Activation string `set:"activation" default:"tanh" oneof:"tanh,relu,gelu,erf,sin" help:"activation of the hidden units"`

	// Architecture, unless nil, replaces Hidden and Activation by a network written in Go. Its inputs
	// are the inputs of the dataset without scaling, and a setting bias does not apply to it.
	Architecture network.Architecture `json:"-"`
}
