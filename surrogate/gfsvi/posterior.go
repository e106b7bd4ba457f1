package gfsvi

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// newPosterior is N(m, diag(s²) + UUᵀ) through the linearised network. A prediction
// costs O(p(1+r)) a point.
func newPosterior(p *problem, v *variational.Gaussian, priorState []float64) *linearized.Posterior {
	return &linearized.Posterior{
		Network: linearized.Network{Net: p.net, Inputs: p.inputs, W: v.M},
		Cov:     covariance{v.Scales(), v.Ut},
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

// covariance is diag(s²) + UUᵀ.
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

// At implements linearized.Covariance.
func (c covariance) At(tape *nn.Tape) linearized.Moments {
	m := moments{covariance: c, tape: tape, t: mat.NewDense(tape.Len(), tape.NumParams(), nil)}
	tape.Jacobian(m.t)
	if c.ut != nil {
		r, _ := c.ut.Dims()
		m.p = mat.NewDense(tape.Len(), r, nil)
		linalg.Mul(m.p, 1, linalg.N, m.t, linalg.T, c.ut, 0)
	}
	mulColumns(m.t, m.t, c.s)
	return m
}

// moments are TTᵀ + PPᵀ by the features T = J∘s and P = JU at the rows of a tape.
type moments struct {
	covariance
	tape *nn.Tape
	t, p *mat.Dense // p is nil for rank 0
}

// Variance implements linearized.Moments.
func (m moments) Variance(dst []float64) {
	clear(dst)
	addSquaredNorms(dst, m.t)
	if m.p != nil {
		addSquaredNorms(dst, m.p)
	}
}

// Joint implements linearized.Moments.
func (m moments) Joint(dst *mat.SymDense) {
	linalg.Syrk(dst, 1, linalg.N, m.t, 0)
	if m.p != nil {
		linalg.Syrk(dst, 1, linalg.N, m.p, 1)
	}
}

// VarianceVJP implements linearized.Moments.
func (m moments) VarianceVJP(dx *mat.Dense, bar []float64) {
	twice := make([]float64, len(bar))
	for i, b := range bar {
		twice[i] = 2 * b
	}
	mulRows(m.t, twice)
	if m.p != nil {
		mulRows(m.p, twice)
	}
	m.featuresVJP(dx, m.t, m.p)
}

// JointVJP implements linearized.Moments.
func (m moments) JointVJP(dx *mat.Dense, bar *mat.SymDense) {
	full := mat.NewDense(m.tape.Len(), m.tape.Len(), nil)
	full.Copy(bar)
	times := func(a *mat.Dense) *mat.Dense {
		if a == nil {
			return nil
		}
		out := mat.NewDense(a.RawMatrix().Rows, a.RawMatrix().Cols, nil)
		linalg.Mul(out, 2, linalg.N, full, linalg.N, a, 0)
		return out
	}
	m.featuresVJP(dx, times(m.t), times(m.p))
}

// featuresVJP adds to dx the gradient with respect to the network's inputs, given
// T̄ = t and P̄ = p. It overwrites t.
func (m moments) featuresVJP(dx, t, p *mat.Dense) {
	mulColumns(t, t, m.s)
	if p != nil {
		linalg.Mul(t, 1, linalg.N, p, linalg.N, m.ut, 1)
	}
	m.tape.JVPInputGradRows(dx, t)
}

// mulRows multiplies the rows of a by s.
func mulRows(a *mat.Dense, s []float64) {
	for i, v := range s {
		row := a.RawRowView(i)
		for j := range row {
			row[j] *= v
		}
	}
}
