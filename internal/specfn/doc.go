// Package specfn holds the special functions of the normal distribution that
// acquisition functions need, far into both tails: values and derivatives have
// relative errors below 1e-13 (below 1e-15 for most), or absolute ones of 2e-16
// where a logarithm passes through or tends to zero. The mean of the logistic
// function under a normal distribution, which classifiers need, is good to 1e-9.
package specfn
