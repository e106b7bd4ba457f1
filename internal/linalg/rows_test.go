package linalg

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestIdentityAndSymmetricPart(t *testing.T) {
	a := mat.NewDense(2, 2, []float64{1, 2, 4, 3})
	require.True(t, mat.Equal(mat.NewSymDense(2, []float64{1, 3, 3, 3}), Symmetric(a)))
	SetIdentity(a)
	require.True(t, mat.Equal(mat.NewDiagDense(2, []float64{1, 1}), a))
	require.Equal(t, 2.5, Mean([]float64{1, 4}))
}
