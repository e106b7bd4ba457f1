package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Temporary files of running processes stay, unless they are old.
func TestRemoveStale(t *testing.T) {
	for _, c := range []struct {
		name string
		pid  any
		age  time.Duration
		kept bool
	}{
		{"running", os.Getpid(), 0, true},
		{"another process of an old file", os.Getpid(), 2 * staleAge, false},
		{"ended", 999_999_999, 0, false},
		{"no process", "x", 0, false},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, fmt.Sprintf(".t.csv.bo-%v-1.tmp", c.pid))
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(-c.age)))
		removeStale(filepath.Join(dir, "t.csv"))
		if c.kept {
			require.FileExists(t, file, c.name)
		} else {
			require.NoFileExists(t, file, c.name)
		}
	}
}
