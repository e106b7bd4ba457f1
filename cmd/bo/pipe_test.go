package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server reads the lines of its input, and a request in progress ends with the input.
func TestServePipe(t *testing.T) {
	input, feed := io.Pipe()
	var out strings.Builder
	e := &env{ctx: t.Context(), stdin: input, stdout: &out}
	long := strings.Repeat("x", 200_000)
	done := make(chan error, 1)
	go func() {
		done <- servePipe(e, func(ctx context.Context, r io.Reader) error {
			lines := bufio.NewReader(r)
			for range 2 {
				line, err := lines.ReadString('\n')
				if err != nil {
					return err
				}
				fmt.Fprintln(&out, len(line))
			}
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	fmt.Fprintf(feed, "request\n%s\n", long)
	select {
	case err := <-done:
		t.Fatalf("ended before the input: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, feed.Close())
	require.NoError(t, <-done)
	require.Equal(t, "8\n200001\n", out.String())

	e.stdin = strings.NewReader("")
	require.ErrorIs(t, servePipe(e, func(_ context.Context, r io.Reader) error {
		_, err := r.Read(make([]byte, 1))
		return err
	}), io.EOF)

	failure := errors.New("failure")
	e.stdin, _ = io.Pipe()
	require.Equal(t, failure, servePipe(e, func(context.Context, io.Reader) error { return failure }))

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	e.ctx = interrupted
	require.ErrorIs(t, servePipe(e, func(ctx context.Context, _ io.Reader) error { return ctx.Err() }), context.Canceled)
}
