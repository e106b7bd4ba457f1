package fsplaplace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/prior"
)

func TestCheck(t *testing.T) {
	require.NoError(t, Model{}.Check(2))
	require.ErrorContains(t, Model{Activation: "tahn"}.Check(2), "did you mean tanh?")
	require.ErrorIs(t, Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}.Check(2), prior.ErrSpec)
}
