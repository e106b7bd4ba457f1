package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Updates that wait for a study that another process has locked leave connections to other studies and to Ping.
func TestLockedStudy(t *testing.T) {
	ctx := context.Background()
	address := pgtest.Shared(t).Database(t)
	b, err := Open(ctx, address, true)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	for _, name := range []string{"locked", "other"} {
		_, err = s.Create(ctx, &study.Definition{Version: 1, Name: name, Budget: 100, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
		require.NoError(t, err)
	}
	holder, err := connect(ctx, address)
	require.NoError(t, err)
	defer holder.Close()
	lock, err := holder.Begin()
	require.NoError(t, err)
	defer func() { _ = lock.Rollback() }()
	_, err = lock.Exec("SELECT id FROM studies WHERE name = 'locked' FOR UPDATE")
	require.NoError(t, err)

	const n = 40
	var waiting, done sync.WaitGroup
	touch := func(name string) func(store.Tx) error {
		return func(tx store.Tx) error {
			row, err := tx.Study(name)
			if err == nil {
				row.Revision++
				err = tx.PutStudy(row)
			}
			return err
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	for i := range n {
		waiting.Add(1)
		done.Go(func() {
			own := ctx
			if i%4 == 0 {
				own = cancelled
			}
			waiting.Done()
			if err := b.Update(own, touch("locked")); (err != nil) != (i%4 == 0) {
				t.Errorf("update %d: %v", i, err)
			}
		})
	}
	waiting.Wait()
	for b.(store.Pooled).Pool().InUse < 2 { // they wait for the lock
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	short, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	require.NoError(t, s.Ping(short))
	require.NoError(t, b.Update(short, touch("other")))
	cancel()
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, lock.Rollback())
	done.Wait()
	require.NoError(t, b.View(ctx, func(tx store.Tx) error {
		row, err := tx.Study("locked")
		require.NoError(t, err)
		require.EqualValues(t, n-n/4, row.Revision-1)
		return nil
	}))
}
