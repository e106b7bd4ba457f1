package runner

import (
	"context"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// Prediction is a posterior at the rows of a table, training rows first, each group
// in the order of the table. Its numbers are in the units of the table, rounded to
// six digits.
type Prediction struct {
	Train int         `json:"train"` // rows
	X     [][]float64 `json:"x"`     // a column for each input shown
	Y     []float64   `json:"y"`     // observed
	Mean  []float64   `json:"mean"`  // mean of the latent function
	SD    []float64   `json:"sd"`    // standard deviation of the latent function, without noise
}

// prediction evaluates a posterior of standardised targets at all rows.
func (t *Table) prediction(ctx context.Context, p surrogate.Posterior, scale surrogate.Standardization, train, test []int) (*Prediction, error) {
	x, y := t.rows(append(append([]int(nil), train...), test...))
	mean, variance, err := predict(ctx, p, x)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Train: len(train), Y: y, Mean: mean, SD: variance}
	for i := range mean {
		mean[i] = sixDigits(scale.Invert(mean[i]))
		variance[i] = sixDigits(scale.SD * math.Sqrt(max(0, variance[i])))
	}
	for _, j := range t.Shown {
		column := mat.Col(nil, j, x)
		for i, v := range column {
			column[i] = sixDigits(v)
		}
		out.X = append(out.X, column)
	}
	return out, nil
}

func sixDigits(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return short
}
