package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// newOutputScale returns the scaling of the targets: none for "raw", and for "zscore" to mean 0 and standard deviation 1, of
// the half with smaller errors if there are standard errors.
func newOutputScale(how string, y, errors []float64) surrogate.Standardization {
	if how == "raw" {
		return surrogate.Standardization{Mean: 0, SD: 1}
	}
	return surrogate.StandardizeNoisy(y, errors)
}

// farFromStandard returns a warning about targets whose scale does not fit the
// default priors.
func farFromStandard(y []float64) []string {
	const far = 1e3
	z := surrogate.Standardize(y)
	if z.SD <= far && z.SD >= 1/far && math.Abs(z.Mean) <= far*max(1, z.SD) {
		return nil
	}
	return []string{fmt.Sprintf("targets of mean %.2g and standard deviation %.2g do not fit the priors, the fit may be poor: use --outputs zscore", z.Mean, z.SD)}
}

// box returns the least and greatest value of each column over both matrices.
func box(a, b *mat.Dense) (lo, hi []float64) {
	var all mat.Dense
	all.Stack(a, b)
	return surrogate.Dataset{X: &all}.Box()
}
