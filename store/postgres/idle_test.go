package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// The server ends a transaction whose process is stopped, and the transaction is repeated.
func TestIdleTransaction(t *testing.T) {
	defer func(was string) { idle = was }(idle)
	idle = "100ms"
	ctx := context.Background()
	address := pgtest.Shared(t).Database(t)
	b, err := Open(ctx, address, true)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	_, err = s.Create(ctx, &study.Definition{Version: 1, Name: "s", Budget: 100, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.NoError(t, err)
	calls := func(b store.Backend) (n int) {
		require.NoError(t, b.Update(ctx, func(tx store.Tx) error {
			n++
			row, err := tx.Study("s") // locks the study
			if err != nil {
				return err
			}
			if n == 1 {
				time.Sleep(time.Second)
			}
			return tx.PutStudy(row)
		}))
		return n
	}
	require.GreaterOrEqual(t, calls(b), 2) // a slow machine may exceed the time again

	patient, err := Open(ctx, address+"&"+idleSetting+"=1h", false)
	require.NoError(t, err)
	defer patient.Close()
	require.Equal(t, 1, calls(patient))
}
