// Package signal wakes goroutines that wait for an event.
package signal

import "sync"

// Signal wakes the goroutines that wait for an event. The zero value is ready.
type Signal struct {
	mu   sync.Mutex
	next chan struct{}
}

// Wait returns a channel that the next call of Send closes.
func (s *Signal) Wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// Send closes the channel of the calls of Wait since the last Send.
func (s *Signal) Send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}
