package linalg

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// ErrNotFinite wraps ErrNotPositiveDefinite. It is returned for any matrix that
// contains NaN or infinities.
var ErrNotFinite = fmt.Errorf("%w: it has entries that are not finite", ErrNotPositiveDefinite)

// Eigen returns the eigenvalues of a, ascending, and unit eigenvectors in the rows of
// V, so that a = Vᵀ diag(values) V. Both ‖a - Vᵀ diag(values) V‖/‖a‖ and ‖V Vᵀ - I‖ are
// a few n·2⁻⁵³. The method has three steps:
//
//   - reduction to tridiagonal form by blocks of Householder reflections, 4n³/3 flops
//     (Dongarra, Hammarling and Sorensen 1989);
//   - divide and conquer, at most 4n³/3 flops (Cuppen 1981; Gu and Eisenstat 1995),
//     with the QL algorithm for small parts;
//   - transformation of the vectors by products, 2n³ flops.
func Eigen(a *mat.SymDense) (values []float64, vectors *mat.Dense, err error) {
	n := a.SymmetricDim()
	if n == 0 {
		return nil, &mat.Dense{}, nil
	}
	mem := workspace.Borrow()
	defer mem.Return()
	work := mem.Dense(n, n).RawMatrix()
	// After exact scaling by a power of two, squares neither overflow nor underflow.
	exponent, ok := scaledUpper(work, a.RawSymmetric())
	if !ok {
		return nil, nil, ErrNotFinite
	}
	t := tridiagonalize(work, mem)
	z := mem.Zeros(n, n)
	newDivide(t.diagonal, t.beside, z.RawMatrix()).solve(0, n)
	t.back(z.RawMatrix(), mem)

	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(t.diagonal[i], t.diagonal[j]), i-j) })
	values, vectors = make([]float64, n), mat.NewDense(n, n, nil)
	for to, from := range order {
		values[to] = math.Ldexp(t.diagonal[from], exponent)
		copy(vectors.RawRowView(to), z.RawRowView(from))
	}
	return values, vectors, nil
}

// scaledUpper writes the upper triangle of a, divided by 2^exponent, to dst. The
// largest entry of dst is between ½ and 4 unless all are subnormal. It reports whether
// all entries are finite.
func scaledUpper(dst blas64.General, a blas64.Symmetric) (exponent int, finite bool) {
	var largest, sum float64
	for i := range a.N {
		for _, v := range a.Data[i*a.Stride+i : i*a.Stride+a.N] {
			largest = max(largest, math.Abs(v))
			sum += v - v
		}
	}
	if sum != 0 {
		return 0, false
	}
	_, exponent = math.Frexp(largest)
	exponent = min(max(exponent, -1022), 1022)
	scale := math.Ldexp(1, -exponent)
	for i := range a.N {
		row := dst.Data[i*dst.Stride+i : i*dst.Stride+a.N]
		for j, v := range a.Data[i*a.Stride+i : i*a.Stride+a.N] {
			row[j] = v * scale
		}
	}
	return exponent, true
}
