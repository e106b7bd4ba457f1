// Package inducing implements the posterior of a Gaussian process with a given Gaussian
// distribution of its values at m inducing points Z.
//
// With L Lᵀ = k(Z,Z) and w(x) = L⁻¹k(Z,x) the values are f(Z) = μ + L v, v ~ N(0,I) a
// priori. The posterior has q(v) = N(m, S) and, given f(Z), the conditional distribution
// of the prior (Titsias 2009).
package inducing
