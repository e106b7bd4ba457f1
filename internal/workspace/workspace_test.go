package workspace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestPartsDoNotOverlap(t *testing.T) {
	var m Memory
	for range 3 { // the last two from one slab
		parts := [][]float64{m.Floats(3), m.Dense(2, 5).RawMatrix().Data, m.Sym(4).RawSymmetric().Data, m.Floats(0), m.Zeros(1, 7).RawMatrix().Data}
		for i, p := range parts {
			require.Len(t, p, []int{3, 10, 16, 0, 7}[i])
			require.Equal(t, len(p), cap(p))
			for j := range p {
				p[j] = float64(i)
			}
		}
		for i, p := range parts {
			for _, v := range p {
				require.Equal(t, float64(i), v)
			}
		}
		m.Reset()
	}
}

func TestZeros(t *testing.T) {
	var m Memory
	for range 2 {
		z := m.Zeros(2, 3)
		require.True(t, mat.Equal(z, mat.NewDense(2, 3, nil)))
		z.Set(1, 1, math.NaN())
		m.Reset()
	}
}

func TestRows(t *testing.T) {
	var m Memory
	x := mat.NewDense(4, 3, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	part := x.Slice(0, 4, 1, 3).(*mat.Dense)
	rows := m.Rows(part, 1, 3)
	require.True(t, mat.Equal(rows, part.Slice(1, 3, 0, 2)))
	rows.Set(0, 0, -1)
	require.Equal(t, -1.0, x.At(1, 1))
	n, _ := m.Rows(x, 2, 2).Dims()
	require.Zero(t, n)
}
