// Package gfsvi is a Bayesian neural network whose prior is a Gaussian process,
// fitted by generalised function-space variational inference, GFSVI (Cinquin and
// Bamler, arXiv:2406.04317).
//
// The weights of a network f(·,w): R^d → R have the variational distribution
// q(w) = N(m, S), read through the network linearised at m (eq. 2.6 and 2.7):
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
// with M measurement points C drawn anew at each step. The gradient is exact; it
// passes through J(m), by second derivatives of the network.
//
// No code of the authors is public; what follows are the paper's text and the
// settings of [Model], which give the published choices back.
//
// # What differs from the paper by default
//
//   - S = diag(s²) + UUᵀ, the extension that the paper names as future work. With
//     a diagonal S alone the network must shape its tangent features to get the
//     covariance of the posterior, which takes thousands of steps and stays short
//     of the prior's variance; Rank columns of U have it at once.
//   - Training starts near the optimum. m goes by Levenberg–Marquardt steps to the
//     mean of the exact process given the data, at a fixed set of points; J U
//     there to the leading directions of its covariance; s to the optimum given
//     the rest, by multiplicative updates that lower the objective each time.
//     Adam then trains all of them together. Beyond 1000 observations m and σ start
//     instead where the bound without its covariances, taken over all of them, has
//     its optimum, as far as observations held out confirm it.
//   - γ = 1e-6 instead of 1e-10. The divergence weighs what the network has
//     outside the prior's smooth functions by up to 1/γM. No network of this size
//     keeps that at zero, and with 1e-10 and an RBF kernel it gives up its
//     variance in the attempt.
//   - Training inputs are measured beside the points drawn from the box, so that
//     the prior holds at them in many dimensions too.
//   - σ² starts at that of the prior's fit. Inputs are scaled to the prior's
//     lengthscales, and hidden biases start spread over the scaled box.
//
// Labels in place of numbers: [Model.FitLabels].
package gfsvi
