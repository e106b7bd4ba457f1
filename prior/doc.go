// Package prior defines Gaussian-process priors of functions: kernels, means,
// hyperpriors, and the fit of hyperparameters to data.
//
// A [Kernel] is written as an expression for [Parse] ("rbf*periodic + linear") or
// composed from constructors ([RBF], [Matern52], [Sum], …) or from a Go function of two
// points ([Pairwise]). A [Process] is a kernel with a mean and a noise variance. A
// [Spec] is a prior as users specify it; [Spec.Fit] turns it into a Process by
// maximising the log marginal likelihood plus the log hyperpriors. [NewFeatures] and [Process.Draw] draw functions from a prior.
//
// Defaults suit inputs scaled to the unit cube and targets standardised to mean 0
// and variance 1.
package prior
