package gfsvi

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// newPosterior returns the linearised network with weights N(m, diag(s²) + UUᵀ). A prediction
// costs O(p(1+r)) per point.
func newPosterior(p *problem, v *variational.Gaussian, priorState []float64) *linearized.Posterior {
	return &linearized.Posterior{
		Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: v.M},
		Cov:     linearized.ByRoot{Root: covariance{v.Scales(), v.Ut}},
		Summary: summary.Summary{
			NoiseVariance: v.Noise(),
			Learned:       summary.EncodeState(priorState, v.Vector[:len(v.Vector)-1]),
			Parameters: append(summary.KernelHypers(p.process.Kernel),
				surrogate.Hyper{Name: "mean", Value: p.process.Mean},
				surrogate.Hyper{Name: "noise", Value: v.Noise()},
				surrogate.Hyper{Name: "weights", Value: float64(len(v.M))}),
		},
	}
}

// covariance is diag(s²) + UUᵀ, with the root (diag s, U).
type covariance struct {
	s  []float64
	ut *mat.Dense // Uᵀ; nil for rank 0
}

// Draw returns s∘ε + Uη, ε and η ~ N(0,I).
func (c covariance) Draw(rng *rand.Rand) []float64 {
	e := make([]float64, len(c.s))
	for k, s := range c.s {
		e[k] = s * rng.NormFloat64()
	}
	if c.ut != nil {
		r, _ := c.ut.Dims()
		for k := range r {
			linalg.Axpy(rng.NormFloat64(), c.ut.RawRowView(k), e)
		}
	}
	return e
}

// Features returns J∘s and JU.
func (c covariance) Features(j *mat.Dense) []*mat.Dense {
	phi := []*mat.Dense{j}
	if c.ut != nil {
		p := mat.NewDense(j.RawMatrix().Rows, c.ut.RawMatrix().Rows, nil)
		linalg.Mul(p, 1, linalg.N, j, linalg.T, c.ut, 0)
		phi = append(phi, p)
	}
	linalg.ScaleColumns(j, j, c.s)
	return phi
}

func (c covariance) Weights(phi []*mat.Dense) *mat.Dense {
	linalg.ScaleColumns(phi[0], phi[0], c.s)
	if c.ut != nil {
		linalg.Mul(phi[0], 1, linalg.N, phi[1], linalg.N, c.ut, 1)
	}
	return phi[0]
}
