package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// RowSpace returns orthonormal rows that span the rows of a (m×p), by descending
// singular value down to tol times the largest; the result is empty for a = 0. For
// tol ≥ √ε it uses eigenvectors v: of a·aᵀ, with the norms of vᵀa as singular values,
// or for m > p of aᵀa, with the norms of a·v. It costs 5 to 7m²p flops plus Eigen of
// size m, or for m > p 5 to 7p²m plus Eigen of size p.
func RowSpace(a *mat.Dense, tol float64) (*mat.Dense, error) {
	m, p := a.Dims()
	op := N
	if m > p {
		op = T
	}
	gram := mat.NewSymDense(min(m, p), nil)
	Syrk(gram, 1, op, a, 0)
	_, v, err := Eigen(gram)
	if err != nil {
		return nil, err
	}
	for i, j := 0, min(m, p)-1; i < j; i, j = i+1, j-1 { // descending
		swap(v.RawRowView(i), v.RawRowView(j))
	}
	if op == T {
		if v, err = orthonormal(v, T, a, tol); err != nil || v.IsEmpty() {
			return v, err
		}
	}
	return orthonormal(v, N, a, tol)
}

func swap(x, y []float64) {
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

// orthonormal returns orthonormal rows that span the rows of v·op(a) whose norm is at
// least tol times the largest. These rows are almost orthogonal. It normalises them
// and then orthogonalises them with Cholesky factors of their Gram matrix, in two passes
// if one is not enough (CholeskyQR2: Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015).
func orthonormal(v *mat.Dense, op Op, a *mat.Dense, tol float64) (*mat.Dense, error) {
	m, _ := v.Dims()
	_, p := dims(op, a)
	projected := mat.NewDense(m, p, nil)
	Mul(projected, 1, N, v, op, a, 0)
	lengths, largest := make([]float64, m), 0.0
	for i := range m {
		row := projected.RawRowView(i)
		lengths[i] = math.Sqrt(Dot(row, row))
		largest = max(largest, lengths[i])
	}
	rank := 0
	q := mat.NewDense(m, p, nil)
	for i, length := range lengths {
		if length > tol*largest {
			Axpy(1/length, projected.RawRowView(i), q.RawRowView(rank))
			rank++
		}
	}
	if rank == 0 {
		return &mat.Dense{}, nil
	}
	q = q.Slice(0, rank, 0, p).(*mat.Dense)
	gram := mat.NewSymDense(rank, nil)
	var c Cholesky
	for range 2 {
		Syrk(gram, 1, N, q, 0)
		once := float64(rank)*fromIdentity(gram) < 0.1 // the condition is at most 1.3
		if err := c.Factorize(gram); err != nil {
			return nil, err
		}
		if c.SolveLower(q); once {
			break
		}
	}
	return q, nil
}

// fromIdentity returns the largest entry of |a - I|.
func fromIdentity(a *mat.SymDense) float64 {
	var d float64
	for i := range a.SymmetricDim() {
		d = max(d, math.Abs(a.At(i, i)-1))
		for j := range i {
			d = max(d, math.Abs(a.At(i, j)))
		}
	}
	return d
}
