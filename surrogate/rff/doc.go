// Package rff is Bayesian linear regression on random features of a
// kernel (Rahimi and Recht 2007): a Gaussian process in a space of F functions,
// at O(nF²) for n observations, whose samples are whole functions at once.
//
// With φ(x)ᵀφ(x') ≈ k(x,x'), f(x) = μ + φ(x)ᵀw, w ~ N(0, I), y = f(x) + N(0, σ²),
// Φ = φ(X) and r = y-μ the posterior is exact (Bishop 2006, eq. 3.53 and 3.54):
//
//	A = I + ΦᵀΦ/σ²,  w ~ N(A⁻¹Φᵀr/σ², A⁻¹)
//	mean(x) = μ + φ(x)ᵀA⁻¹Φᵀr/σ²,  cov(x,x') = φ(x)ᵀA⁻¹φ(x')
//
// Features are those of prior.NewFeatures: Fourier features of stationary and
// periodic kernels, exact ones of linear and polynomial kernels, a random ReLU
// network for arccos. The hyper-parameters and μ are those of the exact process,
// fitted by evidence to at most 1000 random observations.
//
// Two things are known to go wrong. F features can bend in F places: with n near F
// the variance between observations is too small (variance starvation; Wang et al.
// 2018). And Fourier features repeat themselves far outside the data.
package rff
