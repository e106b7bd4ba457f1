// Package mfvi implements mean-field variational inference of a Bayesian neural network,
// Bayes by Backprop (Blundell et al. 2015).
//
// With w ~ N(0, I/δ) and y = f(x,w) + N(0, σ²), the variational distribution
// q(w) = N(m, diag s²), s = softplus(ρ), maximises
//
//	Σ_i E_q log N(y_i; f(x_i,w), σ²) - KL(q ‖ N(0, I/δ))
//
// over m, ρ, log δ and log σ² by Adam, plus the weak log priors of package laplace on δ
// and σ². The expectation is estimated by a few draws w = m + s∘ε per step (their eq. 2
// and section 3.2, with the divergence in closed form).
//
// The posterior is a fixed number of networks drawn from q, without linearisation. Mean
// and covariance are their moments, and a path is one of them.
//
// # Differences from the paper
//
// The prior is one Gaussian instead of a mixture of two. Training starts at a maximum of
// the posterior of the weights, with s = softplus(-5). Draws come in pairs ±ε. The preset
// surrogate.Published restores the baseline of Cinquin and Bamler (2024, arXiv:2406.04317).
package mfvi
