// Package gfsvi implements generalised function-space variational inference, GFSVI
// (Cinquin and Bamler, arXiv:2406.04317), of a Bayesian neural network with a
// Gaussian-process prior.
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, S). The network linearised at m maps it to functions (eq. 2.6 and 2.7):
//
//	f ~ N( f(x,m), J(x) S J(x')ᵀ ),  J = ∂f/∂w at m.
//
// The prior is f ~ GP(μ, k) with observation noise σ², all fitted first, by
// marginal likelihood (package prior). Training maximises the generalised
// evidence bound (eq. 3.1 and 2.9)
//
//	Σ_i [ -½ log 2πσ² - ((y_i - f(x_i,m))² + J_i S J_iᵀ)/(2σ²) ] - D^γ
//	D^γ = KL( N(f(C,m), J(C) S J(C)ᵀ + γM I) ‖ N(μ, k(C,C) + γM I) )
//
// with M measurement points C, new at each step. The gradient is exact; it includes
// J(m), by second derivatives of the network.
//
// The authors' code is not public, and the description follows the paper. With the preset
// "published" of [Model] the fit is Algorithm 1 of the paper: independent weights from a random
// start, without a lower bound of the noise.
//
// # Differences from the paper by default
//
//   - S = diag(s²) + UUᵀ, an extension that the paper names as future work. With a
//     diagonal S the network must learn tangent features that give the posterior's
//     covariance. Such training takes thousands of steps, and the variance remains below
//     the prior's. Rank columns of U represent it from the start.
//   - Training starts near the optimum, at a fixed set of points. m starts at a Levenberg–Marquardt fit to the
//     mean of the exact process given the data. J U starts at the leading directions of the process's
//     covariance. s starts at the optimum for these m and U, by multiplicative updates that lower the objective
//     at every step. Adam then trains m, U, s and σ together. Beyond 1000 observations m and σ start at the
//     optimum of the bound without its covariances, over all observations. They go as far towards this optimum
//     as held-out observations confirm.
//   - γ = 1e-6 instead of 1e-10. The divergence weights parts of the network outside the
//     prior's smooth functions by up to 1/γM. No network of this size makes them zero. With 1e-10 and a smooth
//     kernel the standard deviation is too large after the default number of steps
//     (docs/methods/gfsvi.md#measurements).
//   - Training inputs are measurement points in addition to the points of the box. The prior therefore also
//     applies at the data in many dimensions.
//   - σ² starts at the value of the prior's fit. Inputs are scaled to the prior's
//     lengthscales, and hidden biases start spread over the scaled box.
//
// [Model.FitLabels] fits labels instead of numbers.
package gfsvi
