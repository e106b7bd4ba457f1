package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// fill stores n complete trials with a reply each, and one pending trial.
func fill(t *testing.T, n int) (*store.Study, store.Backend, int64) {
	t.Helper()
	u, b := newStudy(t, line(n+1), store.Options{})
	var id int64
	require.NoError(t, b.Update(t.Context(), func(tx store.Tx) error {
		row, err := tx.Study("s")
		require.NoError(t, err)
		id = row.ID
		for i := range n + 1 {
			row.Revision++
			row.Trials++
			trial := store.Trial{Number: i + 1, Params: json.RawMessage(`{"x":0}`), State: store.Complete, Numbers: map[string]float64{"value": 1}, Asked: row.Revision, Revision: row.Revision}
			if i == n {
				trial.State = store.Pending
			}
			require.NoError(t, tx.PutTrials(row.ID, []store.Trial{trial}))
			require.NoError(t, tx.PutReply(row.ID, fmt.Sprint(i), json.RawMessage("1")))
		}
		return tx.PutStudy(row)
	}))
	return u, b, id
}

// allocated returns the bytes that f allocates: the least of several calls, because the runtime allocates
// too.
func allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// The cost of an Update in memory, and of the queries of pending and changed trials, does not depend on
// the number of trials.
func TestMemoryCopiesChangesOnly(t *testing.T) {
	bytes := func(n int) uint64 {
		_, b, id := fill(t, n)
		return allocated(func() {
			require.NoError(t, b.Update(context.Background(), func(tx store.Tx) error {
				pending, err := tx.Trials(id, store.Query{Pending: true})
				require.NoError(t, err)
				require.Len(t, pending, 1)
				changed, err := tx.Trials(id, store.Query{Since: int64(n + 1)})
				require.NoError(t, err)
				require.Len(t, changed, 1)
				return tx.PutTrials(id, pending)
			}))
		})
	}
	require.Less(t, bytes(5000), bytes(100)+10_000)
}

// A panic in an Update in memory leaves the rows as they were.
func TestMemoryRestoresAfterAPanic(t *testing.T) {
	_, b, id := fill(t, 1)
	require.Panics(t, func() {
		_ = b.Update(t.Context(), func(tx store.Tx) error {
			require.NoError(t, tx.DeleteStudy(id))
			panic("fault")
		})
	})
	require.NoError(t, b.View(t.Context(), func(tx store.Tx) error {
		_, err := tx.Study("s")
		return err
	}))
}
