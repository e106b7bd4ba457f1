// Package hmc samples the posterior of a small Bayesian neural network by Hamiltonian
// Monte Carlo: the slow reference that approximations are held against.
//
// With f(x,w) a network, w ~ N(0, I/δ) and y = f(x,w) + N(0, σ²), chains of the no-U-turn
// sampler (Hoffman and Gelman 2014; Betancourt 2017) draw from
//
//	p(w, δ, σ² | y) ∝ N(y; f(X,w), σ²I) N(w; 0, I/δ) p(δ) p(σ²)
//
// with all observations in every gradient.
//
// 1/δ ~ LogNormal(0, 2), and σ² is a floor (1e-4, or 1e-6 for noise-free data) plus a
// LogNormal(-4, 1) variable (Gamma(½, 1)): the priors of package laplace. Either may
// be fixed.
//
// The weights of the output layer, linear given the
// others, are integrated out and drawn afterwards: of the posterior's stiff directions
// most are theirs. The chains move in v = √δ w of the hidden layers, log δ and the log of
// the variable, so that prior weights are standard normal whatever δ is.
//
// Each chain starts at a maximum of the posterior of its own, trained from weights of its
// own: chains that start apart are what R̂ judges, so a fit does not go on where an earlier
// one ended.
//
// The posterior is a fixed number of networks, spread evenly over the draws: their
// moments, and one of them for a path. The noise is the mean over all draws.
//
// # Have the chains converged?
//
// Weights never do: hidden units may be exchanged. The function may. At up to 50
// observations and 50 points of the box the rank-normalised split R̂ and the bulk
// effective sample size (Vehtari et al. 2021) of f are computed from all draws; the
// largest and the smallest are among Hypers, an R̂ above 1.05 among Warnings, as are more
// than 2 % of divergent trajectories and more than 10 % of the largest length.
//
// # What differs from Li, Rudner and Wilson (2024)
//
// They run one chain on three layers of 128 with unit mass, a step size by dual
// averaging and at most 200 leapfrog steps of a path as short as 0.008, at fixed δ and
// σ; their value of the noise variance enters as a standard deviation.
package hmc
