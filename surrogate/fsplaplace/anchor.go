package fsplaplace

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// anchored computes joint moments of the rows of z and further points. It keeps the mean, the
// features, and their products with the factor of A⁻¹ at z.
type anchored struct {
	*posterior
	mu               []float64
	phi, root, times *mat.Dense
}

// Anchor implements surrogate.Anchorer at the cost of Joint.
func (p *posterior) Anchor(z *mat.Dense) surrogate.Jointer {
	m := shape.Points(z, p.Dim())
	a := &anchored{posterior: p, mu: make([]float64, m)}
	p.chunks(z, m, func(mem *workspace.Memory, _, _ int, at features) {
		p.mean(a.mu, at)
		root := p.update.root(mem, at.phi)
		a.phi, a.root, a.times = mat.DenseCopyOf(at.phi), mat.DenseCopyOf(root), mat.DenseCopyOf(p.update.times(mem, at.phi, root))
	})
	return a
}

// below returns the rows of a followed by the rows of b.
func below(mem *workspace.Memory, a, b *mat.Dense) *mat.Dense {
	n, d := a.Dims()
	m, _ := b.Dims()
	out := mem.Dense(n+m, d)
	mem.Rows(out, 0, n).Copy(a)
	mem.Rows(out, n, n+m).Copy(b)
	return out
}

// Joint implements surrogate.Jointer in O((k+m)² r) in addition to Predict at the m points after
// the k anchors.
func (a *anchored) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n, k := shape.Joint(mean, cov, x, a.Dim()), copy(mean, a.mu)
	a.chunks(shape.Rows(x, k, n), n, func(mem *workspace.Memory, _, _ int, at features) {
		a.mean(mean[k:], at)
		a.update.covariance(cov, below(mem, a.phi, at.phi), below(mem, a.root, a.update.root(mem, at.phi)))
	})
}

func (a *anchored) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	n, k := shape.JointVJP(dx, mbar, cbar, x, a.Dim()), len(a.mu)
	a.chunks(shape.Rows(x, k, n), n, func(mem *workspace.Memory, _, _ int, at features) {
		bar, full := mem.Dense(at.phi.Dims()), mem.Dense(n-k, n)
		for i := range n - k {
			row := full.RawRowView(i)
			for j := range row {
				row[j] = cbar.At(k+i, j)
			}
		}
		times := below(mem, a.times, a.update.times(mem, at.phi, a.update.root(mem, at.phi)))
		linalg.Mul(bar, 2, linalg.N, full, linalg.N, times, 0)
		grad := mem.Dense(n-k, a.Dim())
		a.jointGrad(grad, mbar[k:], bar, at)
		further := shape.Rows(dx, k, n)
		further.Add(further, grad)
	})
}

// jointGrad writes to grad the gradient of Σ_i mbar_i mean_i plus the reverse-mode product of the features with their
// adjoint bar. It overwrites bar.
func (p *posterior) jointGrad(grad *mat.Dense, mbar []float64, bar *mat.Dense, at features) {
	p.networkGrad(grad, at.t)
	for i, v := range mbar {
		floats.Scale(v, grad.RawRowView(i))
		if p.m != nil {
			linalg.Axpy(v, p.m, bar.RawRowView(i))
		}
	}
	p.factor.vjp(grad, at, bar)
}
