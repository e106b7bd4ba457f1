// Package acquisition chooses the next points to evaluate. An Acquisition (EI, LogEI,
// PI, LCB, MES, Thompson, QEI, QLogEI, LogNEI, LogNEHVI, LogNParEGO, Auto) turns
// posteriors into a Function of a candidate. Maximize searches a Domain for the maximum of a Function.
// Suggest does both for one point or a batch.
//
// The objective f is minimised, and acquisition functions are maximised. Inputs are
// encoded points of the unit cube, outputs have the units of the posterior;
// tolerances suit outputs standardised to unit variance. In formulas μ and s are the posterior mean and
// standard deviation of the latent f at x, and z = (best - μ)/s. Φ and φ are the normal distribution and
// density.
//
// The closed-form acquisition functions treat pending points as observed at their
// posterior means. The others but Thompson include pending points in the joint sample.
//
// While no evaluated point is feasible, Problem.Best is +Inf. LogEI, PI, LogNEI, QLogEI, LogNEHVI and
// LogNParEGO are then the log probability that one of the candidate's points or a pending point is feasible. It
// is Σ_c log Φ((bound_c-μ_c)/s_c) for one point without pending points. Otherwise it is a mean over joint
// samples of the constraints, for one point at most 64, with smooth indicators of feasibility: log step has
// tails that decay like 1/u², and fatmax is the maximum of QLogEI.
package acquisition
