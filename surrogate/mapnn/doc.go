// Package mapnn is a network trained to a maximum of the posterior (MAP), as a
// surrogate that knows noise only: the latent variance is 0.
//
// The weights minimise |y - f(X,w)|²/(2σ²) + ½δ|w|²; the precision δ of their prior
// and the noise variance σ² maximise Laplace's approximation of the evidence
// (MacKay 1992), as in package laplace, or are fixed. It is the baseline that shows
// what uncertainty of the function is worth: an acquisition function sees only the
// mean.
package mapnn
