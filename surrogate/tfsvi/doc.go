// Package tfsvi implements function-space variational inference of a Bayesian neural
// network, TFSVI or FSVI (Rudner, Chen, Teh and Gal, NeurIPS 2022, arXiv:2312.17199).
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, S). Training maximises
//
//	Σ_i E_q[ log N(y_i | f(x_i,w), σ²) ] - max_C KL( f̃_q(C) ‖ f̃_p(C) )
//
// (eq. 7 and 17 of the paper). The expected likelihood uses the network itself, with draws
// of the weights. The divergence is between Gaussians, the distributions of the network
// linearised at m, with J = ∂f/∂w:
//
//	f̃_q(C) ~ N( f(C,m), J S Jᵀ )
//	f̃_p(C) ~ N( f(C,m) - J m, v² J Jᵀ )   prior "bnn": w ~ N(0, v² I), f̃_p = f(C,m) + J (w - m)
//	f̃_p(C) ~ N( 0, v² I )                 prior "fixed"
//
// with a small variance added to both diagonals. Context points C are new at each step. If
// several sets are drawn, the set with the largest divergence is used. The divergence is
// between the joint Gaussians, or the sum over the marginals.
//
// Predictions use the network, not its linearisation: the posterior is a fixed number of
// networks drawn from q, in pairs m ± S^½ε. Mean and covariance are their moments, and a
// path is one of them, so Predict, Joint and Paths agree exactly. The covariance of Joint
// at more points than networks is singular.
//
// # Differences from the authors' code and settings by default
//
//   - Both Gaussians are linearised at m. Eq. 8 linearises the prior "bnn" at its mean,
//     w = 0, where the Jacobian of a tanh network is zero except for the output bias. For
//     a linear model the divergence at p independent points is the divergence of the
//     weights.
//   - S is a full covariance UUᵀ of the output weights, in which the network is linear, and
//     a diagonal s² of the others; the authors' S is diagonal. Independent weights with a
//     small variance at the data have a small variance everywhere
//     (docs/methods/tfsvi.md#measurements).
//   - Initial weights have a scale for each input. The scales, v and σ maximise the marginal
//     likelihood of Bayesian linear regression on the initial hidden layers, under the
//     priors of package prior. The authors set them by hand.
//   - Training starts at the solution of that regression, in coordinates in which the
//     weights are standard normal there. It takes 300 steps with a decreasing rate; the
//     authors take 200 000 with a constant rate. Beyond 500 observations 1250 steps with
//     independent weights come first, of which m and σ remain.
//   - The divergence is joint, with the gradient through J. The authors mostly use the
//     marginals.
//   - Draws of the likelihood have independent noise in every weight.
//
// With the preset "published" of [Model] the fit follows eq. 17 with the settings of the authors'
// code: independent weights from a random start, a fixed prior and marginal divergences.
package tfsvi
