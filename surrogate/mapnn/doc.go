// Package mapnn implements a network trained to a maximum of the posterior of its
// weights (MAP). Its latent variance is 0, and only the noise variance is positive.
//
// The weights minimise |y - f(X,w)|²/(2σ²) + ½δ|w|². The precision δ of their prior and the noise variance σ²
// maximise Laplace's approximation of the marginal likelihood (MacKay 1992), as in package laplace. Either may
// be fixed instead.
//
// The method is a baseline without uncertainty of the function: an acquisition function
// depends on the mean only.
//
// Users call the method "map". The package has another name because map is a keyword of
// Go.
package mapnn
