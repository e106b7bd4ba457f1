package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// grace is the time in which requests end after the context of Serve.
const grace = 15 * time.Second

// Serve serves on a listener until ctx ends: HTTP/1.1 and HTTP/2, with TLS if a configuration is
// given and in clear text otherwise. Then it takes no further requests, ends streams and
// computations of suggestions with the code UNAVAILABLE, completes all other requests and
// returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener, t *tls.Config) error {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(t != nil)
	protocols.SetUnencryptedHTTP2(t == nil)
	h := &http.Server{
		Handler: s.handler, TLSConfig: t, Protocols: protocols,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 1000, SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second, WriteByteTimeout: 30 * time.Second},
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() {
		if t != nil {
			failed <- h.ServeTLS(l, "", "")
		} else {
			failed <- h.Serve(l)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.shut()
	limit, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := h.Shutdown(limit)
	if errors.Is(err, context.DeadlineExceeded) {
		s.opts.Log.Warn("requests did not end in time", "limit", grace.String())
		err = h.Close()
	}
	<-failed
	return err
}
