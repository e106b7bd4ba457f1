package study

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/loop"
)

// End holds conditions that end a run before the budget is used up. Zero values are no conditions.
type End struct {
	// Time is the time of a run after which no trial starts.
	Time Duration `json:"time,omitzero"`
	// Target ends a run when a trial is at least as good.
	Target *float64 `json:"target,omitempty"`
	// MaxFailures ends a run when more trials have failed, without added trials.
	MaxFailures int `json:"max_failures,omitempty"`
	// Cost is a limit of the sum of a reported number over the trials, such as "dollars <= 50".
	Cost string `json:"cost,omitempty"`
	// Regret ends a run when the regret is at most this number with Probability, as
	// loop.EstimateRegret estimates it.
	Regret      float64 `json:"regret,omitempty"`
	Probability float64 `json:"probability,omitempty"` // 0 is DefaultProbability
}

// DefaultProbability is the default of End.Probability.
const DefaultProbability = 0.95

// RegretProbability returns Probability or its default.
func (e *End) RegretProbability() float64 { return cmp.Or(e.Probability, DefaultProbability) }

// CostLimit returns the name and the limit of Cost; "" for none.
func (e *End) CostLimit() (name string, limit float64, err error) {
	if e.Cost == "" {
		return "", 0, nil
	}
	r, err := ParseRequirement(e.Cost)
	if err != nil || r.AtLeast || !(r.Bound > 0) {
		return "", 0, fmt.Errorf("cost is %q, want a limit above 0 such as \"dollars <= 50\"", e.Cost)
	}
	return r.Name, r.Bound, nil
}

// Limits are the limits of an End that are texts.
type Limits struct {
	Seconds float64 `json:"seconds,omitempty"` // of Time
	Cost    string  `json:"cost,omitempty"`    // name of the number that Cost limits
	Most    float64 `json:"most,omitempty"`    // limit of its sum
}

// Limits returns the limits of a valid End, nil if there are none.
func (e *End) Limits() *Limits {
	l := Limits{Seconds: e.Time.Value().Seconds()}
	l.Cost, l.Most, _ = e.CostLimit()
	if l == (Limits{}) {
		return nil
	}
	return &l
}

// Reported returns the names of the numbers that a trial of a run reports: Declared and the cost.
func (d *Definition) Reported() []string {
	names := d.Declared()
	if cost, _, err := d.End.CostLimit(); err == nil && cost != "" && !slices.Contains(names, cost) {
		names = append(names, cost)
	}
	return names
}

// check returns the fault of the conditions for a study with the objectives and requirements of d,
// with the key that it belongs to.
func (e *End) check(d *Definition) (key string, err error) {
	_, _, costErr := e.CostLimit()
	switch {
	case e.MaxFailures < 0:
		return "max_failures", fmt.Errorf("max_failures is %d, want at least 1", e.MaxFailures)
	case e.Target != nil && d.Several():
		return "target", errors.New("target belongs to one objective")
	case e.Target != nil && !(math.Abs(*e.Target) <= loop.MaxValue):
		return "target", fmt.Errorf("target is %v, want a finite number", *e.Target)
	case costErr != nil:
		return "cost", costErr
	case !(e.Regret >= 0) || math.IsInf(e.Regret, 0):
		return "regret", fmt.Errorf("regret is %v, want a number above 0", e.Regret)
	case e.Regret > 0 && d.Several():
		return "regret", errors.New("regret belongs to one objective")
	case e.Regret > 0 && len(d.Require) > 0:
		return "regret", errors.New("regret is not estimated under require")
	case e.Probability != 0 && e.Regret == 0:
		return "probability", errors.New("probability belongs to regret")
	case e.Probability != 0 && !(e.Probability >= 0.5 && e.Probability <= 0.99):
		return "probability", fmt.Errorf("probability is %v, want 0.5 to 0.99", e.Probability)
	}
	return "", nil
}

// CheckEnd returns the fault of End, nil if there is none.
func (d *Definition) CheckEnd() error {
	_, err := d.End.check(d)
	return err
}

// endFaults returns the faults of End.
func (d *Definition) endFaults() []error {
	if key, err := d.End.check(d); err != nil {
		return []error{faultAt(fmt.Errorf("end: %w", err), "end", key)}
	}
	return nil
}
