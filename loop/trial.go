package loop

import (
	"maps"
	"slices"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// State is the progress of a trial.
type State string

// The states of a trial.
const (
	Pending  State = "pending"  // returned by Ask, without a result
	Complete State = "complete" // has a value
	Failed   State = "failed"   // could not be evaluated
	Stopped  State = "stopped"  // ended early by Options.Stop or by a rule of the caller
	Lost     State = "lost"     // not evaluated, for a reason that has nothing to do with the point
)

// Source names the origin of the point of a trial.
type Source string

// The sources of trials.
const (
	Added     Source = "added"     // evaluated elsewhere, recorded by Study.Add
	First     Source = "first"     // of Options.First
	Enqueued  Source = "enqueued"  // given by the caller to Study.Enqueue
	Design    Source = "design"    // point of the initial design
	Suggested Source = "suggested" // chosen by the acquisition function
)

// Trial is one evaluation of the objective, finished or not. Trials returned by a Study
// share no mutable state with it. Study.Save writes trials as JSON. Package json returns an error for a
// Trial with a NaN, such as the value of a step, and does not read Point.
type Trial struct {
	ID     int // 1, 2, … in the order of asking
	Point  space.Point
	Source Source
	State  State
	// Outside states that Point violates constraints of the space, such as constraints that are newer than the trial. A
	// Complete or Failed trial outside counts in fits. It is never the best trial, and no other trial is compared with it.
	Outside bool

	// Value is the objective in the user's units, meaningful if Complete. With
	// Options.Objectives it is the first objective. Of a Stopped trial it is the value at the
	// last step.
	Value float64
	// Numbers are the results by name: the numbers that Options.Objectives and
	// Options.Require name, and any others.
	Numbers map[string]float64
	Error   string // reason of the failure if Failed, or of Study.Stop if Stopped
	Stack   string // calls that led to a panic of the objective, the innermost first; Save leaves it out
	Steps   []Step // values reported by Report, each step once, in the order of the reports

	// Prediction is the surrogate model's prediction before the evaluation; nil
	// unless Suggested.
	Prediction *Prediction
	// Pending are the IDs of the trials that were pending when Ask began to choose Point.
	// Propose gives the same Point again for the earlier trials with these pending, and the values of Given.
	Pending []int
	// Given are the names of the parameters whose values AskGiven had, in ascending order: the values of Point.
	Given []string
	// Warnings report how the fit or the suggestion was degraded.
	Warnings []string

	SuggestSeconds  float64 // time of the Ask, shared equally by its new trials
	EvaluateSeconds float64 // time in the objective, measured by Run
}

// Prediction is a prediction of the objective at a point that is not evaluated
// yet. If the values were log transformed (Options.Warp), Mean is the posterior
// median and SD half the length of the central interval of 68 %.
type Prediction struct {
	Mean, SD    float64 // moments of the latent objective, in the user's units (surrogate.Averaged)
	Acquisition float64 // value of the acquisition function, in the surrogate model's units
	// Interval is the central 95 % interval of the latent objective, in the user's units, if the values were log
	// transformed; else 0. Interval95 returns it in both cases.
	Interval [2]float64
	// Selection is the selection by a surrogate model that selects another; else nil.
	Selection *surrogate.Selection
}

// Interval95 returns the ends of the central 95 % interval of the latent objective, in the user's units. Without an
// Interval the ends are Mean - 1.96·SD and Mean + 1.96·SD.
func (p *Prediction) Interval95() (low, high float64) {
	if p.Interval != [2]float64{} {
		return p.Interval[0], p.Interval[1]
	}
	return p.Mean - half95*p.SD, p.Mean + half95*p.SD
}

// clone returns a copy that shares no mutable state with t.
func (t *Trial) clone() Trial {
	c := *t
	c.Warnings, c.Pending = slices.Clone(t.Warnings), slices.Clone(t.Pending)
	c.Given = slices.Clone(t.Given)
	c.Numbers = maps.Clone(t.Numbers)
	c.Steps = slices.Clone(t.Steps)
	if t.Prediction != nil {
		p := *t.Prediction
		c.Prediction = &p
	}
	return c
}
