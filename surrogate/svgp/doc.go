// Package svgp is Gaussian-process regression through m inducing points Z,
// for datasets too large for the exact one: O(nm²) instead of O(n³).
//
// With f ~ GP(μ, k), y = f(x) + N(0, σ²), L Lᵀ = k(Z,Z) and w(x) = L⁻¹k(Z,x),
// the values at Z are f(Z) = μ + L v with v ~ N(0,I) a priori. The posterior is
// approximated by v ~ N(m, S) and everything else given f(Z) by the prior:
//
//	mean(x)   = μ + w(x)ᵀm
//	cov(x,x') = k(x,x') - w(x)ᵀw(x') + w(x)ᵀS w(x')
//
// # Collapsed bound
//
// With W = w(X), r = y-μ and B = I + WWᵀ/σ², the best q is m = B⁻¹Wr/σ²,
// S = B⁻¹, at which the bound on log p(y) is (Titsias 2009, eq. 9 and 10)
//
//	log N(y; μ, WᵀW + σ²I) - (1/2σ²) Σ_i (k(x_i,x_i) - |w(x_i)|²)
//
// It is maximised, plus the log hyper-priors of package prior, over the kernel's
// hyper-parameters and σ², and over Z on request, by L-BFGS; μ is the
// generalised-least-squares mean. With Z = X the bound is the exact evidence and
// the posterior the exact one.
//
// # Minibatches
//
// The bound of Hensman, Fusi and Lawrence (2013, eq. 4) keeps q as a variable
// and is a sum over observations:
//
//	n/b Σ_batch [ log N(y_i; μ + w_iᵀm, σ²) - (k_ii - |w_i|² + w_iᵀS w_i)/2σ² ] - KL(N(m,S) ‖ N(0,I))
//
// q takes natural-gradient steps of length b/n (their eq. 10, in the whitened v)
// from its optimum at the start, the rest steps of Adam. At the end one pass over all data gives q its optimum.
//
// # What differs from the papers' code
//
// Start: hyper-parameters are first fitted by exact evidence to a random subset.
// Inducing points are k-means centres in units of the fitted prior, or the points
// of largest remaining variance (pivoted Cholesky; Burt, Rasmussen and van der
// Wilk 2020). The variable is whitened, so that q moves with the kernel.
package svgp
