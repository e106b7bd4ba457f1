package surrogate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// InputMap holds the affine map of each input between the user's units and a
// model's. Scaled makes its own; programs that scale the inputs of a Classifier use
// NewInputMap.
type InputMap []Standardization

// NewInputMap returns the maps of a scaling for the rows of x. Unit, or "", maps the box [lo, hi] to [0,1].
// ZScore gives each column of x mean 0 and standard deviation 1. Raw keeps the units. A column that does not
// vary keeps its scale. The error reports an unknown scaling or a range that is negative or not finite.
func NewInputMap(scaling Scaling, x *mat.Dense, lo, hi []float64) (InputMap, error) {
	if err := checkInput(scaling); err != nil {
		return nil, err
	}
	n, dim := x.Dims()
	m := make(InputMap, dim)
	for j := range m {
		switch scaling {
		case "", Unit:
			m[j] = Standardization{Mean: lo[j], SD: hi[j] - lo[j]}
			if m[j].SD == 0 {
				m[j].SD = 1
			}
		case ZScore:
			m[j] = Standardize(mat.Col(make([]float64, n), j, x))
		case Raw:
			m[j] = Standardization{SD: 1}
		}
		if !(m[j].SD > 0) || math.IsInf(m[j].SD, 0) {
			return nil, fmt.Errorf("surrogate: input %d cannot be scaled, its range is %v", j+1, m[j].SD)
		}
	}
	return m, nil
}

// Apply returns the rows of x in the model's units. It panics unless x has a column
// for each map.
func (m InputMap) Apply(x *mat.Dense) *mat.Dense {
	n, dim := x.Dims()
	if dim != len(m) {
		panic(fmt.Sprintf("surrogate: points have %d columns, want %d", dim, len(m)))
	}
	u := mat.NewDense(n, dim, nil)
	for i := range n {
		row := u.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = m[j].scale(v)
		}
	}
	return u
}
