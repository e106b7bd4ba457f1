package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// Updates that wait for one another share a transaction. Each has its own error, an Update that fails
// leaves nothing, and one that is cancelled does not run after its return.
func TestUpdatesTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	b, err := Open(t.Context(), path, true)
	require.NoError(t, err)
	faulty := errors.New("faulty")
	put := func(tx store.Tx, name string) error {
		return tx.PutStudy(&store.Row{Name: name, Definition: []byte("{}"), Created: time.Now()})
	}
	require.NoError(t, b.Update(t.Context(), func(tx store.Tx) error { return put(tx, "taken") }))
	var all sync.WaitGroup
	errs := make([]error, 200)
	returned := make([]bool, len(errs))
	release := make(chan struct{})
	held := make(chan struct{})
	all.Go(func() { // the others wait meanwhile
		require.NoError(t, b.Update(t.Context(), func(store.Tx) error {
			select {
			case <-held:
			default:
				close(held)
			}
			<-release
			return nil
		}))
	})
	<-held
	for i := range errs {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 4 {
				time.AfterFunc(time.Duration(i)*100*time.Microsecond, cancel)
			}
			errs[i] = b.Update(ctx, func(tx store.Tx) error {
				if returned[i] {
					t.Error("an Update runs after its return")
				}
				if err := put(tx, fmt.Sprintf("s%03d", i)); err != nil {
					return err
				}
				switch {
				case i%20 == 3:
					return faulty
				case i%20 == 6:
					return put(tx, "taken")
				}
				return nil
			})
			returned[i] = true
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	all.Wait()
	require.NoError(t, b.Close())

	b, err = Open(t.Context(), path, false)
	require.NoError(t, err)
	defer b.Close()
	stored := map[string]bool{}
	require.NoError(t, b.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Studies()
		for _, row := range rows {
			stored[row.Name] = true
		}
		return err
	}))
	for i, err := range errs {
		name := fmt.Sprintf("s%03d", i)
		switch {
		case i%20 == 3:
			require.ErrorIs(t, err, faulty)
			require.False(t, stored[name])
		case i%20 == 6:
			require.ErrorIs(t, err, store.ErrExists)
			require.False(t, stored[name])
		case i%5 == 4 && err != nil:
			require.ErrorIs(t, err, context.Canceled)
		default:
			require.NoError(t, err, name)
			require.True(t, stored[name], name)
		}
	}
}

// A panic of one Update reaches its caller or the caller whose transaction it shared, and the store
// works on.
func TestPanicInAGroup(t *testing.T) {
	b, err := Open(t.Context(), filepath.Join(t.TempDir(), "bo.db"), true)
	require.NoError(t, err)
	defer b.Close()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			defer func() { _ = recover() }()
			_ = b.Update(t.Context(), func(tx store.Tx) error {
				if i == 20 {
					panic("fault")
				}
				_, err := tx.Now()
				return err
			})
		})
	}
	all.Wait()
	require.NoError(t, b.Update(t.Context(), func(store.Tx) error { return nil }))
}

// A transaction whose context ends while it begins returns the error of the context.
func TestContextEndsAtBegin(t *testing.T) {
	b, err := Open(t.Context(), filepath.Join(t.TempDir(), "bo.db"), true)
	require.NoError(t, err)
	defer b.Close()
	for _, open := range []func(context.Context, func(store.Tx) error) error{b.View, b.Update} {
		ended := 0
		for i := 0; i < 2000 && ended < 20; i++ {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			err := open(ctx, func(store.Tx) error { return nil })
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				ended++
			}
			cancel()
		}
		require.NoError(t, open(t.Context(), func(store.Tx) error { return nil }))
	}
}
