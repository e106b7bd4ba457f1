// Package specfn has the special functions of acquisition functions and classifiers.
//
// Functions of the normal distribution are accurate far into both tails: values and
// derivatives have relative errors below 1e-13 (below 1e-15 for most), or absolute
// errors of 2e-16 near a zero of a logarithm. The mean of the logistic function under a
// normal distribution has a relative error below 1e-9.
package specfn
