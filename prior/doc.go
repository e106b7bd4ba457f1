// Package prior states beliefs about functions: kernels, mean functions and
// hyper-priors, fitted to data by marginal likelihood.
package prior
