// Package vip implements the variational implicit process (Ma, Li and Hernández-Lobato
// 2019): Bayesian linear regression on functions drawn from the prior of a Bayesian neural
// network with learned parameters.
//
// Let f_s = f(·,w_s) be S networks with w_s drawn from the prior. The Gaussian process with their empirical
// mean and covariance replaces the distribution of the networks:
//
//	m(x) = (1/S) Σ_s f_s(x),  φ_s(x) = (f_s(x) - m(x))/√(S-1),  k(x,x') = φ(x)ᵀφ(x')
//
// (their eq. 7), that is f = m + φᵀa, a ~ N(0, I) (their eq. 11). Its posterior given
// y = f(x) + N(0, σ²) is exact. The prior has independent Gaussian weights
// w_s = unit∘(μ + exp(ρ)∘ε_s) with fixed ε_s, unit = 1/√fan-in for weights and 1 for biases.
// With r = y - m(X), σ² and the prior maximise
//
//	log N(r; 0, ΦΦᵀ + σ²I) - ½|ρ|² - ½|μ|² + log p(σ²)
//
// by bounded L-BFGS, with p(σ²) as in package laplace. The weights of a layer share one ρ,
// its biases another, and μ = 0. Alternatively, as published, each weight has its own μ and
// ρ. The prior is fitted to at most 1000 random observations; the regression uses all of
// them.
//
// # Differences from the paper
//
// The paper also maximises an α-energy (α = 0.5) over a Gaussian q(a). For α → 0 its maximum
// over q is the marginal likelihood, which is used here in closed form. The covariance has
// the divisor S-1 as in the authors' code, not S as printed. Their inverse-Wishart ridge on
// k, chosen by a validation set, is omitted. They draw 20 functions of two layers of 10
// units. The kernel has rank S-1, and with few functions the variance between observations is
// too small.
package vip
