package main

import (
	"context"
	"errors"
	"io"
)

// errInputEnded is the cause of a context that ends with the input.
var errInputEnded = errors.New("the input ended")

// servePipe runs a server of requests from standard input, and ends it when the input ends,
// also while it answers a request. A parent process that is killed leaves no server behind.
func servePipe(e *env, server func(context.Context, io.Reader) error) error {
	ctx, input, cancel := e.pipe()
	defer cancel()
	err := heed(ctx, func() error { return server(ctx, input) })
	if errors.Is(context.Cause(ctx), errInputEnded) && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// pipe returns the standard input, and a context that ends with it.
func (e *env) pipe() (ctx context.Context, in io.Reader, cancel func()) {
	ctx, end := context.WithCancelCause(e.ctx)
	input := &pipeReader{chunks: make(chan []byte, 1024)}
	go func() {
		input.err = readAhead(e.stdin, input.chunks)
		end(errInputEnded)
		close(input.chunks)
	}()
	return ctx, input, func() { end(nil) }
}

// readAhead reads r in chunks until its end, which is not an error.
func readAhead(r io.Reader, chunks chan<- []byte) error {
	for {
		chunk := make([]byte, 64<<10)
		n, err := r.Read(chunk)
		if n > 0 {
			chunks <- chunk[:n]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pipeReader reads chunks that another goroutine has read ahead.
type pipeReader struct {
	chunks chan []byte
	rest   []byte
	err    error // error of the input; set before chunks is closed
}

func (p *pipeReader) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		chunk, ok := <-p.chunks
		if !ok {
			if p.err != nil {
				return 0, p.err
			}
			return 0, io.EOF
		}
		p.rest = chunk
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
