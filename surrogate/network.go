package surrogate

// Network declares a fully connected network. Network models embed it.
type Network struct {
	Hidden     []int  `set:"hidden" default:"50,50" range:"[1,10000]" weights:"10000000" help:"widths of the hidden layers"`
	Activation string `set:"activation" default:"tanh" oneof:"tanh,relu,gelu,erf,sin" help:"activation of the hidden units"`
}
