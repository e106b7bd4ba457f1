package plaintext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClip(t *testing.T) {
	require.Equal(t, "größe", Clip("größe", 5))
	require.Equal(t, "grö…", Clip("größe", 4))
	require.Equal(t, "…", Clip("größe", 0))
}

func TestClean(t *testing.T) {
	require.Equal(t, "a\ufffdb\ufffd", Clean("a\x00b\xff"))
}
