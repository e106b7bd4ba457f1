package classify

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
)

// Conditioned is the Process of a Prior given labels at the rows of X: with q = k(X,x),
//
//	mean_c = m_c + qᵀa_c,  cov_cc' = k(x,x) δ_cc' - qᵀR_cc'q
type Conditioned struct {
	Prior
	X     *mat.Dense
	Given *Approximation // at the rows of X
}

func (p *Conditioned) Dim() int { return p.Kernel.Dim() }

// Moments implements Process in O(Ln²) per point, with L latent processes.
func (p *Conditioned) Moments(mean, cov, x *mat.Dense) {
	l := len(p.Means)
	n, _ := p.X.Dims()
	m := shape.Points(x, p.Dim())
	q := make([]*mat.Dense, l)
	q[0] = mat.NewDense(n, m, nil)
	p.Kernel.Cross(q[0], p.X, x)
	for c := 1; c < l; c++ {
		q[c] = mat.DenseCopyOf(q[0])
	}
	diag := make([]float64, m)
	p.Kernel.Diag(diag, x)
	column := make([]float64, m)
	for c := range l {
		linalg.MulVec(column, 1, linalg.T, q[c], p.Given.A.RawRowView(c), 0)
		for i, v := range column {
			mean.Set(i, c, p.Means[c]+v)
			cov.Set(i, c*l+c, diag[i])
		}
	}
	p.Given.Factor.Reduce(cov, q)
}

// MomentsGrad implements Process in O(n²) per point.
func (p *Conditioned) MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	n, _ := p.X.Dims()
	m, _ := x.Dims()
	q, kbar := mat.NewDense(n, m, nil), mat.NewDense(m, n, nil)
	p.Kernel.Cross(q, p.X, x)
	a := p.Given.A.RawRowView(0)
	linalg.MulVec(mean, 1, linalg.T, q, a, 0)
	for i := range mean {
		mean[i] += p.Means[0]
		copy(kbar.RawRowView(i), a)
	}
	dmean.Zero()
	p.Kernel.CrossVJP(dmean, x, p.X, kbar)

	p.Kernel.Diag(variance, x)
	kbar = p.Given.Factor.ReduceGrad(variance, q)
	ones := slices.Repeat([]float64{1}, m)
	dvariance.Zero()
	p.Kernel.DiagVJP(dvariance, x, ones)
	p.Kernel.CrossVJP(dvariance, x, p.X, kbar)
}
