package loop

import "github.com/functionspace/bo/surrogate"

// EventKind says what happened.
type EventKind string

// The kinds of events, and the fields that each sets besides Kind.
const (
	TrialAsked    EventKind = "asked"    // Trial; its prediction and warnings, if Suggested
	TrialStarted  EventKind = "started"  // Trial; Run calls the objective
	TrialFinished EventKind = "finished" // Trial, Improved
	TrialFailed   EventKind = "failed"   // Trial
	FitStarted    EventKind = "fit"      // Observations
	FitFinished   EventKind = "fitted"   // Observations, Seconds, Hypers, Warped, Warnings
	Working       EventKind = "working"  // Progress, from inside a fit or a suggestion
	Warned        EventKind = "warning"  // Warnings
)

// Event is a report of progress.
type Event struct {
	Kind         EventKind
	Trial        Trial
	Improved     bool // Trial is the best so far
	Observations int  // finished trials that the fit sees
	Seconds      float64
	Hypers       []surrogate.Hyper
	Warped       bool // the surrogate saw logarithms (Options.Warp)
	Progress     surrogate.Progress
	Warnings     []string
}

// emit hands e to the caller's handler, one event at a time and with no lock
// of the state held.
func (s *Study) emit(e Event) {
	if s.opts.OnEvent == nil {
		return
	}
	s.events.Lock()
	defer s.events.Unlock()
	s.opts.OnEvent(e)
}
