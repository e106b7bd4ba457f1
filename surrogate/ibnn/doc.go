// Package ibnn implements the infinitely wide Bayesian neural network. It is a Gaussian process: the limit of a
// ReLU network with independent Gaussian weights as the widths of its layers tend to infinity (Neal 1996; Lee
// et al. 2018). Package gp computes its exact posterior.
//
// With weights of variance σ_w²/fan-in, biases of variance σ_b² and L hidden layers
// (Cho and Saul 2009; Lee et al. 2018, eq. 11)
//
//	k⁰(x,x')   = σ_b² + σ_w² x·x'/d
//	kˡ⁺¹(x,x') = σ_b² + σ_w²/2π √(kˡ(x,x)kˡ(x',x')) (sin t + (π-t) cos t)
//	cos t      = kˡ(x,x')/√(kˡ(x,x)kˡ(x',x'))
//
// The defaults follow Li, Rudner and Wilson (2024): L = 3, σ_w² = 10 and σ_b² = 1.3,
// fixed, with learned mean and noise variance. The noise variance has the
// prior of package prior instead of their Gamma(1.1, 0.05).
package ibnn
