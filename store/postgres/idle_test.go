package postgres

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
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

// narrow returns the address of a connection to a server that carries a number of bytes in a second.
func narrow(t *testing.T, address string, rate int) string {
	u, err := url.Parse(address)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	server := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() {
				_, _ = io.Copy(client, to)
				_ = client.Close()
			}()
			go func() {
				defer to.Close()
				for part := make([]byte, rate/100); ; time.Sleep(10 * time.Millisecond) {
					n, err := client.Read(part)
					if err != nil {
						return
					}
					if _, err := to.Write(part[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

// The time within a transaction bounds the time of a statement on its way to the server: a large change has many
// statements.
func TestSlowConnection(t *testing.T) {
	defer func(was string) { idle = was }(idle)
	idle = "500ms"
	b, err := Open(t.Context(), narrow(t, pgtest.Shared(t).Database(t), 1<<20), true)
	require.NoError(t, err)
	s := store.New(b, store.Options{})
	defer s.Close()
	u, err := s.Create(t.Context(), &study.Definition{Version: 1, Name: "s", Budget: 5000, Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	require.NoError(t, err)
	points := make([]store.Evaluated, 5000)
	for i := range points {
		points[i] = store.Evaluated{Params: map[string]any{"x": float64(i) / 5000}, Numbers: map[string]float64{"value": 1}, Message: strings.Repeat("a note ", 20)}
	}
	begun := time.Now()
	_, err = u.Add(t.Context(), "", points...)
	require.NoError(t, err)
	require.Greater(t, time.Since(begun), time.Second, "longer than the time")
}
