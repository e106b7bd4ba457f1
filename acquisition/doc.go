// Package acquisition decides where to evaluate next. A recipe (EI, LogEI, PI,
// LCB, MES, Thompson, QEI, QLogEI, LogNEI, Auto) becomes, with a posterior, a Function of a
// candidate; Maximize finds its maximum in a Domain; Suggest does both for one
// point or a batch.
//
// The objective f is minimised and a larger acquisition is better. Inputs are
// encoded points of the unit cube, outputs are in the units of the posterior;
// tolerances are chosen for outputs standardised to unit variance. In formulas μ
// and s are mean and standard deviation of the latent f at x, Φ and φ the normal
// distribution and density, and z = (best - μ)/s.
//
// Points that are being evaluated already (pending) count as if their
// predicted means had been observed in the closed-form recipes, and as part of
// the joint sample in QEI, QLogEI and LogNEI.
package acquisition
