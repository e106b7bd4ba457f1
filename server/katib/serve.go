package katib

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
	"github.com/functionspace/bo/api/katib/v1beta1/katibv1beta1connect"
)

const (
	maxBytes = 16 << 20 // of a request
	grace    = 5 * time.Second
)

// Handler returns the handler of the service and of its health. Katib's controller needs HTTP/2 in
// clear text.
func (s *Service) Handler() http.Handler {
	options := []connect.HandlerOption{connect.WithReadMaxBytes(maxBytes), connect.WithRecover(s.recovered)}
	mux := http.NewServeMux()
	mux.Handle(katibv1beta1connect.NewSuggestionHandler(s, options...))
	mux.Handle(healthv1connect.NewHealthHandler(health{}, options...))
	return mux
}

// recovered returns the answer to a request that panics.
func (s *Service) recovered(ctx context.Context, spec connect.Spec, _ http.Header, fault any) error {
	s.log.ErrorContext(ctx, "panic", "method", spec.Procedure, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
	return connect.NewError(connect.CodeInternal, errors.New("internal error, which the log of the service describes"))
}

// Serve serves on a listener until ctx ends, and then completes the requests under way for up to five
// seconds.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	h := &http.Server{
		Handler: s.Handler(), Protocols: protocols, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		err := h.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close()
		}
		stopped <- err
	})
	err := h.Serve(l)
	if stop() {
		return err // the listener failed
	}
	return <-stopped
}
