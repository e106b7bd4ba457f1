// Package pace decides how many suggestions to prepare before a worker is free.
package pace

import (
	"math"
	"sync"
	"time"
)

const (
	// share of the time of an evaluation above which a free worker does not wait for a suggestion.
	share = 0.03
	// recent is the number of evaluations and of suggestions that count.
	recent = 20
	// guess is the time of a suggestion before the first one in this process.
	guess = 100 * time.Millisecond
)

// Pace compares the times of evaluations and of suggestions. The zero value is ready. It is safe
// for concurrent use.
type Pace struct {
	mu                    sync.Mutex
	evaluation, suggested window
}

// window holds the last durations.
type window struct {
	last [recent]time.Duration
	n    int // of all durations
}

func (w *window) add(d time.Duration) {
	w.last[w.n%recent] = d
	w.n++
}

// mean returns the mean in nanoseconds, 0 without durations.
func (w *window) mean() float64 {
	var sum time.Duration
	for _, d := range w.last {
		sum += d
	}
	return float64(sum) / float64(max(1, min(w.n, recent)))
}

// Evaluated records the time of an evaluation.
func (p *Pace) Evaluated(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.evaluation.add(d)
}

// Suggested records the time of n suggestions that were computed together, fit included.
func (p *Pace) Suggested(d time.Duration, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suggested.add(d / time.Duration(max(1, n)))
}

// Ahead returns the number of suggestions to prepare while all workers evaluate, at most workers. It
// is 0 before the first evaluation, and if a suggestion takes at most 3 % of the time of an
// evaluation: the results of the evaluations in progress are then worth more than the wait. Otherwise
// it covers the number of workers that become free during a suggestion, a Poisson number with mean
// λ, by λ + √λ.
func (p *Pace) Ahead(workers int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	suggestion, evaluation := p.suggested.mean(), p.evaluation.mean()
	if p.suggested.n == 0 {
		suggestion = float64(guess)
	}
	if p.evaluation.n == 0 || suggestion <= share*evaluation {
		return 0
	}
	free := float64(workers) * suggestion / max(1, evaluation)
	return int(min(math.Ceil(free+math.Sqrt(free)), float64(workers)))
}
