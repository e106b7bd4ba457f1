package store

import (
	"math"
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

// ahead returns the number of trials that should wait for a worker. It covers the number of
// workers that become free during a proposal: a Poisson number with mean λ, of which λ + 2√λ is a
// bound that holds most of the time. The result is at least 1 and at most the number of workers.
func (p *pace) ahead(workers int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.evaluating <= 0 {
		return 1
	}
	free := float64(workers) * float64(p.proposing) * float64(p.evaluations) / float64(p.evaluating)
	return int(min(max(1, math.Ceil(free+2*math.Sqrt(free))), float64(workers)))
}
