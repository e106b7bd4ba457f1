package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/storetest"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		address := server.Database(t)
		return func() (store.Backend, error) { return postgres.Open(context.Background(), address, true) }
	})
}

func TestPostgresOperations(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	storetest.RunOperations(t, 20_000, func(t *testing.T) storetest.Opener {
		address := server.Database(t)
		return func() (store.Backend, error) { return postgres.Open(context.Background(), address, true) }
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	ctx := context.Background()
	t.Run("reading creates nothing", func(t *testing.T) {
		_, err := postgres.Open(ctx, server.Database(t), false)
		require.ErrorContains(t, err, "the database has no studies yet")
	})
	t.Run("a search path without a schema", func(t *testing.T) {
		address := server.Database(t) + "&search_path=nope"
		for _, create := range []bool{true, false} {
			_, err := postgres.Open(ctx, address, create)
			require.ErrorContains(t, err, "no schema of the search_path nope exists")
		}
		_, err := postgres.Upgrade(ctx, address)
		require.ErrorContains(t, err, "no schema of the search_path nope exists")
		b, err := postgres.Open(ctx, address+",public", true)
		require.NoError(t, err)
		require.NoError(t, b.Close())
	})
	t.Run("upgraded", func(t *testing.T) {
		address := server.Database(t)
		for range 2 {
			_, err := postgres.Upgrade(ctx, address)
			require.NoError(t, err)
			b, err := postgres.Open(ctx, address, false)
			require.NoError(t, err)
			require.NoError(t, b.Close())
		}
	})
	t.Run("ten at once", func(t *testing.T) {
		address := server.Database(t)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				b, err := postgres.Open(ctx, address, true)
				if err == nil {
					err = b.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Run("no error shows the password", func(t *testing.T) {
		for _, address := range []string{
			strings.Replace(server.Address(), ":secret", ":hidden", 1),
			"postgres://bo:hidden@127.0.0.1:1/x?sslmode=disable",
			"postgres://bo:hidden@127.0.0.1:port/x",
			"postgres://bo@127.0.0.1:1/x?password=hidden&sslmode=disable",
		} {
			_, err := postgres.Open(ctx, address, true)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hidden")
		}
	})
}
