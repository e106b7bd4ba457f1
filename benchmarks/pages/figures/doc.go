// Package figures shows the posteriors of all surrogates on one small dataset,
// each beside the exact Gaussian process with the same prior, and measures how far
// apart the two are.
//
// The data are 40 observations y = sin 2πx + 0.1ε of one input, uniform on
// [-1,-½] ∪ [½,1], as in the papers on networks with priors over functions. Kernel,
// lengthscale, output variance and noise variance are given, and are the same for
// the surrogate and the process: what differs is the posterior alone. Surrogates
// without a kernel among their settings have the noise in common.
//
// The distance of two posteriors is the Wasserstein-2 distance of their marginals
// at a point, as Gaussians,
//
//	√((m - m')² + (s - s')²)
//
// with means m and standard deviations s, averaged over a grid of [-2,2]. Data,
// draws of surrogates and of functions follow from a seed.
package figures
