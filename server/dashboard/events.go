package dashboard

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/functionspace/bo/store"
)

const (
	poll  = 500 * time.Millisecond // interval of reads for changes by other processes
	alive = 10 * time.Second       // interval of messages without a change
	pause = 250 * time.Millisecond // least time between messages of changes
)

// stream sends server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	last    time.Time
}

// newStream begins the answer, so that the browser counts the connection as open.
func newStream(w http.ResponseWriter) (*stream, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass events on at once
	s := &stream{w: w, control: http.NewResponseController(w)}
	if _, err := fmt.Fprint(w, "retry: 1000\n\n"); err != nil {
		return nil, err
	}
	return s, s.control.Flush()
}

// send sends an event with a JSON value.
func (s *stream) send(kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	s.last = time.Now()
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// studyEvents sends the revision of a study, and again after each change.
func (d *Dashboard) studyEvents(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("study")
	if _, _, err := d.Study(r.Context(), name); err != nil {
		return err
	}
	return d.follow(w, r, func() (uint64, <-chan struct{}, error) {
		u, changed, err := d.Study(r.Context(), name)
		if err != nil {
			return 0, nil, err
		}
		s, err := u.Summary(r.Context())
		if err != nil {
			return 0, nil, err
		}
		return version(s), changed, nil
	})
}

// listEvents sends a number of the state of all studies, and again after each change.
func (d *Dashboard) listEvents(w http.ResponseWriter, r *http.Request) error {
	return d.follow(w, r, func() (uint64, <-chan struct{}, error) {
		list, err := d.list(r)
		if err != nil {
			return 0, nil, err
		}
		return versionOf(list), nil, nil
	})
}

// follow sends events while the version of a page changes. It ends when the session of the reader
// ends, or the study is deleted: the browser repeats the request and gets the reason.
func (d *Dashboard) follow(w http.ResponseWriter, r *http.Request, read func() (uint64, <-chan struct{}, error)) error {
	leave, err := d.Watch()
	if err != nil {
		return err
	}
	defer leave()
	s, err := newStream(w)
	if err != nil {
		return nil
	}
	var sent uint64
	for first := true; d.admitted(r); first = false {
		version, changed, err := read()
		if err != nil {
			return err
		}
		switch {
		case first || version != sent:
			err = s.send("change", fmt.Sprintf("%x", version))
			sent = version
		case time.Since(s.last) > alive:
			err = s.send("alive", nil)
		}
		if err != nil {
			return nil // the reader has left
		}
		if !d.sleep(r, pause, nil) || !d.sleep(r, poll, changed) {
			return nil
		}
	}
	return nil
}

// sleep waits for a time or for changed, and reports whether the request goes on.
func (d *Dashboard) sleep(r *http.Request, t time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-d.Closing.Done():
		return false
	case <-changed:
	case <-timer.C:
	}
	return true
}

// version returns a number that differs after a change of a study.
func version(s *store.Summary) uint64 { return versionOf([]store.Summary{*s}) }

func versionOf(list []store.Summary) uint64 {
	h := fnv.New64a()
	for i := range list {
		fmt.Fprintln(h, list[i].Name, list[i].Created.UnixNano(), list[i].Revision)
	}
	return h.Sum64()
}

// list returns the studies that the reader may see.
func (d *Dashboard) list(r *http.Request) ([]store.Summary, error) {
	list, err := d.lists.get(r, d.Store)
	reader := readerOf(r)
	return slices.DeleteFunc(slices.Clone(list), func(s store.Summary) bool { return !reader.permits(s.Name) }), err
}

// lists shares reads of the list of studies among readers.
type lists struct {
	mu   sync.Mutex
	read time.Time
	list []store.Summary
}

func (l *lists) get(r *http.Request, s *store.Store) ([]store.Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.read) < poll/2 {
		return l.list, nil
	}
	list, err := s.List(r.Context())
	if err != nil {
		return nil, err
	}
	l.list, l.read = list, time.Now()
	return list, nil
}
