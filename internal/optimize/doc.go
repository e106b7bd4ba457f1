// Package optimize minimises smooth functions in a box by L-BFGS-B, from one or many
// starts. Many starts advance together: each round evaluates the values and gradients
// of all starts in one call, so that a surrogate model evaluates a batch of points.
//
// The method is by Byrd, Lu, Nocedal and Zhu (1995). The generalised Cauchy point of a
// limited-memory quadratic model determines the active bounds. The model is minimised over
// the free variables, and a strong-Wolfe line search ends the iteration. The subspace
// minimiser is projected as in Morales and Nocedal (2011). An iteration costs O(mn + m³)
// besides the evaluations, for n variables and m stored pairs.
package optimize
