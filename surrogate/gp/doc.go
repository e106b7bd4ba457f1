// Package gp implements exact Gaussian-process regression: the posterior of
//
//	f ~ GP(μ, k),  y = f(x) + ε,  ε ~ N(0, σ²)
//
// given n observations, by one Cholesky factor of K + σ²I (Rasmussen and
// Williams 2006, chapter 2).
//
// [Model.FitLabels] is classification by Laplace's approximation (chapter 3).
package gp
