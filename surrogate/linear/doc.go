// Package linear makes a surrogate.Posterior of a feature map and a normal distribution of coefficients:
//
//	f(x) = m(x) + φ(x)·w,  w ~ N(μ, SSᵀ)
//	mean(x) = m(x) + φ(x)·μ,  cov(x,x') = φ(x)SSᵀφ(x')ᵀ
//
// A Basis has m and φ. [New] takes μ and S, for example of a variational or a Laplace approximation of the last layer of a
// network, or of an ensemble. [Regress] conditions w ~ N(0, I) of F entries on observations
// y = f(x) + N(0, σ²). With Φ = φ(X) and r = y - m(X) the result is exact (Bishop 2006, eq. 3.53 and 3.54):
//
//	A = I + ΦᵀΦ/σ²,  w ~ N(A⁻¹Φᵀr/σ², A⁻¹)
//
// A model of your own fits the parameters of its features, if there are any, and returns the result of New or Regress.
// A posterior with further methods embeds it.
package linear
