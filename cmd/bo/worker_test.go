package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/store"
)

// The message of a worker has all results that are lost, without codes of the service.
func TestExplainedLostResults(t *testing.T) {
	lost := func(n int) error {
		return &store.NotStored{Report: store.Report{Trial: n}, Err: connect.NewError(connect.CodeUnavailable, errors.New("down"))}
	}
	err := explained("http://localhost", errors.Join(errors.Join(context.Canceled, lost(1)), lost(2)))
	require.EqualError(t, err, "context canceled\nthe result of trial 1 is not stored: http://localhost: down\nthe result of trial 2 is not stored: http://localhost: down")
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	net.Listener
	accepted chan net.Conn
}

func (l *pipes) Accept() (net.Conn, error) {
	c, ok := <-l.accepted
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close ends Accept. A server calls it once.
func (l *pipes) Close() error {
	close(l.accepted)
	return nil
}

// silent is a connection that loses what is written to it.
type silent struct {
	net.Conn
	lost *atomic.Bool
}

func (c *silent) Write(b []byte) (int, error) {
	if c.lost.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// A worker makes another connection if its connection of HTTP/2 is lost without an error, as when a host vanishes.
func TestLostConnection(t *testing.T) {
	made := httptest.NewTLSServer(nil)
	made.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate().Raw}), 0o600))
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{Listener: made.Listener, accepted: make(chan net.Conn)}
		s := &http.Server{TLSConfig: &tls.Config{Certificates: made.TLS.Certificates}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		})}
		served := make(chan error, 1)
		go func() { served <- s.ServeTLS(l, "", "") }()
		defer func() {
			require.NoError(t, s.Close())
			require.ErrorIs(t, <-served, http.ErrServerClosed)
		}()
		client, err := (&serviceFlags{CA: ca}).client(&env{ctx: t.Context()}, "https://example.com")
		require.NoError(t, err)
		transport := client.Client.Transport.(*http.Transport)
		defer transport.CloseIdleConnections()
		var first *atomic.Bool
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			l.accepted <- far
			lost := &atomic.Bool{}
			if first == nil {
				first = lost
			}
			return &silent{near, lost}, nil
		}
		get := func() (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, client.URL, nil)
			require.NoError(t, err)
			answer, err := client.Client.Do(r)
			if err != nil {
				return "", err
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			return string(text), err
		}
		proto, err := get()
		require.NoError(t, err)
		require.Equal(t, "HTTP/2.0", proto)
		first.Store(true)
		_, err = get()
		require.Error(t, err)
		_, err = get()
		require.NoError(t, err)
	})
}

// A worker sends the present token of its file. Without a token in the file it sends the earlier one.
func TestReplacedToken(t *testing.T) {
	var sent []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		http.Error(w, "none", http.StatusServiceUnavailable)
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("first\n")
	c, err := (&serviceFlags{TokenFile: path}).client(&env{stderr: io.Discard}, s.URL)
	require.NoError(t, err)
	for _, text := range []string{"first\n", "second\n", ""} {
		write(text)
		_, err = c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread"})
		require.Error(t, err)
	}
	require.Equal(t, []string{"Bearer first", "Bearer second", "Bearer first"}, sent)
}
