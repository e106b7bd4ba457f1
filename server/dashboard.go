package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/server/dashboard"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// dashboard returns the handler of the pages for browsers.
func (s *Server) dashboard() http.Handler {
	o := dashboard.Options{
		Store: s.store, Admit: s.gate.enter, Watch: s.watching, Wait: s.opts.Limits.Wait, Closing: s.closing, Log: s.opts.Log,
		Study: func(ctx context.Context, name string) (*store.Study, <-chan struct{}, error) {
			if study.CheckName(name) != nil {
				return nil, nil, store.ErrNoStudy
			}
			u, err := s.study(ctx, name)
			if err != nil {
				return nil, nil, err
			}
			return u.study, u.changed.Wait(), nil
		},
		Prefix:  s.opts.Prefix,
		Status:  s.pageStatus,
		Observe: s.observePage,
	}
	if s.opts.Tokens != nil {
		o.Sessions = newSessions(s)
	}
	return dashboard.New(o)
}

// pageStatus returns the status and the text of an error for the reader of a page.
func (s *Server) pageStatus(ctx context.Context, err error) (int, string) {
	err = s.coded(ctx, err)
	text := err.Error()
	if c, ok := errors.AsType[*connect.Error](err); ok {
		text = c.Message()
	}
	switch connect.CodeOf(err) {
	case connect.CodeNotFound:
		return http.StatusNotFound, text
	case connect.CodeInvalidArgument:
		return http.StatusBadRequest, text
	case connect.CodeResourceExhausted:
		return http.StatusTooManyRequests, text
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded:
		return http.StatusServiceUnavailable, text
	case connect.CodeFailedPrecondition:
		return http.StatusConflict, text
	}
	return http.StatusInternalServerError, text
}

// observePage logs and measures a request of a page.
func (s *Server) observePage(ctx context.Context, method, name, reader, peer string, status int, seconds float64) {
	s.metrics.requests.with(strconv.Itoa(status), method).Add(1)
	s.metrics.seconds.with(method).observe(seconds)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		level = slog.LevelError
	}
	if study.CheckName(name) != nil {
		name = "" // an address holds any text, a name does not
	}
	s.opts.Log.LogAttrs(ctx, level, "request", slog.String("method", method), slog.String("study", name), slog.Int("status", status),
		slog.Float64("seconds", seconds), slog.String("token", reader), slog.String("peer", peer))
}

// sessionTime is the time after which a reader signs in again.
const sessionTime = 12 * time.Hour

// sessions authenticate the readers of the dashboard by signed texts: the end of the session, a signature
// and the name of a token. The signature covers the hash of the token, so that the session ends with the
// token.
type sessions struct {
	*Server
	key []byte
}

var _ dashboard.Sessions = (*sessions)(nil)

func newSessions(s *Server) *sessions {
	key := s.opts.SessionKey
	if key == nil {
		key = make([]byte, sha256.Size)
		_, _ = rand.Read(key) // never fails
	}
	return &sessions{s, key}
}

// sign returns the signature of a session.
func (s *sessions) sign(end string, t Token) string {
	m := hmac.New(sha256.New, s.key)
	fmt.Fprintf(m, "%s\n%s\n%s", end, t.Name, strings.ToLower(t.Hash))
	return hex.EncodeToString(m.Sum(nil))
}

// Begin implements dashboard.Sessions.
func (s *sessions) Begin(token string) (string, error) {
	if token == "" {
		return "", errors.New("enter a token")
	}
	t, ok := s.opts.Tokens.find(token)
	if !ok {
		return "", errors.New("the token is not valid")
	}
	if t.expired() {
		return "", errors.New("the token has expired")
	}
	if !t.Role.permits(Read) {
		return "", fmt.Errorf("the token has the role %s, and the pages need %s", t.Role, Read)
	}
	end := strconv.FormatInt(time.Now().Add(sessionTime).Unix(), 10)
	return end + "." + s.sign(end, t) + "." + t.Name, nil
}

// Reader implements dashboard.Sessions.
func (s *sessions) Reader(session string) (dashboard.Reader, bool) {
	parts := strings.SplitN(session, ".", 3)
	if len(parts) != 3 {
		return dashboard.Reader{}, false
	}
	end, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || time.Now().Unix() >= end {
		return dashboard.Reader{}, false
	}
	for _, t := range s.opts.Tokens.named(parts[2]) {
		if t.Role.permits(Read) && hmac.Equal([]byte(s.sign(parts[0], t)), []byte(parts[1])) {
			return dashboard.Reader{Name: t.Name, Studies: t.Studies}, true
		}
	}
	return dashboard.Reader{}, false
}

// Bearer implements dashboard.Sessions.
func (s *sessions) Bearer(header http.Header) (dashboard.Reader, bool) {
	t, err := s.check(header, Read)
	return dashboard.Reader{Name: t.Name, Studies: t.Studies}, err == nil
}
