// Package mapnet trains networks with an isotropic Gaussian prior on their weights to a
// maximum of the posterior. It fits the precision of the prior and the noise variance by
// Laplace's approximation of the marginal likelihood.
//
// With y = f(x,w) + N(0, σ²) and w ~ N(0, I/δ) the weights w* minimise
//
//	E(w) = |y - f(X,w)|²/(2σ²) + ½ δ|w|²
//
// and with the Gauss–Newton curvature G = JᵀJ at w* (or an approximation of it)
//
//	log p(y) ≈ -½ n log 2πσ² - E(w*) - ½ log|I + G/ρ|,  ρ = δσ²
//
// (MacKay 1992, eq. 10 and 2.22; Immer et al. 2021, eq. 5). Training alternates with a
// maximisation of this over log δ and log σ² (Foresee and Hagan 1997). Gauss–Newton
// training returns the weights with the largest evidence.
package mapnet
