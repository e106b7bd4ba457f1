package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/functionspace/bo/surrogate"
)

const (
	maxJobs    = 16 // computations under way or waiting
	maxResults = 16 // results in memory
)

// errBusy is the answer if too many computations wait.
var errBusy = errors.New("too many pages wait for a fit: try again later")

// plainError is an error of which the reader gets the text.
type plainError struct{ error }

// jobs are the computations with fits. Readers of the same page share one. A computation ends when all
// its readers have left.
type jobs struct {
	o       Options
	mu      sync.Mutex
	running map[string]*job
	results []*job // the latest first
}

// job is one computation.
type job struct {
	key     string
	done    chan struct{}
	result  json.RawMessage // valid when done is closed
	err     error
	cancel  context.CancelFunc
	readers int

	mu       sync.Mutex
	admitted time.Time
	progress surrogate.Progress
}

func newJobs(o Options) *jobs { return &jobs{o: o, running: map[string]*job{}} }

// finished reports whether the result of a key is in memory.
func (j *jobs) finished(key string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.find(key) != nil
}

func (j *jobs) find(key string) *job {
	for _, one := range j.results {
		if one.key == key {
			return one
		}
	}
	return nil
}

// join returns the computation of a key, which begins unless it is under way or has ended with a result.
// The caller calls leave when it needs the result no longer.
func (j *jobs) join(key string, compute func(ctx context.Context) (any, error)) (one *job, leave func(), err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if one := j.find(key); one != nil {
		return one, func() {}, nil
	}
	one = j.running[key]
	if one == nil {
		if len(j.running) >= maxJobs {
			return nil, nil, errBusy
		}
		ctx, cancel := context.WithTimeoutCause(j.o.Closing, j.o.Wait, plainError{fmt.Errorf("the computation takes longer than %v, which the server allows", j.o.Wait)})
		one = &job{key: key, done: make(chan struct{}), cancel: cancel}
		j.running[key] = one
		go j.run(ctx, one, compute)
	}
	one.readers++
	return one, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if one.readers--; one.readers == 0 {
			one.cancel()
			if j.running[key] == one { // a later reader begins another computation
				delete(j.running, key)
			}
		}
	}, nil
}

// run computes a result in a slot of the fits.
func (j *jobs) run(ctx context.Context, one *job, compute func(ctx context.Context) (any, error)) {
	defer one.cancel()
	defer func() {
		if fault := recover(); fault != nil {
			j.o.Log.ErrorContext(ctx, "panic", "computation", one.key, "fault", fault)
			one.err = errors.New("internal error, which the log of the server describes")
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.running[one.key] == one {
			delete(j.running, one.key)
		}
		if one.err == nil {
			j.results = append([]*job{one}, j.results[:min(len(j.results), maxResults-1)]...)
		}
		close(one.done)
	}()
	leave, err := j.o.Admit(ctx)
	if err != nil {
		one.err = reason(ctx, err)
		return
	}
	defer leave()
	one.mu.Lock()
	one.admitted = time.Now()
	one.mu.Unlock()
	value, err := compute(surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.progress = p
	}))
	if err == nil {
		one.result, err = json.Marshal(value)
	}
	one.err = reason(ctx, err)
}

// reason returns the reason for the end of ctx in place of an error that follows from it.
func reason(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// state describes the progress in words.
func (one *job) state() string {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.admitted.IsZero() {
		return "waits until other computations of the server have ended"
	}
	text := fmt.Sprintf("computes, %d s", int(time.Since(one.admitted).Seconds()))
	if p := one.progress; p.Phase != "" {
		text += ": " + p.Phase
		if p.Total > 0 {
			text += fmt.Sprintf(" %d of %d", p.Done, p.Total)
		}
	}
	return text
}

// followJob sends the progress of a computation and its result as events.
func (d *Dashboard) followJob(w http.ResponseWriter, r *http.Request, key string, compute func(ctx context.Context) (any, error)) error {
	leaveStreams, err := d.Watch()
	if err != nil {
		return err
	}
	defer leaveStreams()
	one, leave, err := d.jobs.join(key, compute)
	if errors.Is(err, errBusy) {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return nil
	}
	if err != nil {
		return err
	}
	defer leave()
	s, err := newStream(w)
	if err != nil {
		return nil
	}
	for sent := ""; ; {
		select {
		case <-one.done:
		default:
			if text := one.state(); text != sent {
				if s.send("progress", text) != nil {
					return nil
				}
				sent = text
			}
			if !d.sleep(r, poll, one.done) {
				return nil
			}
			continue
		}
		if one.err != nil {
			text := one.err.Error()
			if _, ok := errors.AsType[plainError](one.err); !ok {
				_, text = d.Status(r.Context(), one.err)
			}
			_ = s.send("failed", text)
		} else {
			_ = s.send("result", one.result)
		}
		return nil
	}
}
