package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store/postgres"
)

// No form of an address shows its password.
func TestMasked(t *testing.T) {
	for _, address := range []string{
		"postgres://bo:secret@host/db",
		"postgres://bo@host/db?password=secret&sslmode=disable",
		"postgres://bo:secret@host:port with blanks/db",
		"host=db password=secret",
	} {
		require.NotContains(t, postgres.Masked(address), "secret")
	}
	require.Equal(t, "postgres://bo@host/db?sslmode=disable", postgres.Masked("postgres://bo@host/db?sslmode=disable"))
}
