package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// An inputScale maps each input column x to (x - shift)/width.
type inputScale struct {
	shift, width []float64
}

// newInputScale fits the scaling named by how to the rows of x: "raw" leaves
// them, "unit" maps the range of each column to [0,1], "zscore" gives each
// column mean 0 and standard deviation 1. A constant column is only shifted.
func newInputScale(how string, x *mat.Dense) inputScale {
	n, d := x.Dims()
	s := inputScale{make([]float64, d), make([]float64, d)}
	column := make([]float64, n)
	for j := range d {
		s.width[j] = 1
		mat.Col(column, j, x)
		switch how {
		case "unit":
			lo, hi := column[0], column[0]
			for _, v := range column {
				lo, hi = min(lo, v), max(hi, v)
			}
			s.shift[j] = lo
			if hi > lo {
				s.width[j] = hi - lo
			}
		case "zscore":
			z := surrogate.Standardize(column)
			s.shift[j], s.width[j] = z.Mean, z.SD
		}
	}
	return s
}

// apply returns the scaled rows of x.
func (s inputScale) apply(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	scaled := mat.NewDense(n, d, nil)
	for i := range n {
		from, to := x.RawRowView(i), scaled.RawRowView(i)
		for j, v := range from {
			to[j] = (v - s.shift[j]) / s.width[j]
		}
	}
	return scaled
}

// newOutputScale is the scaling of the targets: "raw" leaves them, "zscore"
// gives them mean 0 and standard deviation 1.
func newOutputScale(how string, y []float64) surrogate.Standardization {
	if how == "raw" {
		return surrogate.Standardization{Mean: 0, SD: 1}
	}
	return surrogate.Standardize(y)
}

// farFromStandard returns a warning about targets of which no prior here thinks.
func farFromStandard(y []float64) []string {
	const far = 1e3
	z := surrogate.Standardize(y)
	if z.SD <= far && z.SD >= 1/far && math.Abs(z.Mean) <= far*max(1, z.SD) {
		return nil
	}
	return []string{fmt.Sprintf("the targets have mean %.2g and standard deviation %.2g, far from the 0 and 1 of the priors: --outputs zscore scales them", z.Mean, z.SD)}
}

// box returns the least and greatest value of each column over both matrices.
func box(a, b *mat.Dense) (lo, hi []float64) {
	var all mat.Dense
	all.Stack(a, b)
	return surrogate.Dataset{X: &all}.Box()
}
