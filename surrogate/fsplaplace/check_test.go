package fsplaplace

import (
	"github.com/functionspace/bo/surrogate"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/prior"
)

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Network: surrogate.Network{Activation: "tahn"}}, 2), `activation is "tahn", want `)
	require.ErrorIs(t, surrogate.Check(Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2), prior.ErrSpec)
}
