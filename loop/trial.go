package loop

import "github.com/functionspace/bo/space"

// State says how far a trial is.
type State string

// The states of a trial.
const (
	Pending  State = "pending"  // asked, not told
	Complete State = "complete" // has a value
	Failed   State = "failed"   // could not be evaluated
)

// Source says where the point of a trial came from.
type Source string

// The sources of trials.
const (
	Added     Source = "added"     // evaluated elsewhere, by Add
	Enqueued  Source = "enqueued"  // stated by the caller, by Enqueue
	Design    Source = "design"    // the initial design
	Suggested Source = "suggested" // chosen by the acquisition function
)

// Trial is one evaluation of the objective, finished or not. Trials returned by
// a Study share no mutable state with it.
type Trial struct {
	ID     int // 1, 2, … in the order of asking
	Point  space.Point
	Source Source
	State  State

	Value float64 // in the user's units; meaningful when Complete
	Error string  // why the trial Failed

	// Prediction is what the surrogate expected; nil unless Suggested.
	Prediction *Prediction
	// Warnings tells what was degraded in the fit or the suggestion.
	Warnings []string

	SuggestSeconds  float64 // time of the Ask, shared equally by its new trials
	EvaluateSeconds float64 // time in the objective, as measured by Run
}

// Prediction is a surrogate's view of a point before its evaluation. Where it saw
// logarithms (Options.Warp), Mean is the median and SD half the length of the central
// interval of 68 %.
type Prediction struct {
	Mean, SD    float64 // of the latent objective, in the user's units
	Acquisition float64 // value of the acquisition function, in the surrogate's units
}

// record is a trial with what the study keeps beside it.
type record struct {
	Trial
	x    []float64 // Point in the unit cube
	idle bool      // pending, and nobody is evaluating it
}

func (r *record) key() string { return r.Point.Key() }
