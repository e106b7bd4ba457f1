package rff

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// basis is the linear.Basis of a constant mean and the features of a kernel.
type basis struct {
	prior.Features
	constant float64
}

func (b basis) Eval(mean []float64, phi, x *mat.Dense) {
	linalg.Fill(mean, b.constant)
	b.Features.Eval(phi, x)
}

func (b basis) EvalVJP(dx, x *mat.Dense, _ []float64, phibar *mat.Dense) {
	b.Features.EvalVJP(dx, x, phibar)
}

func (b basis) Path(w []float64) surrogate.Path {
	return prior.Function{Features: b.Features, Weights: w, Mean: b.constant}
}
