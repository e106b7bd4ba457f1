// Package acquisition chooses the next points to evaluate. An Acquisition (EI, LogEI,
// PI, LCB, MES, Thompson, QEI, QLogEI, LogNEI, LogNEHVI, LogNParEGO, Auto) turns
// posteriors into a Function of a candidate. Maximize searches a Domain for the maximum of a Function.
// Suggest does both for one point or a batch.
//
// The objective f is minimised, and acquisition functions are maximised. Inputs are
// encoded points of the unit cube, outputs have the units of the posterior;
// tolerances suit outputs standardised to unit variance. In formulas μ and s are the
// posterior mean and standard deviation of the latent f at x, Φ and φ the normal
// distribution and density, and z = (best - μ)/s.
//
// The closed-form acquisition functions treat pending points as observed at their
// posterior means. The others but Thompson include pending points in the joint sample.
package acquisition
