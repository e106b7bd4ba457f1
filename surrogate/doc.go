// Package surrogate defines what the rest of the module asks of a probabilistic
// model of a function: a Model is fitted to a Dataset and gives a Posterior. A
// Classifier is fitted to Labels and gives a ClassPosterior.
package surrogate
