// Package auto selects between the surrogate models gp and fsp-laplace by leave-one-out predictions.
//
// Both models are fitted when the number of observations n reaches a stage: 16, 24, 36, … With
// p(y_i | y_-i) the leave-one-out predictive density of observation i, and
//
//	δ_i = log p(y_i | y_-i) under fsp-laplace - log p(y_i | y_-i) under gp,  limited to ±3
//
// fsp-laplace replaces gp if Σδ is above two of its standard errors, √(n·var δ), and gp replaces
// fsp-laplace if it is below minus two. Otherwise the model of the previous stage stays, at first gp.
// Between stages only the selected model is fitted.
package auto
