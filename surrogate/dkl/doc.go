// Package dkl implements deep kernel learning: Gaussian-process regression on the
// features g(x) that a neural network computes from the inputs (Wilson, Hu,
// Salakhutdinov and Xing 2016, eq. 5),
//
//	f ~ GP(μ, k(g(x), g(x'))),  y = f(x) + N(0, σ²)
//
// By default the features are the inputs plus the output of the network,
//
//	g_j(x) = x_j + ½ s_j Σ_i a_i(x) V_ij
//
// with a the last hidden layer and s_j the standard deviation of a uniform variable over
// side j of the dataset's box. For V = 0 the model is the process of package gp. With q
// separate features, as published, g(x) = V'a(x) in R^q.
//
// Weights, V and the kernel's hyperparameters θ minimise
//
//	-log N(y; μ, K + σ²I) - Σ log p(θ) + ½ λ (Σ_l h_{l-1}|W_l|² + Σ_l |b_l|² + h_D |V|²)
//
// with K = k(g(X), g(X)), μ at its generalised-least-squares value, and the priors of
// package prior on θ. Gradients are propagated through the Cholesky factor, the kernel
// and the network (their eq. 8 to 10). Given the features the posterior is exact.
//
// # Overfitting
//
// The marginal likelihood of a kernel with thousands of parameters does not prevent
// overfitting: it increases if inputs with similar outputs get similar features (Ober,
// Rasmussen and van der Wilk 2021). The Gaussian prior on the weights, of precision λ,
// pulls the features towards the inputs, at which training starts. With λ = 0 there is
// no such regularisation.
//
// # Many observations
//
// Beyond 500 observations training maximises the marginal likelihood of minibatches
// times n/b, by Adam. Beyond 1000 observations the process on the features is the sparse
// process of package svgp.
//
// # Differences from the paper
//
// The features of the paper are q outputs of a large network that is first trained on
// squared errors (features=2, hidden=1000,500,50, activation=relu, pretrain). Its kernel
// is interpolated on a grid, and its weights have no prior.
package dkl
