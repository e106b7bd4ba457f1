package loop

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/internal/figures"
)

// StopRule names a rule that stops poor trials early.
type StopRule string

// The stopping rules.
const (
	NeverStop StopRule = "none"
	ASHA      StopRule = "asha"   // asynchronous successive halving
	Median    StopRule = "median" // median of the best values up to the step
)

// Stop configures the early stop of poor trials from the values that they report while they
// run. The zero value stops no trial.
//
// ASHA compares trials at the rungs MinSteps·Etaᵏ, k = 0, 1, …: a trial continues if its first value at a rung
// is among the best ⌊n/Eta⌋ of all n values there, or if n < Eta. It is the stopping variant of Li et al., "A
// System for Massively Parallel Hyperparameter Tuning" (2020).
//
// Median compares the best value that a trial has reported with the best values of the complete trials up to
// the same step. It stops the trial if its value is worse than the median of theirs. The rule needs Startup
// complete trials with steps. Google Vizier takes the averages of the values in place of the best ones (Golovin
// et al., 2017, section 3.2). The averages stop few trials whose values fall from step to step (ADR 22).
//
// Steps may be reported in any order, and a step keeps its first value. ASHA decides at a rung once, when
// the first step at or above it is reported. Median decides at every step, from the values up to that step.
type Stop struct {
	Rule StopRule `json:"rule,omitempty" set:"rule" default:"none" oneof:"none,asha,median" help:"Rule that stops poor trials early: asha, asynchronous successive halving; median, the median of the best values up to the step; none"`
	// MinSteps is the first step at which a trial may be stopped. 0 is 1.
	MinSteps float64 `json:"min_steps,omitempty" set:"min_steps" default:"1" range:"(0,1e15]" help:"First step at which a trial may be stopped"`
	// MaxSteps is the last step of a full trial, at which no trial is stopped. 0 is unknown.
	MaxSteps float64 `json:"max_steps,omitempty" set:"max_steps" auto:"unknown" range:"(0,1e15]" help:"Last step of a full trial, at which no trial is stopped"`
	Eta      float64 `json:"eta,omitempty" set:"eta" default:"4" range:"[1.5,100]" help:"asha: one of eta trials continues at each rung"`
	Startup  int     `json:"startup,omitempty" set:"startup" default:"5" range:"[1,100000]" help:"median: complete trials before any trial is stopped"`
}

// Active reports whether the rule may stop a trial.
func (o Stop) Active() bool { return o.Rule != "" && o.Rule != NeverStop }

// Step is a value of the objective that a trial reported while it ran.
type Step struct {
	Step  float64 `json:"step"`
	Value float64 `json:"value"` // NaN is worse than every number
}

// Decision is the decision of a stopping rule about a trial after one step. Its numbers are
// the grounds.
type Decision struct {
	Stop bool     `json:"stop"`
	Rule StopRule `json:"rule"`
	Step float64  `json:"step"`
	// Value is the compared value: at the rung, or the best of the trial. A NaN counts as ±MaxValue, the worst value.
	Value float64 `json:"value"`
	Rung  float64 `json:"rung,omitempty"` // ASHA
	Rank  int     `json:"rank,omitempty"` // ASHA: 1 + number of better values at the rung
	Keep  int     `json:"keep,omitempty"` // ASHA: number of values that continue; 0 is all
	Of    int     `json:"of"`             // number of compared trials
	// Median is the median of the best values up to the step.
	Median *float64 `json:"median,omitempty"`
	// Reason is the reason of a rule of the caller, which Study.Stop and ErrStopped apply. Rule is then empty, and Step and
	// Value are the last step.
	Reason string `json:"reason,omitempty"`
}

// Grounds returns the grounds of the decision as text. The values have at least six digits, so that they differ.
func (d Decision) Grounds() string {
	switch {
	case d.Median != nil:
		text := figures.Distinct(6, d.Value, *d.Median)
		return fmt.Sprintf("the best value %s is worse than the median %s of %d trials", text[0], text[1], d.Of)
	case d.Rung == 0:
		return cmp.Or(d.Reason, "a rule of the caller")
	}
	return fmt.Sprintf("the value %.6g is number %d of %d at rung %v, and the best %d continue", d.Value, d.Rank, d.Of, d.Rung, d.Keep)
}

// Decide returns the decision about the trial with an ID after its step `at` was recorded in
// trials. Of each trial it reads ID, State and Steps, in any order of the steps. The decision
// is a function of the arguments. ok is false if the rule makes no decision at this step: for
// ASHA, if the step reaches no new rung; for Median, before MinSteps and Startup. It is false too if
// the step is not finite, or Eta is not above 1, which New rejects. The cost is linear in the number of steps.
func (o Stop) Decide(trials []Trial, id int, at float64, maximize bool) (d Decision, ok bool) {
	i := slices.IndexFunc(trials, func(t Trial) bool { return t.ID == id })
	o = o.withDefaults()
	if i < 0 || !o.Active() || !(at >= o.MinSteps) || math.IsInf(at, 1) || o.MaxSteps > 0 && at >= o.MaxSteps {
		return Decision{}, false
	}
	sign := 1.0
	if maximize {
		sign = -1
	}
	if o.Rule == ASHA {
		return o.halve(trials, i, at, sign)
	}
	return o.median(trials, i, at, sign)
}

func (o Stop) withDefaults() Stop {
	o.MinSteps, o.Eta, o.Startup = cmp.Or(o.MinSteps, 1), cmp.Or(o.Eta, 4), cmp.Or(o.Startup, 5)
	return o
}

// halve is the decision of ASHA about trials[i].
func (o Stop) halve(trials []Trial, i int, at, sign float64) (Decision, bool) {
	rung := o.MinSteps
	if !(rung > 0 && o.Eta > 1) {
		return Decision{}, false // the rungs do not increase
	}
	for rung*o.Eta <= at {
		rung *= o.Eta
	}
	for _, s := range trials[i].Steps {
		if s.Step >= rung && s.Step != at {
			return Decision{}, false // the rung was reached before
		}
	}
	own, ok := valueAt(trials[i].Steps, rung, sign)
	if !ok {
		return Decision{}, false
	}
	d := Decision{Rule: ASHA, Step: at, Value: sign * capped(own), Rung: rung, Rank: 1}
	for j := range trials {
		if v, ok := valueAt(trials[j].Steps, rung, sign); ok {
			d.Of++
			if v < own {
				d.Rank++
			}
		}
	}
	d.Keep = int(float64(d.Of) / o.Eta)
	d.Stop = d.Keep > 0 && d.Rank > d.Keep
	return d, true
}

// valueAt returns the signed value of the first step that reaches a rung.
func valueAt(steps []Step, rung, sign float64) (float64, bool) {
	first := math.Inf(1)
	value := 0.0
	for _, s := range steps {
		if s.Step >= rung && s.Step < first {
			first, value = s.Step, signed(sign, s.Value)
		}
	}
	return value, !math.IsInf(first, 1)
}

// signed returns a value to be minimised, +Inf for NaN.
func signed(sign, v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return sign * v
}

// capped returns v, or ±MaxValue if v is beyond it: a NaN has the signed value +Inf, which JSON cannot hold.
func capped(v float64) float64 { return max(-MaxValue, min(v, MaxValue)) }

// median is the decision of the median rule about trials[i].
func (o Stop) median(trials []Trial, i int, at, sign float64) (Decision, bool) {
	own, _ := best(trials[i].Steps, at, sign)
	var others []float64
	for j := range trials {
		if t := &trials[j]; t.State == Complete && j != i {
			if v, ok := best(t.Steps, at, sign); ok {
				others = append(others, v)
			}
		}
	}
	if len(others) < o.Startup {
		return Decision{}, false
	}
	slices.Sort(others)
	n := len(others)
	m := others[n/2]
	if n%2 == 0 {
		m = others[n/2-1]/2 + m/2
	}
	d := Decision{Rule: Median, Step: at, Value: sign * capped(own), Of: n, Stop: own > m}
	m = sign * capped(m)
	d.Median = &m
	return d, true
}

// best returns the best signed value up to a step.
func best(steps []Step, at, sign float64) (value float64, ok bool) {
	value = math.Inf(1)
	for _, s := range steps {
		if s.Step <= at {
			value, ok = min(value, signed(sign, s.Value)), true
		}
	}
	return value, ok
}
