// Package nuts draws from a density by the no-U-turn sampler (Hoffman and Gelman
// 2014), in its multinomial form with the generalised criterion (Betancourt 2017,
// appendix A). It also computes convergence diagnostics of several chains.
//
// U is the negative log density, the momenta are p ~ N(0, M), and M⁻¹ is the diagonal matrix of the variances
// in warm-up. Trajectories follow H(q,p) = U(q) + ½ pᵀM⁻¹p by the leapfrog rule. A trajectory doubles, forwards
// or backwards, until
//
//	ρ·v₋ ≤ 0  or  ρ·v₊ ≤ 0,   ρ = Σ p,  v = M⁻¹p at the two ends,
//
// holds for the trajectory, for a subtree, or for either half extended by the nearest
// point of the other half. A point of the trajectory is drawn with probability in
// proportion to e^{-H}. Dual averaging (Hoffman and Gelman 2014, eq. 6) adapts the step
// size.
package nuts
