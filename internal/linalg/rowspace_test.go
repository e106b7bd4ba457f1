package linalg

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

// withSingular returns an m×p matrix with the given singular values, and its right
// singular vectors in rows.
func withSingular(m, p int, values []float64) (a, right *mat.Dense) {
	rng := random.New(9, "singular", m)
	orthonormal := func(n int) *mat.Dense {
		var qr mat.QR
		qr.Factorize(randomDense(n, len(values), rng))
		var q mat.Dense
		qr.QTo(&q)
		return mat.DenseCopyOf(q.Slice(0, n, 0, len(values)))
	}
	left, q := orthonormal(m), orthonormal(p)
	for i := range m {
		for j, v := range values {
			left.Set(i, j, left.At(i, j)*v)
		}
	}
	a = mat.NewDense(m, p, nil)
	Mul(a, 1, N, left, T, q, 0)
	return a, mat.DenseCopyOf(q.T())
}

func TestRowSpace(t *testing.T) {
	for _, test := range []struct {
		m, p, rank, kept int
		least            float64 // singular value at this rank over the largest one
	}{
		{1, 1, 1, 1, 1}, {1, 30, 1, 1, 1}, {30, 1, 1, 1, 1}, {20, 50, 20, 20, 0.5}, {50, 20, 20, 20, 1e-3},
		{20, 50, 20, 20, 1e-7}, {60, 300, 60, 60, 1e-7}, {60, 30, 30, 30, 1e-7}, {40, 90, 7, 7, 1e-6},
		{90, 40, 7, 7, 1e-6}, {300, 60, 50, 50, 1e-7}, {60, 300, 60, 30, 1e-16}, {300, 60, 60, 30, 1e-16},
	} {
		name := fmt.Sprint(test)
		values := make([]float64, test.rank)
		for i := range values {
			values[i] = 1e5 * math.Pow(test.least, float64(i)/math.Max(1, float64(test.rank-1)))
		}
		a, right := withSingular(test.m, test.p, values)
		before := mat.DenseCopyOf(a)
		q, err := RowSpace(a, math.Sqrt(0x1p-52))
		require.NoError(t, err, name)
		require.True(t, mat.Equal(before, a))
		r, p := q.Dims()
		require.Equal(t, test.p, p)
		require.InDelta(t, test.kept, r, 1, name)
		if test.kept == test.rank {
			require.Equal(t, test.kept, r, name)
		}

		gram, eye := mat.NewSymDense(r, nil), mat.NewDiagDense(r, nil)
		Syrk(gram, 1, N, q, 0)
		for i := range r {
			eye.SetDiag(i, 1)
		}
		requireClose(t, eye, gram, 1e-15*math.Max(10, float64(r)), name+": orthonormal")

		// The residual of each right singular vector, weighted by its singular
		// value, and the residual of a.
		for k := range test.rank {
			v := right.RawRowView(k)
			inside := make([]float64, r)
			MulVec(inside, 1, N, q, v, 0)
			rest := append([]float64(nil), v...)
			MulVec(rest, -1, T, q, inside, 1)
			left := math.Sqrt(Dot(rest, rest)) * values[k] / values[0]
			if test.kept == test.rank {
				require.LessOrEqual(t, left, 2e-15*math.Max(10, float64(test.m)), "%s: direction %d", name, k)
			} else {
				require.LessOrEqual(t, left, 3e-8, "%s: direction %d", name, k)
			}
		}
	}

	q, err := RowSpace(mat.NewDense(3, 4, nil), 1e-8)
	require.NoError(t, err)
	require.True(t, q.IsEmpty())
	_, err = RowSpace(mat.NewDense(2, 1, []float64{1, math.NaN()}), 1e-8)
	require.ErrorIs(t, err, ErrNotFinite)
}

func BenchmarkRowSpace(b *testing.B) {
	for _, size := range [][2]int{{50, 2751}, {100, 2751}, {200, 2751}, {500, 2751}, {1000, 50}} {
		a := randomDense(size[0], size[1], random.New(1, "bench", size[0]))
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		b.Run("bo/"+name, func(b *testing.B) {
			for b.Loop() {
				RowSpace(a, 1e-8)
			}
		})
		b.Run("gonum/"+name, func(b *testing.B) {
			for b.Loop() {
				var svd mat.SVD
				svd.Factorize(a, mat.SVDThin)
				var v mat.Dense
				svd.VTo(&v)
			}
		})
	}
}
