package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/storetest"
)

// database makes an empty database on the server and returns its address.
func database(t *testing.T, server *pgtest.Server) string {
	t.Helper()
	db, err := sql.Open("pgx", server.Address())
	require.NoError(t, err)
	defer db.Close()
	name := fmt.Sprintf("test%d", time.Now().UnixNano())
	_, err = db.Exec("CREATE DATABASE " + name)
	require.NoError(t, err)
	return strings.Replace(server.Address(), "/postgres?", "/"+name+"?", 1)
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		address := database(t, server)
		return func() (store.Backend, error) { return postgres.Open(context.Background(), address, true) }
	})
}

func TestOpen(t *testing.T) {
	server := pgtest.Start(t)
	ctx := context.Background()
	t.Run("reading creates nothing", func(t *testing.T) {
		_, err := postgres.Open(ctx, database(t, server), false)
		require.ErrorContains(t, err, "the database has no studies yet")
	})
	t.Run("upgraded", func(t *testing.T) {
		address := database(t, server)
		for range 2 {
			_, err := postgres.Upgrade(ctx, address)
			require.NoError(t, err)
			b, err := postgres.Open(ctx, address, false)
			require.NoError(t, err)
			require.NoError(t, b.Close())
		}
	})
	t.Run("ten at once", func(t *testing.T) {
		address := database(t, server)
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
