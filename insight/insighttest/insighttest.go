// Package insighttest holds six recorded studies for tests of tables, plots and reports:
//
//	branin       two floats, noise-free, one worker
//	mixed        six parameters of four kinds, one of them conditional, maximised, with failures, four workers
//	noisy        three floats, of which one has no effect, with noise as large as most differences
//	constrained  a required latency, learned, and a constraint on the parameters
//	front        two objectives, with a failure
//	curves       trials that report a value at every step, of which a rule stops the poor ones
//
// The trials are files, so that they are equal on all machines. Each study has a pending trial.
package insighttest

import (
	"context"
	"embed"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
)

// Names are the names of the studies.
var Names = []string{"branin", "mixed", "noisy", "constrained", "front", "curves"}

//go:embed testdata
var files embed.FS

// Snapshot returns a study by name.
func Snapshot(tb testing.TB, name string) *store.Snapshot {
	tb.Helper()
	f, err := files.Open("testdata/" + name + ".json")
	require.NoError(tb, err)
	defer f.Close()
	in, err := exchange.Read(f)
	require.NoError(tb, err)
	return in.Snapshot
}

// Store returns a store in memory that holds all studies.
func Store(tb testing.TB) *store.Store {
	tb.Helper()
	s := store.New(store.NewMemory(), store.Options{})
	tb.Cleanup(func() { _ = s.Close() })
	for _, name := range Names {
		_, err := s.Restore(context.Background(), name, Snapshot(tb, name))
		require.NoError(tb, err)
	}
	return s
}

// Study returns a study by name, of a store in memory.
func Study(tb testing.TB, name string) *store.Study {
	tb.Helper()
	s := store.New(store.NewMemory(), store.Options{})
	tb.Cleanup(func() { _ = s.Close() })
	u, err := s.Restore(context.Background(), name, Snapshot(tb, name))
	require.NoError(tb, err)
	return u
}
