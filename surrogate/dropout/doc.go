// Package dropout implements Monte Carlo dropout (Gal and Ghahramani 2016): a network is
// trained with random hidden units set to 0, and predictions average over many such
// networks.
//
// A mask z multiplies each hidden unit by 0 with probability p, else by 1/(1-p).
// f(x,w,z) is the masked network. The weights, and the noise variance σ² unless it is
// fixed, minimise
//
//	Σ_i E_z -log N(y_i; f(x_i,w,z), σ²) + ½ δ|w|² - log p(σ²)
//
// (their eq. 1 with the loss of regression) by Adam, with a few masks per step. The
// posterior is a fixed number of masked networks. Mean and covariance are their moments
// (their eq. 6 to 8, without the noise), and a path is one of them.
//
// # Differences from the paper
//
// Training starts at a maximum of the posterior without dropout. Unless it is fixed, the
// precision δ of the weights maximises Laplace's approximation of the marginal
// likelihood there. The noise variance is learned instead of chosen by cross-validation.
// All observations of a step have the same mask, which does not change the objective.
// Inputs are not dropped.
package dropout
