// Package inducing is a Gaussian process seen through its values at m inducing
// points Z, with any Gaussian distribution of these.
//
// With L Lᵀ = k(Z,Z) and w(x) = L⁻¹k(Z,x) the values are f(Z) = μ + L v, v ~ N(0,I)
// a priori; q(v) = N(m, S) takes the place of that, and everything else given f(Z)
// stays as in the prior (Titsias 2009).
package inducing
