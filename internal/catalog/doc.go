// Package catalog names the surrogates, acquisition functions and kernels that
// the command offers.
package catalog
