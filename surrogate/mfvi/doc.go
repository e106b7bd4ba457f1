// Package mfvi is mean-field variational inference of a Bayesian neural
// network: Bayes by Backprop (Blundell et al. 2015).
//
// With w ~ N(0, I/δ) and y = f(x,w) + N(0, σ²), q(w) = N(m, diag s²) with
// s = softplus(ρ) maximises
//
//	Σ_i E_q log N(y_i; f(x_i,w), σ²) - KL(q ‖ N(0, I/δ))
//
// over m, ρ, log δ and log σ² (plus weak log priors on the last two, those of
// package laplace) by Adam, with the expectation over a few draws w = m + s∘ε a
// step (their eq. 2 and section 3.2, with the divergence in closed form).
//
// The posterior is a fixed number of networks drawn from q, not linearised: their
// moments, and one of them for a path.
//
// # What differs from the paper
//
// The prior is one Gaussian and not a mixture of two. Training starts at a maximum
// of the posterior of the weights, found in a fraction of the time (start=random
// starts as published), with s = softplus(-5). Draws come in pairs ±ε.
package mfvi
