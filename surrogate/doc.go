// Package surrogate defines what the rest of the module asks of a probabilistic
// model of a function: a Model is fitted to a Dataset and gives a Posterior.
package surrogate
