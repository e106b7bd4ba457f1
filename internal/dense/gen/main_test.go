package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The assembly in the repository equals the output of go generate.
func TestUpToDate(t *testing.T) {
	got, err := os.ReadFile("../kernels_amd64.s")
	require.NoError(t, err)
	require.Equal(t, string(generate()), string(got))
}
