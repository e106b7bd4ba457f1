package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate"
)

// Condition returns the posterior conditioned on observations of the posterior mean at
// the pending points (the kriging believer of Ginsbourger et al. 2010), and the least of
// Best and these means at points that are likely feasible. Conditioning keeps the mean and
// reduces variances. The Build of an Acquisition calls it once.
func (p Problem) Condition() (surrogate.Posterior, float64, error) {
	m := rowCount(p.Pending)
	if m == 0 {
		return p.Posterior, p.Best, nil
	}
	mean, variance := make([]float64, m), make([]float64, m)
	p.Posterior.Predict(mean, variance, p.Pending)
	best := p.Best
	likely := make([]float64, m)
	p.Feasibility(likely, p.Pending)
	for i, v := range mean {
		if likely[i] >= 0.5 {
			best = min(best, v)
		}
	}
	var err error
	posterior := p.Posterior
	if c, ok := posterior.(surrogate.Conditioner); ok {
		posterior, err = p.shared.condition(c, p.Pending, mean)
	} else {
		posterior, err = believe(posterior, p.Pending)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("acquisition: conditioning on %d pending points: %w", m, err)
	}
	return posterior, best, nil
}

// believer is a posterior conditioned on noisy observations of its own mean at the
// rows of z. With C the original covariance and A = C(z,z) + σ²I, the mean is the
// original mean and
//
//	cov(x,x') = C(x,x') - C(x,z) A⁻¹ C(z,x')
//
// It calls only Joint and JointVJP of the original posterior, so the posterior need
// not be a surrogate.Conditioner.
type believer struct {
	surrogate.Posterior
	z      *mat.Dense
	joint  surrogate.Jointer // of Posterior, anchored at z
	factor *linalg.Cholesky  // factor of A
}

var _ surrogate.Posterior = (*believer)(nil)

// blockSize is the number of points that share one joint covariance, if only their
// covariances with a few other points are needed.
const blockSize = 32

// believe conditions p on its own mean at the rows of z.
func believe(p surrogate.Posterior, z *mat.Dense) (*believer, error) {
	m := rowCount(z)
	mean, a := make([]float64, m), mat.NewSymDense(m, nil)
	p.Joint(mean, a, z)
	for i := range m {
		a.SetSym(i, i, a.At(i, i)+p.Noise())
	}
	factor, err := linalg.Factorize(a)
	if err != nil {
		return nil, err
	}
	return &believer{Posterior: p, z: mat.DenseCopyOf(z), joint: anchored(p, z), factor: factor}, nil
}

// cross returns the points [z; x] and C(z,x), with a column for each row of x. If mean
// and cov are not nil, it writes the mean at x and C(x,x) to them.
func (b *believer) cross(mean []float64, cov *mat.SymDense, x *mat.Dense) (points, c *mat.Dense) {
	k, m := rowCount(x), rowCount(b.z)
	points = stack(b.z, x)
	all, joint := make([]float64, m+k), mat.NewSymDense(m+k, nil)
	b.joint.Joint(all, joint, points)
	c = mat.NewDense(m, k, nil)
	for i := range m {
		row := c.RawRowView(i)
		for j := range row {
			row[j] = joint.At(i, m+j)
		}
	}
	copy(mean, all[m:])
	if cov != nil {
		for i := range k {
			for j := i; j < k; j++ {
				cov.SetSym(i, j, joint.At(m+i, m+j))
			}
		}
	}
	return points, c
}

// Predict costs one Joint with z per blockSize points.
func (b *believer) Predict(mean, variance []float64, x *mat.Dense) {
	b.Posterior.Predict(mean, variance, x)
	for lo := 0; lo < len(mean); lo += blockSize {
		hi := min(lo+blockSize, len(mean))
		_, c := b.cross(nil, nil, rows(x, lo, hi))
		b.factor.SolveLower(c)
		reduce(variance[lo:hi], c)
	}
}

// reduce subtracts from variance the squared norms of the columns of w, and bounds the
// results below by 0. It returns their derivatives: 1 above the bound, else 0.
func reduce(variance []float64, w *mat.Dense) (free []float64) {
	m, _ := w.Dims()
	for i := range m {
		for j, v := range w.RawRowView(i) {
			variance[j] -= v * v
		}
	}
	free = make([]float64, len(variance))
	for j, v := range variance {
		if v > 0 {
			free[j] = 1
		}
		variance[j] = max(v, 0)
	}
	return free
}

// PredictGrad costs one Joint and one JointVJP with z per blockSize points.
func (b *believer) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	b.Posterior.PredictGrad(mean, variance, dmean, dvariance, x)
	for lo := 0; lo < len(mean); lo += blockSize {
		hi := min(lo+blockSize, len(mean))
		points, c := b.cross(nil, nil, rows(x, lo, hi))
		b.factor.SolveLower(c)
		free := reduce(variance[lo:hi], c)
		b.factor.SolveUpper(c)

		k, n := hi-lo, rowCount(points)
		cbar := mat.NewSymDense(n, nil)
		for j := range k {
			for i := range n - k {
				cbar.SetSym(i, n-k+j, -free[j]*c.At(i, j))
			}
		}
		dx := mat.NewDense(n, x.RawMatrix().Cols, nil)
		b.covarianceVJP(dx, cbar, points)
		for j := range k {
			dv, d := dvariance.RawRowView(lo+j), dx.RawRowView(n-k+j)
			for l := range dv {
				dv[l] = free[j]*dv[l] + d[l]
			}
		}
	}
}

// Joint costs one Joint of x and z together.
func (b *believer) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	_, c := b.cross(mean, cov, x)
	b.factor.SolveLower(c)
	linalg.Syrk(cov, -1, linalg.T, c, 1)
	for i := range mean {
		cov.SetSym(i, i, max(cov.At(i, i), 0))
	}
}

// JointVJP costs one Joint and one JointVJP of x and z together.
func (b *believer) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	k := rowCount(x)
	points, c := b.cross(nil, nil, x)
	b.factor.Solve(c)
	n := rowCount(points)
	m := n - k
	all, half := make([]float64, n), mat.NewSymDense(n, nil)
	copy(all[m:], mbar)
	for i := range k {
		for j := i; j < k; j++ {
			half.SetSym(m+i, m+j, cbar.At(i, j))
		}
		for l := range m {
			var s float64
			for j := range k {
				s += cbar.At(i, j) * c.At(l, j)
			}
			half.SetSym(l, m+i, -s)
		}
	}
	wide := mat.NewDense(n, x.RawMatrix().Cols, nil)
	b.joint.JointVJP(wide, all, half, points)
	for i := range k {
		linalg.Axpy(1, wide.RawRowView(m+i), dx.RawRowView(i))
	}
}

// Paths draws functions by Matheron's rule: to a draw g of the original posterior it
// adds C(x,z) A⁻¹ (mean(z) - g(z) - ε), with ε ~ N(0, σ²I).
func (b *believer) Paths(n int, rng *rand.Rand) []surrogate.Path {
	m := rowCount(b.z)
	mean, variance := make([]float64, m), make([]float64, m)
	b.Posterior.Predict(mean, variance, b.z)
	sd := math.Sqrt(b.Noise() + b.factor.Jitter())
	paths := make([]surrogate.Path, n)
	for i, g := range b.Posterior.Paths(n, rng) {
		w := make([]float64, m)
		g.Eval(w, nil, b.z)
		for j := range w {
			w[j] = mean[j] - w[j] - sd*rng.NormFloat64()
		}
		b.factor.SolveVec(w)
		paths[i] = &believerPath{g, b, w}
	}
	return paths
}

// believerPath is draw(x) + C(x,z)·weights.
type believerPath struct {
	draw    surrogate.Path
	b       *believer
	weights []float64
}

func (p *believerPath) Eval(value []float64, grad, x *mat.Dense) {
	p.draw.Eval(value, grad, x)
	for lo := 0; lo < len(value); lo += blockSize {
		hi := min(lo+blockSize, len(value))
		points, c := p.b.cross(nil, nil, rows(x, lo, hi))
		for i, w := range p.weights {
			linalg.Axpy(w, c.RawRowView(i), value[lo:hi])
		}
		if grad == nil {
			continue
		}
		k, n := hi-lo, rowCount(points)
		cbar := mat.NewSymDense(n, nil)
		for j := range k {
			for i, w := range p.weights {
				cbar.SetSym(i, n-k+j, w/2)
			}
		}
		dx := mat.NewDense(n, x.RawMatrix().Cols, nil)
		p.b.covarianceVJP(dx, cbar, points)
		for j := range k {
			linalg.Axpy(1, dx.RawRowView(n-k+j), grad.RawRowView(lo+j))
		}
	}
}

// covarianceVJP is JointVJP of the original posterior, for the covariance alone. Gradients at z are
// not used.
func (b *believer) covarianceVJP(dx *mat.Dense, cbar *mat.SymDense, points *mat.Dense) {
	b.joint.JointVJP(dx, make([]float64, rowCount(points)), cbar, points)
}
