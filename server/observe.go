package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"
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
	method, spent := methodOf(spec.Procedure), time.Since(begun)
	o.metrics.requests.with(code, method).Add(1)
	o.metrics.seconds.with(method).observe(spent.Seconds())
	o.opts.Log.LogAttrs(ctx, level, "request", slog.String("method", method), slog.String("study", study), slog.String("code", code),
		slog.Float64("seconds", spent.Seconds()), slog.String("token", callerOf(ctx)), slog.String("peer", hostOf(peer.Addr)))
}
