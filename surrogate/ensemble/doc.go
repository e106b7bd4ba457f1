// Package ensemble is the deep ensemble (Lakshminarayanan, Pritzel and Blundell
// 2017): M networks trained from different initial weights, each to a maximum of
// the posterior of its weights, whose disagreement is the uncertainty.
//
//	mean(x)   = (1/M) Σ_k f_k(x)
//	cov(x,x') = (1/M) Σ_k (f_k(x) - mean(x)) (f_k(x') - mean(x'))
//
// The denominator is M: f is one of the members, each as likely as the others, and
// a path is a member drawn at random. Noise is the mean of theirs, so that the
// variance of an observation is that of the mixture (their section 2.4).
//
// Each member minimises |y - f(X,w)|²/(2σ²) + ½δ|w|² with δ and σ² by the evidence,
// as in package laplace, or fixed. Lakshminarayanan et al. learn a noise that
// depends on x and have 5 members; Li, Rudner and Wilson (2024) have 10, each on a
// random 80 % of the data, with fixed δ and σ.
//
// An ensemble does not approach the exact posterior: with more members it
// approaches the distribution that training makes of that of the initial weights.
package ensemble
