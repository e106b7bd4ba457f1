package server

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// maxQueue bounds the computations of suggestions that wait. A token has at most as many as there are places left, which
// is half of them without other tokens.
const maxQueue = 2000

// gate bounds the computations of suggestions at a time. Tokens take turns, so that the requests of one client do not
// delay other clients; the computations of a token begin in the order of their arrival.
type gate struct {
	metrics *metrics

	mu      sync.Mutex
	free    int // slots without a computation
	waiting int
	turns   []string                   // tokens whose requests wait, in the order of their turns
	lines   map[string][]chan struct{} // their requests; a channel is closed when its request has a slot
}

func newGate(n int, m *metrics) *gate {
	return &gate{metrics: m, free: n, lines: map[string][]chan struct{}{}}
}

// enter waits for a slot. The caller calls done at the end of its computation.
func (g *gate) enter(ctx context.Context) (done func(), err error) {
	token := tokenOf(ctx)
	admitted, err := g.join(token)
	if err != nil {
		return nil, err
	}
	select {
	case <-admitted:
	case <-ctx.Done():
		if !g.abandon(token, admitted) {
			g.leave()
		}
		return nil, context.Cause(ctx)
	}
	g.metrics.running.Add(1)
	return func() {
		g.leave()
		g.metrics.running.Add(-1)
	}, nil
}

// join returns a channel that is closed when the request has a slot.
func (g *gate) join(token string) (admitted chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	admitted = make(chan struct{})
	switch {
	case g.free > 0:
		g.free--
		close(admitted)
		return admitted, nil
	case len(g.lines[token]) >= maxQueue-g.waiting:
		return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many requests for suggestions wait: try again later"))
	}
	if g.lines[token] == nil {
		g.turns = append(g.turns, token)
	}
	g.lines[token] = append(g.lines[token], admitted)
	g.waits(1)
	return admitted, nil
}

// waits changes the number of requests that wait. The caller holds g.mu.
func (g *gate) waits(change int) {
	g.waiting += change
	g.metrics.waiting.Add(int64(change))
}

// leave gives a slot to the first request of the next token.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.turns) == 0 {
		g.free++
		return
	}
	token := g.turns[0]
	admitted := g.lines[token][0]
	g.turns = append(g.turns[1:], token)
	g.remove(token, 0)
	close(admitted)
}

// remove removes a request that waits. The caller holds g.mu.
func (g *gate) remove(token string, at int) {
	g.waits(-1)
	if g.lines[token] = slices.Delete(g.lines[token], at, at+1); len(g.lines[token]) == 0 {
		delete(g.lines, token)
		g.turns = slices.DeleteFunc(g.turns, func(t string) bool { return t == token })
	}
}

// abandon removes a request. It reports false if the request has a slot.
func (g *gate) abandon(token string, admitted chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.lines[token], admitted)
	if at >= 0 {
		g.remove(token, at)
	}
	return at >= 0
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
