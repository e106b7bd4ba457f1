package gp

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
)

// conditional returns p with its gradients.
func (p *posterior) conditional() pathwise.Conditional {
	return pathwise.Conditional{Halves: p, Kernel: p.process.Kernel, At: p.x, Factor: p.factor, Weights: p.alpha, Floor: p.floor}
}

// Predict costs n²m flops. The variance never falls below 1e-12 of the prior
// variance.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	p.conditional().Predict(mean, variance, x)
}

// PredictGrad costs 2n²m flops and two kernel gradients. A variance at its lower
// bound has the gradient zero.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.conditional().PredictGrad(mean, variance, dmean, dvariance, x)
}

// Half implements pathwise.Halves: it returns L⁻¹k(X,x).
func (p *posterior) Half(mem *workspace.Memory, mean, variance []float64, x *mat.Dense) *mat.Dense {
	k := mem.Dense(len(p.y), len(mean))
	p.process.Kernel.Cross(k, p.x, x)
	linalg.Fill(mean, p.process.Mean)
	for i, a := range p.alpha {
		linalg.Axpy(a, k.RawRowView(i), mean)
	}
	p.factor.SolveLower(k)
	p.process.Kernel.Diag(variance, x)
	linalg.SubColumnSquares(variance, k)
	return k
}

// Joint costs n²m + nm² flops.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Joint(mean, cov, x, p.Dim())
	mem := workspace.Borrow()
	defer mem.Return()
	k := mem.Dense(len(p.y), m)
	p.process.Kernel.Cross(k, p.x, x)
	linalg.MulVec(mean, 1, linalg.T, k, p.alpha, 0)
	floats.AddConst(p.process.Mean, mean)
	p.factor.SolveLower(k)
	p.process.Kernel.Gram(cov, x)
	linalg.Syrk(cov, -1, linalg.T, k, 1)
	for i := range m {
		cov.SetSym(i, i, max(cov.At(i, i), p.floor))
	}
}

// JointVJP costs 2n²m + nm² flops and two kernel gradients.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	p.conditional().JointVJP(dx, mbar, cbar, x)
}
