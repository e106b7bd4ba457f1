package sqldb

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/functionspace/bo/store"
)

// group runs Updates that wait for one another in one transaction, so that many of them share the
// write to the disk.
type group struct {
	turn chan struct{} // held by the Update that runs transactions

	mu      sync.Mutex
	waiting []*job
}

// job is an Update.
type job struct {
	ctx  context.Context
	f    func(store.Tx) error
	done chan struct{} // closed at the end
	err  error
}

const (
	maxGroup  = 32 // Updates of a transaction
	maxFaults = 3  // Updates that fail before the others of their transaction run one by one
)

// errGroup is the error of an Update whose transaction panicked in another Update.
var errGroup = errors.New("another update of the transaction failed")

// end ends a job.
func (j *job) end(err error) {
	j.err = err
	close(j.done)
}

// over reports whether a job has ended.
func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// take removes the first jobs that wait.
func (g *group) take() []*job {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), maxGroup)
	taken := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return taken
}

// withdraw removes a job that waits. It reports false if the job is taken.
func (g *group) withdraw(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, j)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// together is Update for Dialect.Exclusive. The Update whose turn it is also runs the Updates that
// wait. If one of them fails, its transaction is rolled back and run again without it.
func (b *DB) together(ctx context.Context, f func(store.Tx) error) error {
	j := &job{ctx: ctx, f: f, done: make(chan struct{})}
	b.group.mu.Lock()
	b.group.waiting = append(b.group.waiting, j)
	b.group.mu.Unlock()
	select {
	case b.group.turn <- struct{}{}:
		defer func() { <-b.group.turn }()
		for !j.over() {
			b.runAll(b.group.take())
		}
	case <-j.done:
	case <-ctx.Done():
		if b.group.withdraw(j) {
			return ctx.Err()
		}
		<-j.done // a function that runs must not outlive its Update
	}
	return j.err
}

// runAll runs jobs to their ends.
func (b *DB) runAll(jobs []*job) {
	defer func() { // after a panic
		for _, j := range jobs {
			if !j.over() {
				j.end(errGroup)
			}
		}
	}()
	rest := slices.Clone(jobs)
	for faults := 0; len(rest) > 1 && faults < maxFaults; faults++ {
		failed, err := b.runOnce(rest)
		switch {
		case err == nil:
			for _, j := range rest {
				j.end(nil)
			}
			return
		case failed < 0 && errors.Is(err, store.ErrUnavailable): // each alone would wait as long
			for _, j := range rest {
				j.end(err)
			}
			return
		case failed < 0: // the transaction did not begin, or the commit failed
			faults = maxFaults
		default:
			rest[failed].end(err)
			rest = slices.Delete(rest, failed, failed+1)
		}
	}
	for _, j := range rest {
		j.end(b.repeat(j.ctx, false, j.f))
	}
}

// runOnce runs jobs in one transaction. It returns the index of the job that failed, or -1. The
// transaction is cancelled when all jobs are.
func (b *DB) runOnce(jobs []*job) (failed int, err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(jobs[0].ctx))
	defer cancel()
	var left atomic.Int64
	left.Store(int64(len(jobs)))
	for _, j := range jobs {
		defer context.AfterFunc(j.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})()
	}
	failed = -1 // also if the transaction does not begin
	err = b.repeat(ctx, false, func(t store.Tx) error {
		failed = -1
		for i, j := range jobs {
			err := j.ctx.Err()
			if err == nil {
				err = j.f(t)
			}
			if err == nil {
				err = t.(*tx).flush()
			}
			if err != nil {
				failed = i
				return err
			}
		}
		return nil
	})
	return failed, err
}

// flush runs the queue, so that its errors belong to the Update that filled it.
func (t *tx) flush() error {
	if len(t.queue) == 0 {
		return nil
	}
	return t.session.Run(t.ctx, t.take())
}
