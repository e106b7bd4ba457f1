// Package gp implements Gaussian-process regression: the posterior of
//
//	f ~ GP(μ, k),  y = f(x) + ε,  ε ~ N(0, σ²)
//
// given n observations, by one Cholesky factor of K + σ²I (Rasmussen and
// Williams 2006, chapter 2). With more than [Model.Exact] observations the posterior is the
// fully independent training conditional with inducing points (Snelson and Ghahramani 2005).
//
// [Model.FitLabels] is classification with hyperparameters by Laplace's approximation (chapter 3) and a variational posterior.
package gp
