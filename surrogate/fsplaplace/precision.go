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
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
)

const (
	// singularTolerance is √ε. Directions with smaller singular values of M are omitted, by
	// default relative to the largest, with the published preset absolutely.
	singularTolerance = 1.4901161193847656e-08
	// varianceSlack is the relative excess of the accumulated variance over the prior variance
	// that is attributed to rounding. With the published preset there is none.
	varianceSlack = 1e-9

	lanczosRank      = 500
	lanczosTolerance = 1.4901161193847656e-08
)

// precisionFactor returns the factor of Algorithm 2 of the paper. With L Lᵀ ≈ K⁻¹ at the
// context points and M = J(C)ᵀ L, the prior precision of the weights is M Mᵀ. The posterior
// precision adds the data's Gauss–Newton matrix Σ_i J(x_i)ᵀJ(x_i)/σ². S is its inverse square
// root on the column space of M. S is truncated to the columns that keep the variance at C
// within the prior variance.
//
// L is R⁻ᵀ for K = R Rᵀ (factor "cholesky", O(|C|³ + |C|²p)) or the published Lanczos basis of
// at most 500 columns (factor "lanczos", O(500 |C|²)). Both need memory for K, 8|C|² bytes, and
// for J(C), 8|C|p bytes. For labels, p.curvature replaces 1/σ².
func (p *problem) precisionFactor(ctx context.Context, w []float64, c *mat.Dense) (factor, error) {
	nc, _ := c.Dims()
	k := mat.NewSymDense(nc, nil)
	p.process.Kernel.Gram(k, c)
	variance := make([]float64, nc)
	p.process.Kernel.Diag(variance, c)
	linalg.AddDiagonal(k, contextJitter)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	tc := p.tape(w, c)
	j := tc.NewJacobian()
	mt, err := p.rootTimesJacobian(ctx, tc, k, j, variance)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	u, err := p.directions(mt)
	if err != nil {
		return nil, fmt.Errorf("fsp-laplace: context Jacobian: %w", err)
	}
	if u.IsEmpty() {
		return nil, fmt.Errorf("fsp-laplace: the network does not vary over the context points: %w", surrogate.ErrNotPositiveDefinite)
	}
	rows, _ := mt.Dims()
	r, _ := u.Dims()
	mu := mat.NewDense(rows, r, nil)
	linalg.Mul(mu, 1, linalg.N, mt, linalg.T, u, 0)
	a := mat.NewSymDense(r, nil)
	linalg.Syrk(a, 1, linalg.T, mu, 0)
	shape.Chunks(p.data.X, chunk, func(i, k int, x *mat.Dense) {
		ju := mat.NewDense(k-i, r, nil)
		linalg.Mul(ju, 1, linalg.N, p.tape(w, x).NewJacobian(), linalg.T, u, 0)
		for row := i; row < k && p.curvature != nil; row++ {
			floats.Scale(math.Sqrt(p.curvature[row]*p.noise), ju.RawRowView(row-i))
		}
		linalg.Syrk(a, 1/p.noise, linalg.T, ju, 1)
	})
	lambda, v, err := linalg.Eigen(a) // ascending
	if err != nil {
		return nil, fmt.Errorf("fsp-laplace: posterior precision: %w", err)
	}
	scaled := mat.NewDense(r, r, nil)
	kept := 0
	for i := r - 1; i >= 0 && lambda[i] > 0; i-- { // largest precision first
		linalg.Axpy(1/math.Sqrt(lambda[i]), v.RawRowView(i), scaled.RawRowView(kept))
		kept++
	}
	st := mat.NewDense(kept, tc.NumParams(), nil)
	linalg.Mul(st, 1, linalg.N, scaled.Slice(0, kept, 0, r).(*mat.Dense), linalg.N, u, 0)

	js := mat.NewDense(nc, kept, nil)
	linalg.Mul(js, 1, linalg.N, j, linalg.T, st, 0)
	slack := varianceSlack
	if p.published() {
		slack = 0
	}
	if kept = columnsWithin(js, variance, slack); kept == 0 {
		return nil, fmt.Errorf("fsp-laplace: no direction of the weights stays within the prior variance: %w", surrogate.ErrNotPositiveDefinite)
	}
	return &primalFactor{st: mat.DenseCopyOf(st.Slice(0, kept, 0, tc.NumParams())), inputs: p.inputs}, nil
}

// rootTimesJacobian returns Mᵀ = LᵀJ(C) of precisionFactor. k is the prior covariance of the
// context points, j is J(C), tc its tape, and variance the diagonal of k without jitter.
func (p *problem) rootTimesJacobian(ctx context.Context, tc *nn.Tape, k *mat.SymDense, j *mat.Dense, variance []float64) (*mat.Dense, error) {
	if p.Factor == "cholesky" {
		chol, err := linalg.Factorize(k)
		if err != nil {
			return nil, fmt.Errorf("fsp-laplace: prior covariance at the context points: %w", err)
		}

		mt := mat.DenseCopyOf(j)
		chol.SolveLower(mt)
		return mt, nil
	}
	start := make([]float64, len(variance))
	ones := slices.Repeat([]float64{1}, tc.NumParams())
	tc.JVP(start, ones)
	l, err := lanczos(ctx, k, start)
	if err != nil {
		return nil, err
	}
	_, r := l.Dims()
	mt := mat.NewDense(r, tc.NumParams(), nil)
	linalg.Mul(mt, 1, linalg.T, l, linalg.N, j, 0)
	return mt, nil
}

// directions returns orthonormal rows that span the left singular vectors of M, the transpose of
// mt, with singular values above the tolerance.
func (p *problem) directions(mt *mat.Dense) (*mat.Dense, error) {
	if !p.published() {
		return linalg.RowSpace(mt, singularTolerance)
	}
	var svd mat.SVD
	if !svd.Factorize(mt, mat.SVDThinV) {
		return nil, surrogate.ErrNotPositiveDefinite
	}
	rank := 0
	for _, d := range svd.Values(nil) { // descending
		if d > singularTolerance {
			rank++
		}
	}
	if rank == 0 {
		return new(mat.Dense), nil
	}
	u := new(mat.Dense)
	svd.VTo(u)
	_, n := mt.Dims()
	return mat.DenseCopyOf(u.Slice(0, n, 0, rank).T()), nil
}

// columnsWithin returns a number of leading columns of js: the largest for which Σ (js_ic)² exceeds the
// variance by at most the relative slack at every row.
func columnsWithin(js *mat.Dense, variance []float64, slack float64) int {
	n, r := js.Dims()
	kept := r
	for i := range n {
		var sum float64
		for c, v := range js.RawRowView(i)[:kept] {
			if sum += v * v; sum > variance[i]*(1+slack) {
				kept = c
				break
			}
		}
	}
	return kept
}

// lanczos returns L with LᵀKL = I and L Lᵀ ≈ K⁻¹ on the Krylov space of K and b. Its columns
// are conjugate directions of CG from one start vector, with residuals orthogonalised twice
// against all earlier residuals. It ends at lanczosRank columns or at a residual of
// lanczosTolerance. With this published factor and a well-conditioned K, the variance without
// data is below the prior variance.
func lanczos(ctx context.Context, k *mat.SymDense, b []float64) (*mat.Dense, error) {
	n := len(b)
	residual := append([]float64(nil), b...)
	norm := math.Sqrt(linalg.Dot(residual, residual))
	if norm == 0 {
		return nil, fmt.Errorf("fsp-laplace: the network does not vary over the context points: %w", surrogate.ErrNotPositiveDefinite)
	}
	floats.Scale(1/norm, residual)
	limit := min(lanczosRank, n)
	basis := mat.NewDense(limit, n, nil) // normalised residuals
	lt := mat.NewDense(limit, n, nil)
	direction := append([]float64(nil), residual...)
	kp, coef := make([]float64, n), make([]float64, limit)
	rr := 1.0
	rank := 0
	for rank < limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		linalg.SymMulVec(kp, k, direction)
		eta := linalg.Dot(direction, kp)
		if !(eta > 0) {
			break
		}
		row := lt.RawRowView(rank)
		copy(row, direction)
		floats.Scale(1/math.Sqrt(eta), row)
		q := basis.RawRowView(rank)
		copy(q, residual)
		floats.Scale(1/math.Sqrt(rr), q)
		rank++
		linalg.Axpy(-rr/eta, kp, residual)
		known := basis.Slice(0, rank, 0, n).(*mat.Dense)
		for range 2 {
			linalg.MulVec(coef[:rank], 1, linalg.N, known, residual, 0)
			linalg.MulVec(residual, -1, linalg.T, known, coef[:rank], 1)
		}
		next := linalg.Dot(residual, residual)
		if math.Sqrt(next) <= lanczosTolerance {
			break
		}
		floats.Scale(next/rr, direction)
		linalg.Axpy(1, residual, direction)
		rr = next
	}
	if rank == 0 {
		return nil, fmt.Errorf("fsp-laplace: prior covariance at the context points: %w", linalg.ErrNotPositiveDefinite)
	}
	return mat.DenseCopyOf(lt.Slice(0, rank, 0, n).T()), nil
}
