// Package regression computes the evidence of Bayesian linear regression on a basis of functions, and its derivatives
// with respect to the basis. Package surrogate/linear has the posterior.
//
// With f(x) = φ(x)ᵀw, w ~ N(0, I) and y = f(x) + N(0, σ²) the evidence is log N(y; 0, ΦΦᵀ + σ²I), Φ = φ(X).
package regression
