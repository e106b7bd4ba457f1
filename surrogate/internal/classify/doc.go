// Package classify contains the common parts of classifiers. These are likelihoods of labels, Laplace's and the
// variational approximation of latent Gaussian processes given labels, and the fit of a prior to labels. It also computes
// probabilities with the latent functions integrated out. RW stands for Rasmussen and Williams (2006), chapter
// 3.
//
// There are L latent functions, independent a priori: one for two classes, else one for
// each class. Their values at n points are the rows of an L×n matrix. The curvature of the
// negative log likelihood at a point is
//
//	W = D - D11ᵀD/1ᵀD1
//
// with D = diag(π) for the probabilities π of the classes, or W = D = π(1-π) for L = 1. Other D define the
// curvature of the variational approximation.
package classify
