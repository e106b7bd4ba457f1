// Package hmc samples the posterior of a small Bayesian neural network by Hamiltonian
// Monte Carlo. It is a slow reference for approximate methods.
//
// With f(x,w) a network, w ~ N(0, I/δ) and y = f(x,w) + N(0, σ²), chains of the no-U-turn
// sampler (Hoffman and Gelman 2014; Betancourt 2017) draw from
//
//	p(w, δ, σ² | y) ∝ N(y; f(X,w), σ²I) N(w; 0, I/δ) p(δ) p(σ²)
//
// with all observations in every gradient.
//
// The priors equal the priors of package laplace: 1/δ ~ LogNormal(0, 2), and σ² - floor ~
// LogNormal(-4, 1) with floor 1e-4, or Gamma(½, 1) with floor 1e-6 for noise-free data.
// δ and σ² may be fixed.
//
// The network is linear in the weights of the output layer, which cause most stiff
// directions of the posterior. They are integrated out and drawn afterwards. The chains sample v = √δ w of the
// hidden layers, log 1/δ and log(σ² - floor). The prior of v is therefore standard normal for every δ.
//
// Each chain starts at its own local maximum of the posterior, trained from its own
// initial weights, because R̂ compares chains with different starts. A fit therefore
// cannot start from an earlier one.
//
// The posterior is a fixed number of networks, spread evenly over the draws. Mean and
// covariance are their moments, and a path is one of them. The noise variance is the
// mean over all draws.
//
// # Convergence
//
// Hidden units are exchangeable, so weights do not converge; the function may. At up to
// 50 observations and 50 points of the box, the rank-normalised split R̂ and the bulk
// effective sample size (Vehtari et al. 2021) of f are computed from all draws. Hypers
// contains the largest R̂ and the smallest sample size. Warnings reports an R̂ above
// 1.05, more than 2 % of divergent trajectories, and more than 10 % of trajectories of
// the largest length.
//
// # Differences from Li, Rudner and Wilson (2024)
//
// They run one chain on three layers of 128 units, at fixed δ and σ, with unit mass and a
// step size by dual averaging. A trajectory has at most 200 leapfrog steps and a length as
// short as 0.008. Their value of the noise variance enters as a standard deviation.
package hmc
