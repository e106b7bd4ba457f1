package exchange_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

// BenchmarkTenThousand writes and reads a study of 10 000 trials with six parameters.
func BenchmarkTenThousand(b *testing.B) {
	var parameters []space.Parameter
	for i := range 6 {
		parameters = append(parameters, space.Float(fmt.Sprint("x", i), 0, 1))
	}
	snapshot := &store.Snapshot{Definition: &study.Definition{Version: 1, Name: "s", Parameters: parameters}}
	for i := range 10_000 {
		x := float64(i) / 10_000
		params := fmt.Sprintf(`{"x0":%v,"x1":%v,"x2":0.5,"x3":0.25,"x4":0.125,"x5":0}`, x, 1-x)
		snapshot.Trials = append(snapshot.Trials, store.Trial{Number: i + 1, Params: []byte(params), Source: "suggested", State: store.Complete, Numbers: map[string]float64{"value": x}})
	}
	restored := func(b *testing.B) *store.Snapshot {
		backend, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "bo.db"), true)
		require.NoError(b, err)
		s := store.New(backend, store.Options{})
		defer s.Close()
		u, err := s.Restore(ctx, "", snapshot)
		require.NoError(b, err)
		out, err := u.Snapshot(ctx)
		require.NoError(b, err)
		return out
	}
	snapshot = restored(b)
	var document bytes.Buffer
	require.NoError(b, exchange.Write(&document, snapshot))
	journal := journalOf(b, snapshot)
	b.Run("restore into sqlite", func(b *testing.B) {
		for b.Loop() {
			restored(b)
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, exchange.Write(&bytes.Buffer{}, snapshot))
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			_, err := exchange.Read(bytes.NewReader(document.Bytes()))
			require.NoError(b, err)
		}
	})
	b.Run("write journal", func(b *testing.B) {
		for b.Loop() {
			journalOf(b, snapshot)
		}
	})
	b.Run("read journal", func(b *testing.B) {
		for b.Loop() {
			_, err := exchange.ReadJournal(bytes.NewReader(journal), "")
			require.NoError(b, err)
		}
	})
}
