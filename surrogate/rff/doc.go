// Package rff implements Bayesian linear regression on F random features of a kernel
// (Rahimi and Recht 2007). It approximates a Gaussian process at a cost of O(nF²) for n
// observations, and its samples are functions in closed form.
//
// Let φ(x)ᵀφ(x') ≈ k(x,x'), f(x) = μ + φ(x)ᵀw, w ~ N(0, I) and y = f(x) + N(0, σ²). With Φ = φ(X) and r = y-μ
// the posterior is exact (Bishop 2006, eq. 3.53 and 3.54):
//
//	A = I + ΦᵀΦ/σ²,  w ~ N(A⁻¹Φᵀr/σ², A⁻¹)
//	mean(x) = μ + φ(x)ᵀA⁻¹Φᵀr/σ²,  cov(x,x') = φ(x)ᵀA⁻¹φ(x')
//
// prior.NewFeatures draws the features: Fourier features for stationary and periodic
// kernels, exact features for linear and polynomial kernels, a random ReLU network for
// arccos. The hyperparameters and μ belong to the exact process, fitted by marginal
// likelihood to at most 1000 random observations.
//
// The approximation has two known faults. If n is near F, the variance between
// observations is too small (variance starvation; Wang et al. 2018). Fourier features
// are nearly periodic far from the data.
package rff
