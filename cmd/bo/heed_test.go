package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHeed(t *testing.T) {
	failure := errors.New("failure")
	require.Equal(t, failure, heed(t.Context(), func() error { return failure }))
	require.ErrorContains(t, heed(t.Context(), func() error { panic("oops") }), "internal error, please report it: oops")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	defer close(never)
	started := time.Now()
	require.ErrorIs(t, heed(ctx, func() error { <-never; return nil }), context.Canceled)
	require.InDelta(t, patience.Seconds(), time.Since(started).Seconds(), 1)
}
