package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// The server ends the connection of a client that does not take its answer. A stream that pauses and a connection that is
// used again have no such end.
func TestUnreadAnswer(t *testing.T) {
	s := New(store.NewMemory(), Options{})
	defer s.Close()
	s.writeTime = 500 * time.Millisecond
	large := bytes.Repeat([]byte("x"), 64<<20)
	written := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(large)
		written <- err
	})
	parts := large[:3*writePart+1]
	mux.HandleFunc("/parts", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(parts) })
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		for _, text := range []string{"a", "b"} {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
			time.Sleep(2 * s.writeTime)
		}
	})
	server := httptest.NewServer(s.guard(mux))
	defer server.Close()

	c, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprint(c, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	select {
	case err := <-written:
		require.ErrorContains(t, err, "timeout")
	case <-time.After(20 * time.Second):
		require.Fail(t, "the answer waits for its client")
	}

	for _, path := range []string{"/stream", "/parts", "/stream"} { // one connection
		answer, err := server.Client().Get(server.URL + path)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Contains(t, []int{2, len(parts)}, len(text))
	}
}
