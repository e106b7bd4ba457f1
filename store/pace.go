package store

import (
	"sync"
	"time"
)

// pace compares the time of evaluations and of proposals in a run.
type pace struct {
	mu          sync.Mutex
	evaluations int
	evaluating  time.Duration // of all evaluations
	proposing   time.Duration // of the last proposal
}

func (p *pace) evaluated(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.evaluations++
	p.evaluating += d
}

func (p *pace) proposed(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proposing = d
}

// ahead returns the number of trials to propose while workers evaluate: the number of workers
// that become free during a proposal, and at least one.
func (p *pace) ahead(workers int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.evaluating <= 0 {
		return 1
	}
	free := float64(workers) * float64(p.proposing) * float64(p.evaluations) / float64(p.evaluating)
	return int(min(max(1, free), float64(workers)))
}
