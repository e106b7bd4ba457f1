// Package dkl is deep kernel learning: Gaussian-process regression on features
// that a neural network makes of the inputs (Wilson, Hu, Salakhutdinov and Xing
// 2016, eq. 5),
//
//	f ~ GP(μ, k(g(x), g(x'))),  y = f(x) + N(0, σ²)
//
// By default the features are the inputs and what a network adds to them, in units
// of half the standard deviation s_j that a uniform variable has over the box of
// the dataset,
//
//	g_j(x) = x_j + ½ s_j Σ_i a_i(x) V_ij
//
// with a the last hidden layer, so that V = 0 is the process of package gp. With q
// features of its own, as published, g(x) = V'a(x) in R^q.
//
// Weights, V and the kernel's hyper-parameters θ minimise
//
//	-log N(y; μ, K + σ²I) - Σ log p(θ) + ½ λ (Σ_l h_{l-1}|W_l|² + Σ_l |b_l|² + h_D |V|²)
//
// with K = k(g(X), g(X)), μ at its generalised-least-squares value, and the priors
// of package prior on θ. Gradients go through the Cholesky factor, the kernel and
// the network (their eq. 8 to 10). Given the features the posterior is exact.
//
// # Overfitting
//
// The evidence of a kernel with thousands of parameters no longer guards against
// overfitting: it rises by making all inputs alike that have like outputs (Ober,
// Rasmussen and van der Wilk 2021). Here λ, a Gaussian prior on the weights, holds
// the features at the inputs: training starts there, and moves on only as far as
// the evidence pays for it. λ = 0 takes the guard away.
//
// # Many observations
//
// Beyond 500 observations training maximises the evidence of minibatches times
// n/b, by Adam. Beyond 1000 the process on the features is that of package
// sparsegp.
//
// # What differs from the paper
//
// The features of the paper are q outputs of a large network trained in advance on
// squared errors (features=2, hidden=1000,500,50, activation=relu, pretrain), its
// kernel is interpolated on a grid, and nothing holds the weights.
package dkl
