package surrogatetest

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// checkDatasets fits degenerate datasets.
func checkDatasets(s *suite) error {
	one := surrogate.Dataset{X: mat.NewDense(1, 1, []float64{0.4}), Y: []float64{0.7}}
	duplicates := smooth(6, 2)
	duplicates.X = rowsOf(duplicates.X, 0, 1, 2, 3, 0, 0)
	duplicates.Y[4] = duplicates.Y[0]
	constant := smooth(5, 2)
	clear(constant.Y)
	flat := clone(duplicates)
	clear(flat.Y)

	type dataset struct {
		name string
		d    surrogate.Dataset
	}
	sets := []dataset{
		{"one observation", one},
		{"duplicate rows", duplicates},
		{"a constant target", constant},
		{"one input", smooth(8, 1)},
		{"five inputs", smooth(14, 5)},
	}
	if s.Fast {
		sets = []dataset{{"one observation of one input", one}, {"duplicate rows and a constant target", flat}, {"five inputs", smooth(14, 5)}}
	}
	for _, set := range sets {
		post, err := s.fit(clone(set.d))
		if err == nil {
			x := points(3, post.Dim())
			err = errors.Join(sane(post, set.d.X, x), jointAgrees(post, x, s.Tol), gradientAgrees(post, x, s.GradTol, s.Tol))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	if err := huge(s); err != nil {
		return fmt.Errorf("values of size 1e12: %w", err)
	}
	return nil
}

// huge fits values of size 1e12 by surrogate.Scaled. It checks that the predictions at the
// data have a smaller squared error than the mean of the values.
func huge(s *suite) error {
	d := clone(s.data)
	d.X.Scale(1e12, d.X)
	floats.Scale(1e12, d.Hi)
	for i := range d.Y {
		d.Y[i] = 1e12 * (5 + d.Y[i])
	}
	post, err := surrogate.Scaled{Model: s.model}.Fit(context.Background(), d, random.New(1, "surrogatetest", 0))
	if err != nil {
		return err
	}
	if err := sane(post, d.X); err != nil {
		return err
	}
	mean, _ := predict(post, d.X)
	var sum, total float64
	for i, y := range d.Y {
		sum += (mean[i] - y) * (mean[i] - y)
		total += (y - 5e12) * (y - 5e12)
	}
	if !(sum < total) {
		return fmt.Errorf("the squared error at the data is %.3g, the squared error of their mean %.3g", sum, total)
	}
	return nil
}
