// Package classify is what the classifiers share: likelihoods of labels, Laplace's
// approximation of latent Gaussian processes given labels (Rasmussen and Williams
// 2006, chapter 3, called RW), the fit of a prior to labels, and probabilities
// with the latent functions integrated out.
//
// There are L latent functions, one for two classes and else one for each class,
// independent before data. Values at n points are the rows of an L×n matrix. The
// curvature of the likelihood at a point is
//
//	W = D - ππᵀ,  D = diag(π)
//
// of the probabilities π of the classes, or W = D = π(1-π) for L = 1.
package classify
