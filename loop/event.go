package loop

import "github.com/functionspace/bo/surrogate"

// EventKind names the kind of an event.
type EventKind string

// The kinds of events. The comment lists the fields set besides Kind.
const (
	TrialAsked    EventKind = "asked"    // Ask returned Trial, with its prediction and warnings if Suggested
	TrialStarted  EventKind = "started"  // Trial; Run is about to call the objective
	TrialFinished EventKind = "finished" // Trial, Improved
	TrialFailed   EventKind = "failed"   // Trial, whose state may be Lost
	TrialStopped  EventKind = "stopped"  // Trial, Decision
	FitStarted    EventKind = "fit"      // Observations
	FitFinished   EventKind = "fitted"   // Observations, Seconds, Hypers, Warped, Selection, Warnings; follows the suggestions of the fit
	Working       EventKind = "working"  // Progress of a fit or of a suggestion
	Warned        EventKind = "warning"  // Warnings of a Run
)

// Event is a report of progress.
type Event struct {
	Kind         EventKind
	Trial        Trial
	Improved     bool    // Trial is the best so far
	Observations int     // finished trials in the fit
	Seconds      float64 // duration of the fit
	Hypers       []surrogate.Hyper
	Warped       bool                 // the values were log transformed (Options.Warp)
	Selection    *surrogate.Selection // by a surrogate model that selects another; else nil
	Progress     surrogate.Progress
	Warnings     []string
	Decision     Decision // grounds of the stop
}

// emit passes e to Options.OnEvent, one event at a time. The caller does not hold
// s.mu.
func (s *Study) emit(e Event) {
	if s.opts.OnEvent == nil {
		return
	}
	s.events.Lock()
	defer s.events.Unlock()
	s.opts.OnEvent(e)
}
