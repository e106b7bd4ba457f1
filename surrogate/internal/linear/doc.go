// Package linear implements Bayesian linear regression on a finite basis of functions, as
// a surrogate.Posterior.
//
// With f(x) = m(x) + φ(x)ᵀw, w ~ N(0, I) of F entries, y = f(x) + N(0, σ²), Φ = φ(X)
// and r = y - m(X) the posterior is exact (Bishop 2006, eq. 3.53 and 3.54):
//
//	A = I + ΦᵀΦ/σ²,  w ~ N(A⁻¹Φᵀr/σ², A⁻¹)
//	mean(x) = m(x) + φ(x)ᵀA⁻¹Φᵀr/σ²,  cov(x,x') = φ(x)ᵀA⁻¹φ(x')
package linear
