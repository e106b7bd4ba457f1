// Package ensemble implements deep ensembles (Lakshminarayanan, Pritzel and Blundell
// 2017): M networks are trained from independent initial weights, each to a maximum of
// the posterior of its weights. The variance is the variance of their outputs.
//
//	mean(x)   = (1/M) Σ_k f_k(x)
//	cov(x,x') = (1/M) Σ_k (f_k(x) - mean(x)) (f_k(x') - mean(x'))
//
// The denominator is M, because f is one of the members with equal probabilities. A path
// is a random member. The noise variance is the mean over members, so that the variance
// of an observation is the variance of the mixture (their section 2.4).
//
// Each member minimises |y - f(X,w)|²/(2σ²) + ½δ|w|², with δ and σ² fixed or fitted by
// marginal likelihood as in package laplace. Lakshminarayanan et al. learn a noise
// variance that depends on x and have 5 members. Li, Rudner and Wilson (2024) have 10
// members, each trained on a random 80 % of the data, with fixed δ and σ.
//
// An ensemble does not converge to the exact posterior. As M grows it converges to the
// distribution of trained networks over random initial weights.
//
// If all targets are equal, the members are near the target at the observations, and elsewhere
// they differ as initial networks do.
package ensemble
