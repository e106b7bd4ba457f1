// Package surrogate defines the interfaces of surrogate models, probabilistic models
// of a function: a Model is fitted to a Dataset and returns a Posterior, a
// Classifier is fitted to Labels and returns a ClassPosterior. Scaled converts
// between the user's units and a model's.
package surrogate
