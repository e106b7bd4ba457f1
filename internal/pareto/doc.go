// Package pareto compares points of several objectives, all minimised: their Pareto
// front, the hypervolume that they dominate, and the region that they leave
// non-dominated as disjoint boxes.
//
// A point dominates another if it is no larger in any objective and smaller in at
// least one. A point with NaN neither dominates nor belongs to a front.
package pareto
