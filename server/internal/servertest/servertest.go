// Package servertest runs servers in tests.
package servertest

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// AnyPort is an address with a free port.
const AnyPort = "127.0.0.1:0"

// Server serves requests, as server.Server does. The tests of package server cannot import a package that
// imports it.
type Server interface {
	Serve(ctx context.Context, l net.Listener, t *tls.Config) error
	Close() error
}

// Running is a server that serves without TLS.
type Running struct {
	Address string       // host and port
	URL     string       // http://Address
	Stop    func() error // ends Serve, closes the server and returns the first error
}

// Start serves on an address until Stop is called, or until the end of the test.
func Start(t testing.TB, s Server, address string) Running {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, nil) }()
	stop := sync.OnceValue(func() error {
		cancel()
		err := <-served
		if closed := s.Close(); err == nil {
			err = closed
		}
		return err
	})
	t.Cleanup(func() { _ = stop() })
	return Running{Address: l.Addr().String(), URL: "http://" + l.Addr().String(), Stop: stop}
}

// Log collects the text of a log. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger returns a logger that writes to the log.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the text.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
