package fsplaplace

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/workspace"
)

const (
	// priorTolerance is the largest share of the prior variance that the low-rank factor of K
	// omits at any context point.
	priorTolerance = 1e-6

	// ridgeLo and ridgeHi bound the decimal exponent of λ, relative to the mean diagonal of Θ.
	// With a smaller ridge, rounding errors in Θ make the variance rough: 1e-9 gives relative
	// errors of 1e-9 to 1e-7.
	ridgeLo, ridgeHi, ridgeStep = -9, -1, 0.5

	// ridgeRows is the largest number of observations in the choice of λ.
	ridgeRows = 200
)

// ridgeFactor returns the factor of the covariance without data,
//
//	S₀ = J(C)ᵀ (Θ + λI)⁻¹ L,
//
// where L is a pivoted Cholesky factor of K = k(C,C), with the decimal exponent of λ relative
// to the mean diagonal of Θ. ridgeSearch chooses λ on held-out points, near the exponent start
// unless start is 0. Each λ costs O(|C|³).
func (p *problem) ridgeFactor(ctx context.Context, w []float64, c, holdout *mat.Dense, start float64) (*ridgeSolve, error) {
	tc := p.tape(w, c)
	nc := tc.Len()
	mem := workspace.Borrow()
	defer mem.Return()
	k := mem.Sym(nc)
	p.process.Kernel.Gram(k, c)
	l := linalg.PivotedCholesky(k, priorTolerance, nc)
	theta := mem.Sym(nc)
	nn.KernelSym(theta, tc)
	s, err := p.newRidgeSearch(tc, theta, l, w, holdout)
	if err != nil {
		return nil, err
	}

	best, err := s.search(ctx, start)
	if err != nil {
		return nil, err
	}
	if err := s.factorize(best); err != nil {
		return nil, fmt.Errorf("fsp-laplace: tangent kernel of the context: %w", err)
	}
	s.chol.Solve(l)
	tc.Transpose()
	return &ridgeSolve{dualFactor{ctx: tc, b: l, bt: mat.DenseCopyOf(l.T()), inputs: p.inputs, kernel: p.process.Kernel}, s.chol, best}, nil
}

// ridgeSolve is S₀ with the factor of Θ + λI.
type ridgeSolve struct {
	factor   dualFactor
	chol     *linalg.Cholesky
	exponent float64
}

// readOut returns the step δ = J(C)ᵀ (Θ + λI)⁻¹ r. It is the ridge regression of the linearised network on the
// differences r of values from the network at C.
func (s *ridgeSolve) readOut(values []float64) []float64 {
	r := slices.Clone(values)
	floats.Sub(r, s.factor.ctx.Value())
	s.chol.SolveVec(r)
	step := make([]float64, s.factor.ctx.NumParams())
	s.factor.ctx.VJP(step, r)
	return step
}

// ridgeSearch measures how well the network with a given ridge reproduces the prior at held-out
// points V. Network and prior are conditioned on the same observations X. With ρ the ratio of
// the network's posterior variance to the prior's at a point of V, the loss is the mean of
//
//	½ (1/ρ - 1 + log ρ),
//
// the expected excess negative log density, in nats, of values drawn from the Gaussian process.
type ridgeSearch struct {
	theta *mat.SymDense
	mean  float64 // mean diagonal of theta
	l     *mat.Dense
	cross *mat.Dense // J(C) J([V;X])ᵀ
	noise float64
	want  []float64 // posterior variance of the prior at V

	a    *mat.SymDense    // Θ + λI
	chol *linalg.Cholesky // factor of a, for the last λ
	data linalg.Cholesky  // factor of the covariance of the observations
}

func (p *problem) newRidgeSearch(tc *nn.Tape, theta *mat.SymDense, l *mat.Dense, w []float64, v *mat.Dense) (*ridgeSearch, error) {
	m, d := v.Dims()
	n, _ := p.data.Dims()
	n = min(n, ridgeRows)
	points := mat.NewDense(m+n, d, nil)
	points.Slice(0, m, 0, d).(*mat.Dense).Copy(v)
	if n > 0 {
		points.Slice(m, m+n, 0, d).(*mat.Dense).Copy(p.data.X)
	}
	s := &ridgeSearch{theta: theta, l: l, cross: mat.NewDense(tc.Len(), m+n, nil), noise: p.noise, want: make([]float64, m),
		a: mat.NewSymDense(tc.Len(), nil), chol: new(linalg.Cholesky)}
	for i := range tc.Len() {
		s.mean += theta.At(i, i) / float64(tc.Len())
	}
	nn.Kernel(s.cross, tc, p.tape(w, points))
	mem := workspace.Borrow()
	defer mem.Return()
	k := mem.Sym(m + n)
	p.process.Kernel.Gram(k, points)
	if err := s.condition(s.want, k); err != nil {
		return nil, err
	}
	for i, v := range s.want {
		s.want[i] = max(v, 1e-12*k.At(i, i)) // a smaller variance is rounding error
	}
	return s, nil
}

// condition writes the variances of the leading points of a joint covariance, given noisy
// observations of the trailing points.
func (s *ridgeSearch) condition(dst []float64, cov *mat.SymDense) error {
	m, n := len(dst), cov.SymmetricDim()-len(dst)
	for i := range dst {
		dst[i] = cov.At(i, i)
	}
	if n == 0 {
		return nil
	}
	mem := workspace.Borrow()
	defer mem.Return()
	kxx, kxv := mem.Sym(n), mem.Dense(n, m)
	for i := range n {
		for j := i; j < n; j++ {
			kxx.SetSym(i, j, cov.At(m+i, m+j))
		}
		for j := range m {
			kxv.Set(i, j, cov.At(j, m+i))
		}
	}
	linalg.AddDiagonal(kxx, s.noise)
	if err := s.data.Factorize(kxx); err != nil {
		return fmt.Errorf("fsp-laplace: covariance of the data: %w", err)
	}
	s.data.SolveLower(kxv)
	linalg.SubColumnSquares(dst, kxv)
	return nil
}

func (s *ridgeSearch) factorize(exponent float64) error {
	s.a.CopySym(s.theta)
	linalg.AddDiagonal(s.a, math.Pow(10, exponent)*s.mean)
	return s.chol.Factorize(s.a)
}

// loss returns +Inf if Θ + λI is not positive definite in floating point.
func (s *ridgeSearch) loss(exponent float64) float64 {
	if s.factorize(exponent) != nil || s.chol.Jitter() > 0 {
		return math.Inf(1)
	}
	mem := workspace.Borrow()
	defer mem.Return()
	q := mem.Dense(s.cross.Dims())
	q.Copy(s.cross)
	s.chol.Solve(q)
	_, m := q.Dims()
	_, r := s.l.Dims()
	phi := mem.Dense(m, r)
	linalg.Mul(phi, 1, linalg.T, q, linalg.N, s.l, 0)
	cov := mem.Sym(m)
	linalg.Syrk(cov, 1, linalg.N, phi, 0)
	got := mem.Floats(len(s.want))
	if s.condition(got, cov) != nil {
		return math.Inf(1)
	}
	var sum float64
	for i, want := range s.want {
		if want == 0 {
			continue // the value is certain under the prior
		}
		ratio := max(got[i], 1e-12*want) / want
		sum += 0.5 * (1/ratio - 1 + math.Log(ratio)) / float64(len(got))
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return sum
}

// search returns the exponent with the smallest loss. It searches from start if the loss there
// is finite. Else it evaluates a coarse grid and refines around the best exponent.
func (s *ridgeSearch) search(ctx context.Context, start float64) (float64, error) {
	losses := map[float64]float64{}
	loss := func(e float64) float64 {
		if _, ok := losses[e]; !ok {
			losses[e] = math.Inf(1)
			if e >= ridgeLo && e <= ridgeHi && ctx.Err() == nil {
				losses[e] = s.loss(e)
			}
		}
		return losses[e]
	}
	best, steps := start, []float64{ridgeStep}
	if !(start >= ridgeLo && start <= ridgeHi) || math.IsInf(loss(start), 1) {
		best, steps = ridgeHi, []float64{2, 1, ridgeStep}
		for e := float64(ridgeHi); e >= ridgeLo; e -= 2 {
			if loss(e) < loss(best) {
				best = e
			}
		}
	}
	for _, step := range steps {
		for moved := true; moved; {
			moved = false
			for _, e := range []float64{best - step, best + step} {
				if loss(e) < loss(best) {
					best, moved = e, true
				}
			}
		}
	}
	return best, ctx.Err()
}
