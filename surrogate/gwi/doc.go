// Package gwi is Gaussian Wasserstein inference in function spaces (Wild, Hu and
// Sejdinovic, NeurIPS 2022): a Gaussian process with the covariance of a sparse
// variational one, and a mean of another kind on request, by a loss that holds it
// to the prior in the Wasserstein-2 distance.
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
// by Adam, where W₂ is that of the Gaussian measures on the functions at M points C
// in the norm |f|² = 1/M Σ f(c)² (eq. 14 and 15), with K = k(C,C), R = r(C,C):
//
//	W₂² = 1/M [ |m_Q(C) - μ|² + tr K + tr R - 2 tr (K^½ R K^½)^½ ]
//
// # Variables
//
// With L Lᵀ = k(Z,Z), w(x) = L⁻¹k_Z(x), W = w(X) and L_B L_Bᵀ = B = I + WWᵀ/σ²,
// training moves T in Σ = L⁻ᵀL_B⁻ᵀ T Tᵀ L_B⁻¹L⁻¹, and a in β = L⁻ᵀL_B⁻ᵀa. At T = I and
// a = L_B⁻¹W(y-μ)/σ² this is the optimum of Titsias (2009), where both start: with
// Z = X the posterior of the exact process.
//
// # What differs from the authors' code
//
//   - Prior, noise and inducing points are those of a fit of package sparsegp to
//     all data, not of an exact process at the inducing points.
//   - All four terms of the distance are taken at the same points, which makes it
//     that of two Gaussians, never below 0, and its trace that of a symmetric
//     matrix. With X_S = X eq. 15 is the same number.
//   - Half of those points are drawn from the box searched. At the data alone the
//     loss lets m_Q do what it likes elsewhere.
//   - The network starts at the sparse mean, and there are few steps. The loss is
//     nearly free of a penalty on rough means (it charges a squared norm once where
//     the data charge each error n/σ² times), and given time follows the noise.
//     The authors stop by validation; held-out observations do it here too, on
//     request.
//   - The temperature of held-out data is the best one instead of one of a grid,
//     and all data are fitted to once it is known.
//   - The start of Σ has the noise variance where the authors' code has the output
//     scale. The network has no batch normalisation.
package gwi
