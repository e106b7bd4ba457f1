// Package tfsvi is a Bayesian neural network fitted by function-space variational
// inference, TFSVI or FSVI (Rudner, Chen, Teh and Gal, NeurIPS 2022,
// arXiv:2312.17199).
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, S). Training maximises
//
//	Σ_i E_q[ log N(y_i | f(x_i,w), σ²) ] - max_C KL( f̃_q(C) ‖ f̃_p(C) )
//
// (eq. 7 and 17 of the paper). The likelihood is that of the network itself, by draws of
// the weights. The divergence is that of Gaussians, from the network linearised at
// m with J = ∂f/∂w:
//
//	f̃_q(C) ~ N( f(C,m), J S Jᵀ )
//	f̃_p(C) ~ N( f(C,m) - J m, v² J Jᵀ )   prior "bnn": w ~ N(0, v² I), f̃_p = f(C,m) + J (w - m)
//	f̃_p(C) ~ N( 0, v² I )                 prior "fixed"
//
// with a small variance on both diagonals. Context points C are drawn anew at each
// step, several sets of them if asked, of which the worst counts. The divergence is
// of the joint Gaussians, or the sum of that of the marginals.
//
// Predictions are those of the network, not of its linearisation: a posterior is a
// fixed number of networks drawn from q, in pairs m ± S^½ε. Its mean and covariance
// are theirs, each of its paths is one of them, and so Predict, Joint and Paths
// agree exactly. Joint at more points than there are networks is singular.
//
// # What differs from the authors' code, and from their settings, by default
//
//   - Both Gaussians are linearised at m. At the prior's own mean, w = 0, about
//     which eq. 8 would linearise the prior "bnn", the Jacobian of a tanh network
//     vanishes but for the output bias. For a linear model the divergence at p
//     independent points is that of the weights.
//   - S is the full covariance UUᵀ of the output weights, in which the network is
//     linear, and a diagonal s² for the others; theirs is a diagonal. Independent weights
//     that are sure of the data are sure everywhere: on 30 observations of Hartmann-6
//     their standard deviation at new points was a tenth of the error.
//   - First weights are drawn with a spread for each input; the spreads, v and σ are
//     those of largest evidence of Bayesian linear regression on the hidden layers as
//     drawn, under the priors of package prior; theirs are set by hand.
//   - Training starts at the solution of that regression, in coordinates in which the
//     weights are standard normal there, and takes 300 steps at a falling rate, where
//     theirs takes 200 000 at a constant one. Beyond 500 observations 1250 steps of m
//     alone come first.
//   - The divergence is joint, with the gradient through J; the authors mostly take
//     the marginals.
//   - Draws of the likelihood have independent noise in every weight.
//
// The settings of [Model] give the published choices back.
package tfsvi
