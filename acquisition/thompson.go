package acquisition

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// Thompson is Thompson sampling: minus a function drawn from the posterior (Thompson
// 1933). Each point of a batch has its own draw, and the value of a batch is their sum.
// Pending points are not used: different draws keep the points of a batch apart.
type Thompson struct{}

// Build draws q functions and returns minus their sum.
func (Thompson) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkPlain("Thompson"); err != nil {
		return nil, err
	}
	return &drawn{p.Posterior.Paths(q, rng), p.Posterior.Dim()}, nil
}

type drawn struct {
	paths []surrogate.Path
	d     int
}

func (f *drawn) Dim() int { return len(f.paths) * f.d }

func (f *drawn) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	m := len(value)
	clear(value)
	v, at := make([]float64, m), mat.NewDense(m, f.d, nil)
	var g *mat.Dense
	if grad != nil {
		g = mat.NewDense(m, f.d, nil)
	}
	for k, path := range f.paths {
		for i := range m {
			copy(at.RawRowView(i), x.RawRowView(i)[k*f.d:])
		}
		path.Eval(v, g, at)
		for i := range m {
			value[i] -= v[i]
			if grad == nil {
				continue
			}
			dst := grad.RawRowView(i)[k*f.d:]
			for j, w := range g.RawRowView(i) {
				dst[j] = -w
			}
		}
	}
}
