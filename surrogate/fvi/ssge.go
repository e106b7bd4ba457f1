package fvi

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
)

// widths returns √d times the median absolute difference of each column of the samples. The
// median is over all n² ordered pairs of rows, equal rows included. A width of 0 is replaced
// by 1. The cost is O(nd).
func widths(samples *mat.Dense) []float64 {
	n, d := samples.Dims()
	out, column := make([]float64, d), make([]float64, n)
	// The median over ordered pairs has this rank among the unordered pairs.
	rank := max(n*n/2-n, 0) / 2
	for j := range out {
		mat.Col(column, j, samples)
		slices.Sort(column)
		if out[j] = math.Sqrt(float64(d)) * gap(column, rank); out[j] < 1e-6 {
			out[j] = 1
		}
	}
	return out
}

// gap returns the absolute difference of the given rank, from 0, among all pairs of the ascending values. Its
// accuracy is 2⁻⁴⁰ times their range.
func gap(ascending []float64, rank int) float64 {
	last := len(ascending) - 1
	lo, hi := 0., ascending[last]-ascending[0]
	for range 40 {
		mid := lo + (hi-lo)/2
		below, first := 0, 0
		for i, v := range ascending {
			for v-ascending[first] > mid {
				first++
			}
			below += i - first
		}
		if below > rank {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// least is the relative size of the smallest eigenvalue above rounding errors.
const least = 1e-12

// spectral is the spectral Stein gradient estimator (Shi, Sun and Zhu 2018) of the score
// ∇ log q from n samples x_a of q in R^d. It uses an RBF kernel k of the given widths, the
// eigenvectors K u_j = μ_j u_j of its Gram matrix, and the Nyström eigenfunctions
//
//	ψ_j(x) = (√n/μ_j) Σ_a k(x,x_a) u_ja.
//
// Stein's identity gives E_q[ψ_j ∇ log q] = -E_q[∇ψ_j], so
//
//	∇ log q(x) ≈ Σ_{j≤J} β_j ψ_j(x),  β_j = -(√n/μ_j) Σ_b u_jb (1/n) Σ_a ∂k(x_a,x_b)/∂x_a
//
// (their eq. 9 and 13). J ≥ 1 is the number of leading eigenvalues whose cumulative share of the
// trace is less than share.
type spectral struct {
	widths  []float64
	samples *mat.Dense // each column divided by its width
	gram    *mat.Dense
	weights *mat.Dense // n×d, with the score Σ_a k(x,x_a) weights_a
}

// newSpectral returns the estimator in O(n³ + n²d).
func newSpectral(samples *mat.Dense, widths []float64, share float64) (*spectral, error) {
	n, d := samples.Dims()
	shape.Len("widths", len(widths), d)
	s := &spectral{widths: widths, samples: over(samples, widths), gram: mat.NewDense(n, n, nil), weights: mat.NewDense(n, d, nil)}
	kernel(s.gram, s.samples, s.samples)
	// Row b of slope is Σ_a ∂k(x_a,x_b)/∂x_a.
	slope := mat.NewDense(n, d, nil)
	linalg.Mul(slope, -1, linalg.N, s.gram, linalg.N, s.samples, 0)
	for b := range n {
		var sum float64
		for _, k := range s.gram.RawRowView(b) {
			sum += k
		}
		row := slope.RawRowView(b)
		linalg.Axpy(sum, s.samples.RawRowView(b), row)
		for j, w := range widths {
			row[j] /= w
		}
	}
	values, vectors, err := linalg.Eigen(mat.NewSymDense(n, s.gram.RawMatrix().Data)) // ascending
	if err != nil {
		return nil, fmt.Errorf("samples' Gram matrix: %w", err)
	}
	kept, left := 1, share*float64(n)-values[n-1]
	for kept < n && left-values[n-1-kept] > 0 && values[n-1-kept] > least*values[n-1] {
		left -= values[n-1-kept]
		kept++
	}
	u := vectors.Slice(n-kept, n, 0, n).(*mat.Dense)
	beta := mat.NewDense(kept, d, nil)
	linalg.Mul(beta, -1, linalg.N, u, linalg.N, slope, 0)
	for j, mu := range values[n-kept:] {
		row := beta.RawRowView(j)
		for c := range row {
			row[c] /= mu * mu
		}
	}
	linalg.Mul(s.weights, 1, linalg.T, u, linalg.N, beta, 0)
	return s, nil
}

// score writes the estimate at the rows of x.
func (s *spectral) score(dst, x *mat.Dense) {
	m, _ := x.Dims()
	n, _ := s.samples.Dims()
	k := mat.NewDense(m, n, nil)
	kernel(k, over(x, s.widths), s.samples)
	linalg.Mul(dst, 1, linalg.N, k, linalg.N, s.weights, 0)
}

// over returns x with each column divided by its width.
func over(x *mat.Dense, widths []float64) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = v / widths[j]
		}
	}
	return out
}

// kernel writes exp(-½|x_i - y_j|²).
func kernel(dst, x, y *mat.Dense) {
	linalg.Mul(dst, 1, linalg.N, x, linalg.T, y, 0)
	n, _ := y.Dims()
	squares := make([]float64, n)
	linalg.RowSquares(squares, y)
	m, _ := x.Dims()
	for i := range m {
		at := linalg.Dot(x.RawRowView(i), x.RawRowView(i))
		row := dst.RawRowView(i)
		for j, v := range row {
			row[j] = math.Exp(min(0, v-0.5*(at+squares[j])))
		}
	}
}
