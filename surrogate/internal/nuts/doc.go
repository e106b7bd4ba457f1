// Package nuts draws from a density by the no-U-turn sampler (Hoffman and Gelman
// 2014) in its multinomial form with the generalised criterion (Betancourt 2017,
// appendix A), and judges the draws of several chains.
//
// With the negative log density U, momenta p ~ N(0, M) and M⁻¹ the diagonal of
// variances found in warm-up, trajectories follow H(q,p) = U(q) + ½ pᵀM⁻¹p by the
// leapfrog rule. A trajectory doubles, forwards or backwards, until
//
//	ρ·v₋ ≤ 0  or  ρ·v₊ ≤ 0,   ρ = Σ p,  v = M⁻¹p at the two ends,
//
// for it, for a subtree, or for either half and the nearest point of the other. Of
// its points one is drawn with probabilities in proportion to e^{-H}. Step sizes come
// of dual averaging (Hoffman and Gelman 2014, eq. 6).
package nuts
