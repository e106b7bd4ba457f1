// Package network defines networks f(x,w): R^d → R of weights w for surrogate models with a field of type
// [Architecture]. Such models are in packages fsplaplace, gfsvi, tfsvi, fvi, gwi, laplace, mfvi and others.
//
// A [Func] composes a network from its inputs by the methods of [Node]: layers with weights
// ([Node.Dense]), activations ([Node.Apply]), sums and products, input features
// ([Node.Periodic], [Node.Fourier], [Node.Map]) and derivatives ([Node.Along]). The package
// computes the derivatives that training and prediction need: a function is written once, as
//
//	f := network.Func(func(x network.Node) network.Node {
//		h := x.Periodic(1).Dense(50, 0.5).Apply(network.Tanh)
//		return h.Dense(50, 0.5).Apply(network.Tanh).Add(h).Dense(1, 0)
//	})
//	model := fsplaplace.Model{Network: surrogate.Network{Architecture: f}}
//
// [FullyConnected] and [Helmholtz] are ready architectures. A network that is not a composition of
// nodes implements [Network] and [Tape].
//
// # Units
//
// The inputs of the network are the inputs of the dataset, without the scaling that models apply to
// the inputs of their own networks. Scale them by [Node.Affine], so that the network varies over
// the distances over which the function does: weights start with standard deviation 1/√d in a layer
// of d inputs.
//
// # Derivatives
//
// Nodes form a graph of products of matrices with a row for each point. With u a direction in the
// space of weights, J(x)·u is the value of a second graph, the tangent of the first. Reverse accumulation
// through both graphs gives the gradients of f(x,w) and of J(x)·u with respect to x and w. Their cost is a
// small multiple of the cost of an evaluation (Griewank and Walther 2008, chapters 3 and 5). [Node.Along]
// appends a tangent with respect to inputs, so that partial derivatives of a network are nodes too.
package network
