package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

// observer logs and measures requests, gives errors their codes, and recovers from panics. Logs have
// neither headers nor contents of requests, beside the name of the study.
type observer struct{ *Server }

var _ connect.Interceptor = (*observer)(nil)

func (o *observer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (response connect.AnyResponse, err error) {
		name := ""
		if of, ok := r.Any().(*anyMessage).Message.(interface{ GetStudy() string }); ok {
			name = of.GetStudy()
		}
		defer o.end(ctx, time.Now(), r.Spec(), r.Peer(), name, &err)
		if err := observedOf(ctx).share.grow(int64(proto.Size(r.Any().(*anyMessage).Message))); err != nil {
			return nil, err
		}
		return next(ctx, r)
	}
}

func (o *observer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (o *observer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, c connect.StreamingHandlerConn) (err error) {
		defer o.end(ctx, time.Now(), c.Spec(), c.Peer(), "", &err)
		return next(ctx, c)
	}
}

// end is deferred by requests.
func (o *observer) end(ctx context.Context, begun time.Time, spec connect.Spec, peer connect.Peer, study string, err *error) {
	if fault := recover(); fault != nil {
		if fault == http.ErrAbortHandler {
			panic(fault)
		}
		o.opts.Log.ErrorContext(ctx, "panic", "method", methodOf(spec.Procedure), "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
		*err = connect.NewError(connect.CodeInternal, errInternal)
	}
	*err = o.coded(ctx, *err)
	if connect.CodeOf(*err) == connect.CodeInternal && !errors.Is(*err, errInternal) { // a fault of the framing of a request
		*err = connect.NewError(connect.CodeInvalidArgument, errors.Unwrap(*err))
	}
	code, level := "ok", slog.LevelInfo
	if *err != nil {
		code = connect.CodeOf(*err).String()
	}
	if connect.CodeOf(*err) == connect.CodeInternal {
		level = slog.LevelError
	}
	o.forget(study, errors.Unwrap(*err))
	o.record(ctx, level, spec.Procedure, study, code, peer.Addr, time.Since(begun))
}

// record logs and measures a request of a method.
func (s *Server) record(ctx context.Context, level slog.Level, procedure, study, code, peer string, spent time.Duration) {
	request, method := observedOf(ctx), methodOf(procedure)
	request.logged = true
	s.metrics.requests.with(code, method).Add(1)
	s.metrics.seconds.with(method).observe(spent.Seconds())
	s.opts.Log.LogAttrs(ctx, level, "request", slog.String("method", method), slog.String("study", study), slog.String("code", code),
		slog.Float64("seconds", spent.Seconds()), slog.String("token", request.token), slog.String("peer", hostOf(peer)))
}

// observed returns the handler of a method, which also logs and measures requests that do not reach the observer:
// connect refuses an unreadable message before it calls interceptors.
func (s *Server) observed(procedure string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, request, answer := time.Now(), &observedRequest{share: share{of: &s.memory}}, &statusWriter{ResponseWriter: w}
		defer request.share.end()
		ctx := context.WithValue(r.Context(), observedKey{}, request)
		counted := r.WithContext(ctx)
		counted.Body = &countedBody{ReadCloser: r.Body, share: &request.share}
		next.ServeHTTP(answer, counted)
		if !request.logged {
			s.record(ctx, slog.LevelInfo, procedure, "", answer.code(), r.RemoteAddr, time.Since(begun))
		}
	})
}

// observedRequest is the state of a request of a method, in its context under observedKey.
type observedRequest struct {
	token   string       // its name
	studies string       // Token.Studies
	check   func() error // returns an error if the token is not valid any more
	logged  bool
	share   share
}

type observedKey struct{}

func observedOf(ctx context.Context) *observedRequest {
	return ctx.Value(observedKey{}).(*observedRequest)
}

// tokenOf returns the name of the token of a request, "" for pages and without tokens.
func tokenOf(ctx context.Context) string {
	if request, ok := ctx.Value(observedKey{}).(*observedRequest); ok {
		return request.token
	}
	return ""
}

// studiesOf returns the beginning of the names of the studies that the token of a request permits.
func studiesOf(ctx context.Context) string {
	if request, ok := ctx.Value(observedKey{}).(*observedRequest); ok {
		return request.studies
	}
	return ""
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher, which connect needs for streams.
func (w *statusWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// code returns the code of a request that was refused before the interceptors, or its HTTP status if the answer has
// no code.
func (w *statusWriter) code() string {
	for _, key := range []string{"Grpc-Status", http.TrailerPrefix + "Grpc-Status"} {
		if code, err := strconv.ParseUint(w.Header().Get(key), 10, 32); err == nil {
			return connect.Code(code).String()
		}
	}
	switch w.status { // as connect maps the codes of requests that it cannot read
	case 499:
		return connect.CodeCanceled.String()
	case http.StatusGatewayTimeout:
		return connect.CodeDeadlineExceeded.String()
	case http.StatusInternalServerError:
		return connect.CodeUnknown.String()
	case http.StatusBadRequest: // other codes with this status come from methods
		return connect.CodeInvalidArgument.String()
	case http.StatusTooManyRequests:
		return connect.CodeResourceExhausted.String()
	case http.StatusNotImplemented:
		return connect.CodeUnimplemented.String()
	}
	return strconv.Itoa(w.status)
}
