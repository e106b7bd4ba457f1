// Package svgp implements sparse variational Gaussian-process regression with m
// inducing points Z. It costs O(nm²) instead of the O(n³) of package gp.
//
// Let f ~ GP(μ, k), y = f(x) + N(0, σ²), L Lᵀ = k(Z,Z) and w(x) = L⁻¹k(Z,x). The values at Z are f(Z) = μ + L v
// with v ~ N(0,I) a priori. The approximate posterior has v ~ N(m, S) and, given f(Z), the conditional
// distribution of the prior:
//
//	mean(x)   = μ + w(x)ᵀm
//	cov(x,x') = k(x,x') - w(x)ᵀw(x') + w(x)ᵀS w(x')
//
// # Collapsed bound
//
// With W = w(X), r = y-μ and B = I + WWᵀ/σ², the best q is m = B⁻¹Wr/σ², S = B⁻¹. There the bound on log p(y)
// is (Titsias 2009, eq. 9 and 10)
//
//	log N(y; μ, WᵀW + σ²I) - (1/2σ²) Σ_i (k(x_i,x_i) - |w(x_i)|²)
//
// L-BFGS maximises the bound plus the log hyperpriors of package prior over the
// kernel's hyperparameters and σ², and over Z on request. μ is the
// generalised-least-squares mean. With Z = X the bound is the log marginal likelihood
// and the posterior is exact.
//
// # Minibatches
//
// In the bound of Hensman, Fusi and Lawrence (2013, eq. 4) q is a variable, and the
// bound is a sum over observations:
//
//	n/b Σ_batch [ log N(y_i; μ + w_iᵀm, σ²) - (k_ii - |w_i|² + w_iᵀS w_i)/2σ² ] - KL(N(m,S) ‖ N(0,I))
//
// q starts at its optimum and takes natural-gradient steps of length b/n (their eq. 10,
// in the whitened v). Adam moves the other variables. At the end one pass over all data
// sets q to its optimum.
//
// # Differences from the papers' code
//
// The hyperparameters start from a fit by exact marginal likelihood to a random subset.
// Inducing points are k-means centres in units of the fitted prior, or the points of
// largest remaining variance (pivoted Cholesky; Burt, Rasmussen and van der Wilk 2020).
// The variable v is whitened, so that q changes with the kernel.
package svgp
