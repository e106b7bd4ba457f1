// Package surrogate defines the interfaces of surrogate models, probabilistic models
// of a function: a Model is fitted to a Dataset and returns a Posterior, a
// Classifier is fitted to Labels and returns a ClassPosterior. Scaled converts
// between the user's units and a model's.
//
//	model := surrogate.Scaled{Model: gp.Model{}}
//	posterior, err := model.Fit(ctx, surrogate.Dataset{X: x, Y: y}, rand.New(rand.NewPCG(1, 2)))
//	mean, variance := make([]float64, m), make([]float64, m)
//	posterior.Predict(mean, variance, points) // m rows
//
// A study takes a Model in loop.Options. Package surrogatetest checks a Model of your own.
package surrogate
