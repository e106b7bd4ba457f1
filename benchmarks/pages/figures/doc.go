// Package figures draws the posteriors of all surrogates on one small dataset. It draws
// each beside the exact Gaussian process with the same prior and measures their distance.
// It also has two studies and the pictures of predictions on datasets.
//
// The data are 40 observations y = sin 2πx + 0.1ε of one input, uniform on [-1,-½] ∪ [½,1]. Papers on networks
// with function-space priors use such data. Kernel, lengthscale, output variance and noise variance are given
// and equal for surrogate and process, so the distance measures the posterior alone. Surrogates without a
// kernel share the noise variance.
//
// The distance of two posteriors is the Wasserstein-2 distance of their marginals at
// a point, as Gaussians,
//
//	√((m - m')² + (s - s')²)
//
// with means m and standard deviations s, averaged over a grid of [-2,2]. A seed
// determines the data, the random numbers of the fit and the drawn functions.
package figures
