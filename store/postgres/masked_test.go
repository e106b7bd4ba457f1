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
		"postgres://bo@host/db?sslpassword=secret",
		"postgres://bo:secret@host:port with blanks/db",
		"host=db password=secret",
		"postgres://bo@host/db?password=100%secret",
		"postgres://bo@host/db?password=se;secret",
		"postgres://bo@host/db?sslmode=disable&p%61ssword=secret&x=%",
		"postgres://bo:12#secret@host/db",
		"postgres://bo:12/secret@host/db",
		"postgres://bo:12?secret@host/db",
		"postgres://bo:se@12/secret@host/db",
	} {
		require.NotContains(t, postgres.Masked(address), "secret")
	}
	require.Equal(t, "postgres://bo@host/db?sslmode=disable", postgres.Masked("postgres://bo@host/db?sslmode=disable"))
	require.Equal(t, "postgres://bo@host/my%40db", postgres.Masked("postgres://bo@host/my%40db"))
}

// The error of an address that cannot be used names the wrong setting, and has no password.
func TestOpenMalformed(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://bo:secret@host/db?sslmode=verify-ful":                           "sslmode is invalid",
		"postgres://bo:secret@host/db?sslmode=verify-full&sslrootcert=/none/ca.pem": "/none/ca.pem",
		"postgres://bo:secret@host/db?connect_timeout=soon":                         `"soon"`,
		"postgres://bo:secret@host/db?default_query_exec_mode=quick":                "default_query_exec_mode",
		"postgres://bo:se/cret@host/db":                                             "not of the form",
		"postgres://bo:12/secret@host/db":                                           "not of the form",
		"postgres://bo:se@12/secret@host/db":                                        "not of the form",
		"postgres://bo:secret@host:99999/db":                                        "",
	} {
		_, err := postgres.Open(t.Context(), address, false)
		require.ErrorContains(t, err, want, address)
		require.NotContains(t, err.Error(), "cret", address)
	}
}
