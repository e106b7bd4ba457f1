package sqldb

import (
	"context"
	"errors"
	"sync"
)

// places bound the connections that the Updates of one study hold at a time. Otherwise all connections of a process wait
// for one study that another process has locked.
type places struct {
	mu sync.Mutex
	of map[string]*queue // by the name of the study
}

// queue has the Updates of a study in the order of their arrival.
type queue struct {
	slots chan struct{}
	users int
}

// perStudy is the number of Updates of a study with a connection: one has the lock, and the next one waits for it in the
// database, so that it begins without a further round trip.
const perStudy = 2

// errPlace ends a transaction that waits for a place without its connection.
var errPlace = errors.New("the study has no place for another update")

// place is the place of one Update. Nil is unbounded.
type place struct {
	all   *places
	name  string // of the study, if it is known
	queue *queue
	taken bool
}

// try reports whether the Update may lock a study. It does not wait.
func (p *place) try(name string) bool {
	if p == nil || p.taken {
		return true
	}
	if p.queue == nil {
		p.all.mu.Lock()
		if p.queue = p.all.of[name]; p.queue == nil {
			p.queue = &queue{slots: make(chan struct{}, perStudy)}
			p.all.of[name] = p.queue
		}
		p.name = name
		p.queue.users++
		p.all.mu.Unlock()
	}
	select {
	case p.queue.slots <- struct{}{}:
		p.taken = true
	default:
	}
	return p.taken
}

// wanted reports whether the Update waits for a place.
func (p *place) wanted() bool { return p != nil && p.queue != nil && !p.taken }

// wait takes the place.
func (p *place) wait(ctx context.Context) error {
	select {
	case p.queue.slots <- struct{}{}:
		p.taken = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave ends the use of the place.
func (p *place) leave() {
	if p == nil || p.queue == nil {
		return
	}
	if p.taken {
		<-p.queue.slots
	}
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.queue.users--; p.queue.users == 0 {
		delete(p.all.of, p.name)
	}
}
