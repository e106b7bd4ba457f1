package main

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/functionspace/bo/store"
)

// eventLog writes the events of a study as JSON Lines, each once.
type eventLog struct {
	mu   sync.Mutex
	w    io.Writer
	file *os.File // nil for standard output
	last int64    // revision of the last event written
}

// openEvents opens the file of --events for appending.
func openEvents(path string, stdout io.Writer) (*eventLog, error) {
	if path == "-" {
		return &eventLog{w: stdout}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	return &eventLog{w: f, file: f}, nil
}

// write writes the events since the last call.
func (l *eventLog) write(ctx context.Context, u *store.Study) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const page = 1000
	for {
		events, err := u.Events(ctx, l.last, page)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := printJSON(l.w, e); err != nil {
				return err
			}
			l.last = e.Revision
		}
		if len(events) < page {
			return nil
		}
	}
}

func (l *eventLog) close() error {
	if l == nil || l.file == nil {
		return nil
	}
	return l.file.Close()
}
