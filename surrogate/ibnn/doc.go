// Package ibnn is the Bayesian neural network of infinite width: a Gaussian
// process whose kernel is the covariance of a ReLU network with independent
// Gaussian weights as its layers grow wide (Neal 1996; Lee et al. 2018), fitted
// exactly as in package gp.
//
// With weights of variance σ_w²/fan-in, biases of variance σ_b² and L hidden layers
// (Cho and Saul 2009; Lee et al. 2018, eq. 11)
//
//	k⁰(x,x')   = σ_b² + σ_w² x·x'/d
//	kˡ⁺¹(x,x') = σ_b² + σ_w²/2π √(kˡ(x,x)kˡ(x',x')) (sin t + (π-t) cos t)
//	cos t      = kˡ(x,x')/√(kˡ(x,x)kˡ(x',x'))
//
// The defaults are those of Li, Rudner and Wilson (2024): L = 3, σ_w² = 10,
// σ_b² = 1.3, fixed, with the mean and the noise learned. Noise has the prior of
// package prior and not their Gamma(1.1, 0.05).
package ibnn
