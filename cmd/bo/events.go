package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/functionspace/bo/store"
)

// eventLog writes the events of a study as JSON Lines, each once.
type eventLog struct {
	mu   sync.Mutex
	w    io.Writer
	file *os.File    // nil for standard output
	last store.Event // in the file when it was opened; zero in a new file
	feed *store.Feed
}

// maxEvent is a bound on the bytes of a line of an event, whose longest part is the output of a trial.
const maxEvent = 1 << 20

// openEvents opens the file of --events for appending. It cuts off the start of an event that a killed
// process left at the end of the file.
func openEvents(path string, stdout io.Writer) (*eventLog, error) {
	if path == "-" {
		return &eventLog{w: stdout}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	l := &eventLog{w: f, file: f}
	if err := l.resume(path); err != nil {
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

// resume reads the last event of a regular file.
func (l *eventLog) resume(path string) error {
	info, err := l.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	from := max(0, info.Size()-maxEvent)
	text, err := io.ReadAll(io.NewSectionReader(f, from, maxEvent))
	if err != nil {
		return err
	}
	const start = `{"revision":`
	whole := bytes.LastIndexByte(text, '\n') + 1
	if torn := text[whole:]; len(torn) > 0 && (bytes.HasPrefix(torn, []byte(start)) || strings.HasPrefix(start, string(torn))) {
		if err := l.file.Truncate(from + int64(whole)); err != nil {
			return err
		}
	}
	lines := bytes.Split(text[:whole], []byte("\n"))
	if len(lines) < 2 {
		return nil
	}
	_ = json.Unmarshal(lines[len(lines)-2], &l.last) // the file may have other lines
	return nil
}

// follow writes the events of a study after the last event in the file, and so determines the study of further calls of
// write. If the last event is of another study, it begins after the present events, or at the first one if there are no
// trials.
func (l *eventLog) follow(ctx context.Context, u *store.Study, v *store.View) error {
	since := v.Revision
	if len(v.Trials) == 0 {
		since = 0
	}
	if last := l.last; last.Revision > 0 {
		events, err := u.Events(ctx, last.Revision-1, 1)
		if err != nil {
			return err
		}
		if len(events) > 0 && events[0].Time.Equal(last.Time) {
			if last.Time = events[0].Time; last == events[0] { // times may differ in their zones
				since = last.Revision
			}
		}
	}
	l.feed = u.Feed(since)
	return l.write(ctx)
}

// write writes the events since the last call. The error wraps store.ErrNoStudy if the study was deleted.
func (l *eventLog) write(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const page = 1000
	for {
		events, err := l.feed.Next(ctx, page)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := printJSON(l.w, e); err != nil {
				return err
			}
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
