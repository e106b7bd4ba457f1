package acquisition

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Logarithmic is an Acquisition whose functions are logarithms, to which Problem.LogWeight
// can be added.
type Logarithmic interface {
	Acquisition
	IsLogarithm()
}

// IsLogarithm implements Logarithmic.
func (LogEI) IsLogarithm() {}

// IsLogarithm implements Logarithmic.
func (PI) IsLogarithm() {}

// IsLogarithm implements Logarithmic.
func (QLogEI) IsLogarithm() {}

// IsLogarithm implements Logarithmic.
func (LogNEI) IsLogarithm() {}

// IsLogarithm implements Logarithmic.
func (LogNEHVI) IsLogarithm() {}

// IsLogarithm implements Logarithmic.
func (LogNParEGO) IsLogarithm() {}

// Function returns the function that Suggest maximises: a.Build for p with its Baseline and q points, plus p.LogWeight at
// each point. The errors are the errors of Build. The error also wraps ErrProblem if a or p.Posterior is nil, q
// is below 1, or the function is not of q points. So it does if p has a LogWeight and a is not Logarithmic.
func (p Problem) Function(ctx context.Context, a Acquisition, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkParts(a, q); err != nil {
		return nil, err
	}
	p, err := p.compared()
	if err != nil {
		return nil, err
	}
	f, err := a.Build(ctx, p, q, rng)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("%w: Build of %T returned neither a function nor an error", ErrProblem, a)
	}
	if got, d := f.Dim(), p.Posterior.Dim(); got != q*d {
		return nil, fmt.Errorf("%w: the function of %T has %d coordinates, want %d·%d for %d points of %d inputs", ErrProblem, a, got, q, d, q, d)
	}
	return p.weigh(a, f)
}

// checkParts returns an error that wraps ErrProblem unless there are an acquisition function, a posterior and at least
// one point to choose.
func (p Problem) checkParts(a Acquisition, q int) error {
	switch {
	case a == nil:
		return fmt.Errorf("%w: no acquisition function", ErrProblem)
	case p.Posterior == nil:
		return fmt.Errorf("%w: no posterior", ErrProblem)
	case q < 1:
		return fmt.Errorf("%w: %d points to suggest, want at least 1", ErrProblem, q)
	}
	return nil
}

// weigh adds p.LogWeight at each of the q points of a candidate to f.
func (p Problem) weigh(a Acquisition, f Function) (Function, error) {
	if p.LogWeight == nil {
		return f, nil
	}
	if _, ok := a.(Logarithmic); !ok {
		return nil, fmt.Errorf("%w: %T cannot be weighed: use logei, lognei, qlogei or pi", ErrProblem, a)
	}
	return weighted{f, p.LogWeight}, nil
}

type weighted struct {
	Function
	weight Function
}

func (f weighted) Eval(value []float64, grad, x *mat.Dense) {
	f.Function.Eval(value, grad, x)
	m, n := x.Dims()
	d := f.weight.Dim()
	w := make([]float64, m)
	for lo := 0; lo < n; lo += d {
		part := mat.DenseCopyOf(x.Slice(0, m, lo, lo+d))
		var g *mat.Dense
		if grad != nil {
			g = mat.NewDense(m, d, nil)
		}
		f.weight.Eval(w, g, part)
		for i := range m {
			value[i] += w[i]
			if grad != nil {
				floats.Add(grad.RawRowView(i)[lo:lo+d], g.RawRowView(i))
			}
		}
	}
}
