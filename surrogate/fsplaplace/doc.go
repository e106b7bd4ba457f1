// Package fsplaplace is a Bayesian neural network whose prior is a Gaussian
// process: the function-space Laplace approximation FSP-Laplace (Cinquin et
// al., NeurIPS 2024, arXiv:2407.13711).
//
// A network f(·,w): R^d → R with p weights is given a prior on functions,
// f ~ GP(μ, k), rather than on weights. The kernel k, the constant μ and the
// noise variance σ² are fitted first, by marginal likelihood (package prior).
//
// Training (Algorithm 1 of the paper) finds the weights w* that minimise
//
//	R(w) = Σ_i (y_i - f(x_i,w))²/(2σ²) + ½ (f(C,w) - μ)ᵀ K⁻¹ (f(C,w) - μ),  K = k(C,C)
//
// at context points C spread over the box where predictions will be asked.
//
// The posterior (Algorithm 2) is Gaussian in the weights, N(w*, S Sᵀ), read
// through the linearised network:
//
//	mean(x) = f(x,w*),  cov(x,x') = J(x) S Sᵀ J(x')ᵀ,  J = ∂f/∂w at w*.
//
// # What differs from the paper by default
//
// The settings of [Model] give the published choices back, but for the fit of
// the kernel and for the Halton set, which is published as a Latin hypercube.
//
//   - The training inputs belong to C. The objective is then a quadratic in
//     f(C): ½ (f(C,w) - m)ᵀ V⁻¹ (f(C,w) - m) + const, with m and V the mean and
//     covariance of the exact GP posterior at C, and is minimised by
//     Levenberg–Marquardt steps in the |C|-dimensional dual, which need the
//     empirical tangent kernel Θ = J Jᵀ and never the Jacobian.
//   - S comes from a ridge-regularised solve, S₀ = J(C)ᵀ (Θ + λI)⁻¹ L with
//     L Lᵀ = K, so that a function J S₀ ε with ε ~ N(0,I) is the network's
//     smoothest answer to a draw of the prior at C. As λ → 0 it is Algorithm 2
//     with an exact factor. λ is the value for which the variances, given the
//     data, come closest to those of the exact GP at held-out points of the box.
//     The features J(x) S₀ are then scaled to the length √k(x,x): without data the
//     variance is the prior's everywhere, and the correlations are the network's.
//   - The mean is that of the linearised network, f(x,w*) + J(x) δ, where δ reads
//     out what training left of m at C. A prior too rough for the hidden layers to
//     follow in the given steps is then still honoured as far as the tangent
//     kernel reaches. Up to 1000 observations, where this is more than a tenth of a
//     standard deviation from the process's mean at held-out points and that of the
//     scaled features given the data is nearer, the latter is taken: mostly in many
//     inputs. A warning says when it is far off, too.
//   - Inputs are scaled to the prior's lengthscales, and hidden biases start
//     spread over the scaled box instead of at 0.
//   - C is a Halton set in the box plus a small margin, moved to the density of
//     Chebyshev's nodes: a network extrapolates towards faces and vertices.
//   - From 1001 observations on, where the process that the network aims at leaves
//     errors larger than the noise, Algorithm 1 goes on with all of them.
//
// # Labels
//
// [Model.FitLabels] has the likelihood of labels in place of the Gaussian one, and a
// network for each latent function where the authors have one with an output for each
// class.
package fsplaplace
