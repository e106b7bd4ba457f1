// Package gwi implements Gaussian Wasserstein inference in function spaces (Wild, Hu and
// Sejdinovic, NeurIPS 2022): a variational Gaussian process with the covariance of a
// sparse process and a mean of the same or another kind. Its loss contains the
// Wasserstein-2 distance to the prior.
//
// The prior is f ~ GP(μ, k) with observation noise σ². With m inducing points Z and
// k_Z(x) = k(Z,x) the variational process is GP(m_Q, r), with (eq. 18)
//
//	r(x,x') = k(x,x') - k_Z(x)ᵀk(Z,Z)⁻¹k_Z(x') + k_Z(x)ᵀΣ k_Z(x')
//
// and as m_Q either μ + βᵀk_Z(x), [SVGP] (eq. 17), or a network, [Net]. It minimises
// the generalised loss (eq. 12 and 13)
//
//	Σ_i [ ½ log 2πσ² + ((y_i - m_Q(x_i))² + r(x_i,x_i))/(2σ²) ] + W₂(Q, P)
//
// by Adam. W₂ is the distance between the Gaussian distributions of the functions at M points C in the norm
// |f|² = 1/M Σ f(c)² (eq. 14 and 15). With K = k(C,C) and R = r(C,C),
//
//	W₂² = 1/M [ |m_Q(C) - μ|² + tr K + tr R - 2 tr (K^½ R K^½)^½ ]
//
// # Variables
//
// Let L Lᵀ = k(Z,Z), w(x) = L⁻¹k_Z(x), W = w(X) and L_B L_Bᵀ = B = I + WWᵀ/σ². Training adapts T in
// Σ = L⁻ᵀL_B⁻ᵀ T Tᵀ L_B⁻¹L⁻¹ and a in β = L⁻ᵀL_B⁻ᵀa. Both start at the optimum of Titsias (2009), T = I and
// a = L_B⁻¹W(y-μ)/σ². For Z = X this is the posterior of the exact process.
//
// # Differences from the authors' code
//
//   - Prior, noise variance and inducing points come from a fit of package svgp to all
//     data. The authors fit an exact process to the data at the inducing points.
//   - All four terms of the distance use the same points. It is then the distance between
//     two Gaussians, never negative, with the trace of a symmetric matrix. With X_S = X
//     eq. 15 is the same number.
//   - Half of the M points are drawn from the search box. With the data alone the loss
//     does not determine m_Q elsewhere.
//   - The network starts at the sparse mean and takes few steps. The loss hardly penalises
//     rough means: the squared distance contains the mean of (m_Q-μ)² once, and the
//     likelihood the mean squared error of the data n/(2σ²) times. Long training therefore
//     overfits. The authors stop by validation; here held-out observations stop training
//     early on request.
//   - The temperature is the best one for held-out data instead of the best of a grid. The
//     final fit then uses all data.
//   - The initial Σ contains the noise variance instead of the output scale of the
//     authors' code. The network has no batch normalisation.
//
// With the preset "published" of [Options] the prior is fitted to the observations at √n inducing
// points. Training minimises the loss with the distance of eq. 14 and 15 over Λ in Σ = ΛΛᵀ and β or the
// weights. It starts at β = 0 or random weights, and held-out observations choose the result.
package gwi
