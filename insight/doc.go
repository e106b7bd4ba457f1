// Package insight explains a study: its history, its surrogate model, the quality of the
// model, and the next point. Its functions take the trials of a study or a loop.View, the
// surrogate model fitted to them, and return plain data for tables and plots. The results
// encode to JSON.
//
// Values of the objective are in the user's units, and values of parameters as in
// space.Point. Means are posterior means; if the values were log transformed
// (loop.Options.Warp) they are posterior medians. Intervals are central. They describe the
// latent objective, without the noise of an observation, unless stated otherwise.
// Acquisition functions have units of the surrogate model, and larger is better.
//
// All functions are deterministic. In costs n is the number of observations, d the number of
// encoded coordinates and m the number of points; predictions of an exact Gaussian
// process at m points cost O(n²m).
package insight
