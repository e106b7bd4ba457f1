package surrogatetest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

// checkPaths checks that the value of a path at a point never changes and does not depend on
// the other points. It also checks that the gradient is the derivative of the value.
func checkPaths(s *suite) error {
	const n, m = 3, 5
	paths := s.post.Paths(n, random.New(6, "paths", 0))
	again := s.post.Paths(n, random.New(6, "paths", 0))
	if len(paths) != n || len(again) != n {
		return fmt.Errorf("%d paths, want %d", len(paths), n)
	}
	if none := s.post.Paths(0, random.New(6, "paths", 0)); len(none) != 0 {
		return fmt.Errorf("%d paths, want 0", len(none))
	}
	x := points(m, 2)
	sd := scale(s.post, x)
	for i, p := range paths {
		value := evaluate(p, x)
		if err := errors.Join(
			identical("a path evaluated twice", evaluate(p, x), value),
			identical("a path drawn again from the same stream", evaluate(again[i], x), value),
		); err != nil {
			return err
		}
		for r := range m {
			if err := near("a path at one row alone", evaluate(p, rowsOf(x, r)), value[r:], s.Tol*sd); err != nil {
				return err
			}
		}

		at := points(2, 2)
		v, grad := make([]float64, 2), mat.NewDense(2, 2, nil)
		p.Eval(v, grad, at)
		if err := errors.Join(
			near("value beside the gradient of a path", v, evaluate(p, at), s.Tol*sd),
			differences(fmt.Sprintf("path %d", i), func(x *mat.Dense) []float64 { return evaluate(p, x) }, at, grad, s.GradTol),
		); err != nil {
			return err
		}
	}
	return nil
}

// checkPathMoments compares the mean and covariance of many paths with Joint. It allows
// five standard errors, estimated from the sample.
func checkPathMoments(s *suite) error {
	const m, errorsAllowed = 6, 5
	n := 2000
	if s.Fast {
		n = 500
	}
	x := pairs(m, 2)
	mean, cov := joint(s.post, x)
	draws := mat.NewDense(n, m, nil)
	for i, p := range s.post.Paths(n, random.New(7, "moments", 0)) {
		for j, v := range evaluate(p, x) {
			draws.Set(i, j, v-mean[j])
		}
	}
	agree := func(what string, want, unit float64, f func(r []float64) float64) error {
		var sum, square float64
		for i := range n {
			v := f(draws.RawRowView(i)) - want
			sum += v
			square += v * v
		}
		got := sum / float64(n)
		stderr := math.Sqrt(max(square/float64(n)-got*got, 0) / float64(n))
		if allowed := errorsAllowed*stderr + s.PathTol*unit; !(math.Abs(got) <= allowed) {
			return fmt.Errorf("%s of %d paths differs by %v from Joint's %v; allowed is %v", what, n, got, want, allowed)
		}
		return nil
	}
	for a := range m {
		sda := math.Sqrt(cov.At(a, a))
		if err := agree(fmt.Sprintf("mean[%d]", a), 0, sda, func(r []float64) float64 { return r[a] }); err != nil {
			return err
		}
		for b := range a + 1 {
			unit := sda * math.Sqrt(cov.At(b, b))
			if err := agree(fmt.Sprintf("covariance[%d,%d]", a, b), cov.At(a, b), unit, func(r []float64) float64 { return r[a] * r[b] }); err != nil {
				return err
			}
		}
	}
	return nil
}
