package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// guard returns next behind the checks of all requests. It refuses requests of pages of other
// origins that may change something, compressions other than gzip and, without tokens, names of
// the server other than loopback names: a page could reach the server under a name of its own.
func (s *Server) guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusForbidden, "the request comes from a page of another origin")
	}))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		switch encoding := r.Header.Get("Content-Encoding"); {
		case s.opts.Tokens == nil && !loopbackHost(hostOf(r.Host)):
			s.refuse(w, r, http.StatusMisdirectedRequest, "without tokens the server answers under localhost, 127.0.0.1 and [::1] only")
			return
		case encoding != "" && encoding != "gzip" && encoding != "identity":
			s.refuse(w, r, http.StatusUnsupportedMediaType, "the server takes no compression other than gzip")
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(s.bodyTime)) == nil {
				timed := *r // net/http needs its own body in r, to close a connection with an unread body
				timed.Body = &timedBody{r.Body, control, s.bodyTime}
				r = &timed
			}
		}
		if r.ProtoMajor == 1 { // Serve bounds the writes of HTTP/2
			timed := &timedWriter{w, http.NewResponseController(w), s.writeTime}
			_ = timed.control.SetWriteDeadline(time.Time{}) // the last one of an earlier request
			defer timed.extend()                            // the server writes the end of the answer
			w = timed
		}
		next.ServeHTTP(w, r)
	}))
}

// refuse answers, logs and counts a request that reaches no method and no page.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	s.metrics.requests.with(strconv.Itoa(status), "refused").Add(1)
	s.opts.Log.WarnContext(r.Context(), "refused", "status", status, "reason", reason, "host", limited(r.Host), "origin", limited(r.Header.Get("Origin")), "peer", hostOf(r.RemoteAddr))
	http.Error(w, reason, status)
}

// limited returns the beginning of a text of a client, for the log.
func limited(text string) string { return text[:min(len(text), 200)] }

// bodyTime is the time in which a client sends the body of a request.
const bodyTime = time.Minute

// timedBody ends the deadline of a connection at the end of the body. After another error the deadline
// stays: net/http reads the rest of a body before it sends the answer.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	time    time.Duration
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded): // its text has addresses
		err = connect.NewError(connect.CodeDeadlineExceeded, fmt.Errorf("the request did not arrive in %v: send fewer trials or steps at a time, or compress it with gzip", b.time))
	}
	return n, err
}

// writeTime is the time in which a client takes writePart bytes of an answer.
const (
	writeTime = 30 * time.Second
	writePart = 64 << 10
)

// timedWriter ends the connection of a client that does not take its answer.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	time    time.Duration
}

func (w *timedWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.time)) }

func (w *timedWriter) Write(p []byte) (n int, err error) {
	for {
		w.extend()
		m, err := w.ResponseWriter.Write(p[:min(len(p), writePart)])
		n += m
		if p = p[m:]; err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// FlushError is http.ResponseController's Flush.
func (w *timedWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// Flush implements http.Flusher.
func (w *timedWriter) Flush() { _ = w.FlushError() }

// Unwrap gives http.ResponseController the writer of the server.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// healthz reports whether the server takes requests.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := s.ready(r.Context()); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not ready\n")
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// ready returns an error if the server shuts down or the store cannot be read.
func (s *Server) ready(ctx context.Context) error {
	if s.closing.Err() != nil {
		return errClosing
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.store.Ping(ctx); err != nil {
		s.opts.Log.ErrorContext(ctx, "the store cannot be read", "error", err.Error())
		return err
	}
	return nil
}

// methodOf returns the name of a method for logs and metrics, such as Ask or Health.Check.
func methodOf(procedure string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
	if strings.HasPrefix(service, "grpc.health") {
		return "Health." + method
	}
	return method
}
