// Package dropout is Monte-Carlo dropout (Gal and Ghahramani 2016): a network
// trained with hidden units left out at random, and predictions by many such
// networks.
//
// A mask z multiplies each hidden unit by 0 with probability p and by 1/(1-p) else;
// f(x,w,z) is the network. The weights, and the noise variance σ² unless it is
// fixed, minimise
//
//	Σ_i E_z -log N(y_i; f(x_i,w,z), σ²) + ½ δ|w|² - log p(σ²)
//
// (their eq. 1 with the loss of regression) by Adam, with a few masks a step. The
// posterior is a fixed number of masked networks: their moments (their eq. 6 to 8,
// the noise kept apart), and one of them for a path.
//
// # What differs from the paper
//
// The precision δ of the weights is that of the evidence of the start, a maximum of
// the posterior without dropout, unless it is fixed; the noise is learned rather than
// searched by cross-validation. A mask serves all observations of a step, which
// leaves the objective as it is. Inputs are not dropped.
package dropout
