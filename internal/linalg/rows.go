package linalg

import "gonum.org/v1/gonum/mat"

// Fill sets all elements of dst to v.
func Fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// Mean returns Σ_i v_i/n for n numbers.
func Mean(v []float64) float64 {
	var mean float64
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean
}

// ScaleRows multiplies row i of a by s_i.
func ScaleRows(a *mat.Dense, s []float64) {
	for i, v := range s {
		row := a.RawRowView(i)
		for j := range row {
			row[j] *= v
		}
	}
}

// ScaleColumns writes a with column j multiplied by s_j to dst, which may be a.
func ScaleColumns(dst, a *mat.Dense, s []float64) {
	n, _ := a.Dims()
	for i := range n {
		d := dst.RawRowView(i)
		for j, v := range a.RawRowView(i)[:len(s)] {
			d[j] = v * s[j]
		}
	}
}

// RowSquares writes Σ_j a_ij² to dst_i.
func RowSquares(dst []float64, a *mat.Dense) {
	clear(dst)
	AddRowSquares(dst, a)
}

// AddRowSquares adds Σ_j a_ij² to dst_i.
func AddRowSquares(dst []float64, a *mat.Dense) {
	for i := range dst {
		row := a.RawRowView(i)
		dst[i] += Dot(row, row)
	}
}

// AddColumnSquares adds Σ_i a_ij² to dst_j.
func AddColumnSquares(dst []float64, a *mat.Dense) {
	n, _ := a.Dims()
	for i := range n {
		for j, v := range a.RawRowView(i) {
			dst[j] += v * v
		}
	}
}

// SubColumnSquares subtracts Σ_i a_ij² from dst_j.
func SubColumnSquares(dst []float64, a *mat.Dense) {
	n, _ := a.Dims()
	for i := range n {
		for j, v := range a.RawRowView(i) {
			dst[j] -= v * v
		}
	}
}

// CloneSym returns a copy of a.
func CloneSym(a *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	out.CopySym(a)
	return out
}

// Transpose writes aᵀ to dst. It does not allocate.
func Transpose(dst, a *mat.Dense) {
	raw := dst.RawMatrix()
	for i := range raw.Cols {
		for j, v := range a.RawRowView(i) {
			raw.Data[j*raw.Stride+i] = v
		}
	}
}

// SetIdentity overwrites the square matrix a with the identity.
func SetIdentity(a *mat.Dense) {
	a.Zero()
	for i := range a.RawMatrix().Rows {
		a.Set(i, i, 1)
	}
}

// Symmetric returns ½(a + aᵀ).
func Symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, 0.5*(a.At(i, j)+a.At(j, i)))
		}
	}
	return out
}
