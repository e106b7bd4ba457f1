package server

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
)

// maxQueue bounds the computations of suggestions that wait.
const maxQueue = 1000

// gate bounds the computations of suggestions at a time. They begin in the order of their arrival.
type gate struct {
	slots, queue chan struct{}
	metrics      *metrics
}

func newGate(n int, m *metrics) *gate {
	return &gate{make(chan struct{}, n), make(chan struct{}, maxQueue), m}
}

// enter waits for a slot. The caller calls done at the end of its computation.
func (g *gate) enter(ctx context.Context) (done func(), err error) {
	select {
	case g.queue <- struct{}{}:
	default:
		return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many requests for suggestions wait: try again later"))
	}
	g.metrics.waiting.Add(1)
	defer func() {
		<-g.queue
		g.metrics.waiting.Add(-1)
	}()
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	g.metrics.running.Add(1)
	return func() {
		<-g.slots
		g.metrics.running.Add(-1)
	}, nil
}

// short is the time of a request that computes no suggestions.
const short = time.Minute

// limited bounds the time of a request. It ends when the server shuts down, if the request may wait.
func (s *Server) limited(ctx context.Context, waits bool) (context.Context, context.CancelFunc) {
	if !waits {
		return context.WithTimeoutCause(ctx, short, errors.New("the request takes longer than a minute"))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Limits.Wait, errLimit)
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
