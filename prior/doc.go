// Package prior states beliefs about functions before data are seen: kernels,
// mean functions, hyper-priors, and how they are fitted to data.
//
// A [Kernel] is written as an expression that [Parse] reads ("rbf*periodic +
// linear") or built from the constructors ([RBF], [Matern52], [Sum], …). A
// [Process] is a kernel with a mean and a noise variance. A [Spec] is what a
// user states; [Spec.Fit] turns it into a Process by maximising the log
// marginal likelihood plus the log hyper-priors. [NewFeatures] and
// [Process.Draw] give whole functions drawn from a prior.
//
// Defaults suit inputs scaled to the unit cube and outputs standardised to mean
// 0 and variance 1.
package prior
