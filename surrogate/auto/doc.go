// Package auto selects between the surrogate models gp and fsp-laplace by their predictions of later
// observations.
//
// When the number of observations n reaches a stage, 16, 24, 36, …, both models are fitted to the first two
// thirds. They predict the others. With the predictive densities of the others,
//
//	δ_i = log p(y_i) under fsp-laplace - log p(y_i) under gp,  limited to ±3
//
// fsp-laplace replaces gp if Σδ is above 3 and above two of its standard errors. The standard error is
// √(m·var δ) for m predicted observations. If Σδ is below minus both, gp replaces fsp-laplace. Otherwise the
// model of the previous stage stays, at first gp. Then the selected model is fitted to all observations.
package auto
