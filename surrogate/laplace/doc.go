// Package laplace is the linearised Laplace approximation of a Bayesian neural
// network with an isotropic Gaussian prior on its weights.
//
// The network f(x,w) is trained to a maximum w* of the posterior under
// w ~ N(0, I/δ) and y = f(x,w) + N(0, σ²). There the posterior is replaced by a
// Gaussian with the generalised Gauss–Newton curvature (MacKay 1992), read
// through the linearised network (Khan et al. 2019; Immer, Korzepa and Bauer 2021,
// eq. 6):
//
//	mean(x)   = f(x,w*)
//	cov(x,x') = J(x) Σ J(x')ᵀ,  Σ = (δI + JᵀJ/σ²)⁻¹,  J = ∂f/∂w at w*
//
// δ and σ² maximise Laplace's approximation of log p(y) (Immer et al. 2021, eq. 5)
// plus weak log priors, in turns with training: LogNormal(0, 2) on 1/δ, and on σ²
// the prior of the Gaussian process.
//
// # Curvature
//
// "full" is JᵀJ itself: with no more observations than weights by the dual,
// Σ = (I - Jᵀ(JJᵀ + δσ²I)⁻¹J)/δ, which needs the empirical tangent kernel JJᵀ and
// never the Jacobian (Immer, Korzepa and Bauer 2021, section 3.3); else as a matrix
// of all weights. "kron" is block-diagonal over layers, a Kronecker product in each
// (K-FAC; Ritter, Botev and Barber 2018). "diagonal" is the diagonal of JᵀJ.
//
// # What differs from published code
//
// laplace-torch fits δ once after training and, as used by Li et al. (2024), keeps
// σ = 1 on unscaled targets; a bias is a block of its own in its K-FAC and shares
// the block of the weights here. Training is by Levenberg–Marquardt in the dual up
// to 1000 observations. Inputs are spread over [-√3, √3], and the mean of the
// targets is not the network's to learn.
//
// Labels in place of numbers: [Model.FitLabels].
package laplace
