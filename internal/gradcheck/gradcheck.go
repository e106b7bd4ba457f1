// Package gradcheck compares analytic derivatives with central differences. Every
// hand-written derivative of the module is tested with it.
package gradcheck

import (
	"fmt"
	"math"
)

// Gradient returns an error if grad differs from the central differences of f at x by
// more than tol·(1 + |difference|) in any coordinate. The differences are
// Richardson-extrapolated; their error is about 1e-10 for a smooth f of unit scale.
// Gradient restores x.
func Gradient(f func(x []float64) float64, x, grad []float64, tol float64) error {
	if len(x) != len(grad) {
		return fmt.Errorf("gradient has length %d, want %d", len(grad), len(x))
	}
	for i := range x {
		got, want := grad[i], derivative(f, x, i)
		if math.IsInf(want, 0) || !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
			return fmt.Errorf("∂f/∂x[%d] is %.12g, central difference %.12g", i, got, want)
		}
	}
	return nil
}

func derivative(f func(x []float64) float64, x []float64, i int) float64 {
	at := x[i]
	defer func() { x[i] = at }()
	h := 1e-3 * max(1, math.Abs(at))
	diff := func(h float64) float64 {
		x[i] = at + h
		up := f(x)
		x[i] = at - h
		return (up - f(x)) / (2 * h)
	}
	d1, d2, d3 := diff(h), diff(h/2), diff(h/4)
	e1, e2 := (4*d2-d1)/3, (4*d3-d2)/3
	return (16*e2 - e1) / 15
}
