// Package laplace implements the linearised Laplace approximation of a Bayesian neural
// network with an isotropic Gaussian prior on its weights.
//
// The network f(x,w) is trained to a maximum w* of the posterior under w ~ N(0, I/δ) and
// y = f(x,w) + N(0, σ²). A Gaussian with the generalised Gauss–Newton curvature at w*
// (MacKay 1992) approximates the posterior of the weights. The linearised network maps
// it to functions (Khan et al. 2019; Immer, Korzepa and Bauer 2021, eq. 6):
//
//	mean(x)   = f(x,w*)
//	cov(x,x') = J(x) Σ J(x')ᵀ,  Σ = (δI + JᵀJ/σ²)⁻¹,  J = ∂f/∂w at w*
//
// In turns with training, δ and σ² maximise Laplace's approximation of log p(y) (Immer et
// al. 2021, eq. 5) plus weak log priors: LogNormal(0, 2) on 1/δ, and the prior of the
// Gaussian process on σ². Up to 1000 observations the result has the largest log p(y) of two
// trainings.
//
// # Curvature
//
//   - "full" is JᵀJ. With no more observations than weights it is used in the dual form
//     Σ = (I - Jᵀ(JJᵀ + δσ²I)⁻¹J)/δ (Immer, Korzepa and Bauer 2021, section 3.3). This form needs the empirical
//     tangent kernel JJᵀ but no Jacobian. With more observations it is a matrix of all weights.
//   - "kron" is block-diagonal over layers, with a Kronecker product in each block (K-FAC;
//     Ritter, Botev and Barber 2018).
//   - "diagonal" is the diagonal of JᵀJ.
//
// # Differences from published code
//
// laplace-torch fits δ once after training and, as used by Li et al. (2024), has σ = 1 on
// unscaled targets. In its K-FAC a bias has its own block; here it shares the block of the
// weights. Up to 1000 observations the network is trained by Levenberg–Marquardt steps in
// the dual. Inputs are scaled to [-√3, √3], and the mean of the targets is subtracted
// before training. The preset surrogate.Published restores the baseline of Cinquin et al.
// (2024, arXiv:2407.13711).
//
// [Model.FitLabels] fits labels instead of numbers.
package laplace
