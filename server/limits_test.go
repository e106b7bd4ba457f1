package server

import (
	"context"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
)

// Tokens take turns for the slots, and requests that end while they wait have no turn.
func TestGateIsFair(t *testing.T) {
	m := newMetrics()
	g := newGate(1, m)
	of := func(token string) context.Context {
		return context.WithValue(t.Context(), observedKey{}, &observedRequest{token: token})
	}
	leave, err := g.enter(of("a"))
	require.NoError(t, err)
	order := make(chan string)
	ends := map[string]context.CancelCauseFunc{}
	enter := func(token, name string) {
		ctx, cancel := context.WithCancelCause(of(token))
		ends[name] = cancel
		before := m.waiting.Load()
		go func() {
			done, err := g.enter(ctx)
			if err != nil {
				order <- err.Error()
				return
			}
			order <- name
			done()
		}()
		for m.waiting.Load() == before {
			time.Sleep(time.Millisecond)
		}
	}
	for _, r := range [][2]string{{"a", "a1"}, {"a", "a2"}, {"a", "a3"}, {"a", "a4"}, {"b", "b1"}, {"c", "c1"}, {"c", "c2"}, {"b", "b2"}} {
		enter(r[0], r[1])
	}
	for _, name := range []string{"a2", "c1", "c2"} {
		ends[name](errLimit)
		require.Equal(t, errLimit.Error(), <-order)
	}
	leave()
	for _, want := range []string{"a1", "b1", "a3", "b2", "a4"} {
		require.Equal(t, want, <-order)
	}

	leave, err = g.enter(of("d"))
	require.NoError(t, err, "the slot is free again")
	most := map[string]int{"a": maxQueue / 2, "b": maxQueue / 4, "c": maxQueue / 8}
	for _, token := range []string{"a", "b", "c"} { // a token leaves places to others
		all := m.waiting.Load() + int64(most[token])
		for range most[token] {
			go func() {
				done, err := g.enter(of(token))
				if err == nil {
					done()
				}
				order <- token
			}()
		}
		for m.waiting.Load() < all {
			time.Sleep(time.Millisecond)
		}
		_, err = g.enter(of(token))
		require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err))
	}
	leave()
	for _, n := range most {
		for range n {
			<-order
		}
	}
	require.Zero(t, m.waiting.Load())
	require.Empty(t, g.turns)
	require.Empty(t, g.lines)
	require.Equal(t, 1, g.free)
}
