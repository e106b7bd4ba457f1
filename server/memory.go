package server

import (
	"errors"
	"io"
	"sync/atomic"

	"connectrpc.com/connect"
)

// memory bounds the bytes of the requests under way: those that arrive, wait and run. A request counts with its body or,
// if this is larger, with the binary form of its message. A decoded message takes up to eight times as many bytes.
type memory struct {
	most int64
	used atomic.Int64
}

// uncounted is the size of the requests that the bound does not count, such as results and heartbeats.
const uncounted = 64 << 10

var errMemory = connect.NewError(connect.CodeResourceExhausted, errors.New("the requests under way have too many bytes together: try again later"))

// share is the part of one request.
type share struct {
	of    *memory
	bytes int64
}

// grow counts a request with at least n bytes. A request that is alone has no bound here.
func (s *share) grow(n int64) error {
	if n <= max(s.bytes, uncounted) {
		return nil
	}
	more := n - s.bytes
	if total := s.of.used.Add(more); total > s.of.most && total > n {
		s.of.used.Add(-more)
		return errMemory
	}
	s.bytes = n
	return nil
}

// end stops counting the request.
func (s *share) end() { s.of.used.Add(-s.bytes) }

// countedBody is the body of a request, which counts as it is read.
type countedBody struct {
	io.ReadCloser
	share *share
	read  int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if full := b.share.grow(b.read); full != nil {
		return n, full
	}
	return n, err
}
