// Package fsplaplace implements FSP-Laplace (Cinquin et al., NeurIPS 2024,
// arXiv:2407.13711), the function-space Laplace approximation of a Bayesian neural
// network with a Gaussian-process prior.
//
// A network f(·,w): R^d → R with p weights is given a prior on functions,
// f ~ GP(μ, k), rather than on weights. The kernel k, the constant μ and the
// noise variance σ² are fitted first, by marginal likelihood (package prior).
//
// Training (Algorithm 1 of the paper) finds the weights w* that minimise
//
//	R(w) = Σ_i (y_i - f(x_i,w))²/(2σ²) + ½ (f(C,w) - μ)ᵀ K⁻¹ (f(C,w) - μ),  K = k(C,C)
//
// at context points C, which cover the box of later predictions.
//
// The posterior of the weights (Algorithm 2) is Gaussian, N(w*, S Sᵀ). The linearised
// network maps it to functions:
//
//	mean(x) = f(x,w*),  cov(x,x') = J(x) S Sᵀ J(x')ᵀ,  J = ∂f/∂w at w*.
//
// # Differences from the paper by default
//
// The preset surrogate.Published of [Model] restores the algorithms of the paper.
// docs/methods/fsp-laplace.md lists what remains different.
//
//   - The training inputs belong to C. The objective is then quadratic in f(C),
//     ½ (f(C,w) - m)ᵀ V⁻¹ (f(C,w) - m) + const. Here m and V are the mean and covariance of the exact GP
//     posterior at C. Levenberg–Marquardt steps in the |C|-dimensional dual lower it, at most 25 by default.
//     They need the empirical tangent kernel Θ = J Jᵀ, but no Jacobian.
//   - S comes from a ridge-regularised solve, S₀ = J(C)ᵀ (Θ + λI)⁻¹ L with L Lᵀ = K: a
//     function J S₀ ε with ε ~ N(0,I) is a ridge regression of the network on a draw of
//     the prior at C. As λ → 0 it is Algorithm 2 with an exact factor. λ minimises the
//     divergence of the variances given the data from the variances of the exact GP at
//     held-out points of the box. The features J(x) S₀ are then scaled to the length
//     √k(x,x): without data the variance is the prior's everywhere, with the network's
//     correlations.
//   - The mean is the mean of the linearised network, f(x,w*) + J(x) δ, where J(C) δ
//     approximates the remaining difference m - f(C,w*). This corrects the mean for
//     priors too rough for the given training steps, as far as the tangent kernel
//     permits. Up to 1000 observations the mean of the scaled features given the data may
//     replace this mean. It does if at held-out points the mean is more than a tenth of a standard deviation
//     from the process's mean. The features' mean must also be nearer. This happens mostly with many inputs. A
//     warning reports a mean that remains far off.
//   - Inputs are scaled to the prior's lengthscales. Hidden biases start spread over the
//     scaled box instead of at 0.
//   - C is a Halton set in the box and a small margin. It has the density of Chebyshev's nodes, because a
//     network extrapolates near faces and vertices.
//   - From 1001 observations on, Algorithm 1 continues with all observations if the
//     target process leaves errors larger than the noise.
//
// # Labels
//
// [Model.FitLabels] replaces the Gaussian likelihood by the likelihood of labels. Each
// latent function has its own network; the authors use one network with an output for
// each class.
package fsplaplace
