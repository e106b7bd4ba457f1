package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store/internal/upgradetest"
)

// writeForever is a process that writes to a store until it is killed.
func writeForever(path string) error {
	b, err := Open(context.Background(), path, false)
	for i := 0; err == nil; i++ {
		err = upgradetest.Write(b, i)
		time.Sleep(time.Millisecond)
	}
	return err
}

// A backup made while a process writes is a consistent store with all that was committed before.
func TestBackup(t *testing.T) {
	ctx := context.Background()
	path := filled(t)
	writer := process("write", path)
	var stderr strings.Builder
	writer.Stderr = &stderr
	require.NoError(t, writer.Start())
	b, err := Open(ctx, path, false)
	require.NoError(t, err)
	defer b.Close()
	require.Eventually(t, func() bool { return upgradetest.Written(t, b, 20) }, time.Minute, time.Millisecond)
	dir := t.TempDir()
	for i := range 5 {
		require.NoError(t, upgradetest.Write(b, 1_000_000+i))
		to := filepath.Join(dir, fmt.Sprint(i, ".db"))
		require.NoError(t, Backup(ctx, path, to))
		c, err := Open(ctx, to, false)
		require.NoError(t, err)
		require.True(t, upgradetest.Written(t, c, 1_000_000+i))
		if i == 0 {
			upgradetest.Continue(t, c)
		}
		require.NoError(t, c.Close())
	}
	require.NoError(t, writer.Process.Kill())
	require.Error(t, writer.Wait())
	require.Empty(t, stderr.String())

	require.ErrorIs(t, Backup(ctx, path, filepath.Join(dir, "0.db")), os.ErrExist)
	require.ErrorIs(t, Backup(ctx, filepath.Join(dir, "none.db"), filepath.Join(dir, "new.db")), os.ErrNotExist)
	require.NoFileExists(t, filepath.Join(dir, "new.db"))
}
