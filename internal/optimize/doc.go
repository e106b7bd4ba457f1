// Package optimize minimises smooth functions in a box by L-BFGS-B, one start
// or many at a time. Many starts advance in step: each round asks for the values
// and gradients of all of them in one call, so that a model behind the function
// sees a batch of points.
//
// The method is that of Byrd, Lu, Nocedal and Zhu (1995): the generalised Cauchy
// point of a limited-memory quadratic model decides which bounds are active, the
// model is minimised over the free variables, and a strong-Wolfe line search
// ends the iteration. The subspace minimiser is projected as in Morales and
// Nocedal (2011). An iteration costs O(mn + m³) beside the evaluations, for n
// variables and m remembered pairs.
package optimize
