package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/filelock"
)

func TestLockIsExclusiveAndEndsWithItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	require.NoError(t, filelock.Lock(first))
	_, err := first.WriteString("text")
	require.NoError(t, err)
	free, err := filelock.TryLock(second)
	require.NoError(t, err)
	require.False(t, free)
	text, err := os.ReadFile(path)
	require.NoError(t, err, "readers do not wait")
	require.Equal(t, "text", string(text))
	require.NoError(t, first.Close())
	free, err = filelock.TryLock(second)
	require.NoError(t, err)
	require.True(t, free)
}
