package insight

import (
	"math"

	"github.com/functionspace/bo/loop"
)

// Step is one trial of the optimisation history.
type Step struct {
	Trial  int         `json:"trial"`
	Source loop.Source `json:"source"`
	State  loop.State  `json:"state"`
	Value  Number      `json:"value"` // user's units; null unless complete
	// StandardError is the standard error of Value, by o.StandardError; 0 is none.
	StandardError Number `json:"standard_error,omitempty"`
	// Best is the best value of a complete and feasible trial up to this one, null before
	// the first.
	Best      Number `json:"best"`
	Incumbent bool   `json:"incumbent"` // the trial improved Best
	Feasible  bool   `json:"feasible"`  // it is complete and meets the requirements
	// Predicted is the prediction before the evaluation, nil unless the trial was suggested,
	// with the central 95 % interval of the latent objective.
	Predicted *Predicted `json:"predicted,omitempty"`
}

// Predicted is a prediction that was made before an evaluation, in the user's units. If the values were log
// transformed, Mean is the posterior median.
type Predicted struct {
	Mean     Number   `json:"mean"`
	Interval Interval `json:"interval"`
}

// History returns the trials in order, with the best value so far. Trials are feasible if they
// meet o.Require. With several objectives there is no best value. It costs O(n).
func History(trials []loop.Trial, o loop.Options) []Step {
	best := math.NaN()
	out := make([]Step, len(trials))
	for i := range trials {
		t := &trials[i]
		s := Step{Trial: t.ID, Source: t.Source, State: t.State, Value: valueOf(t), Feasible: o.Feasible(t)}
		if !o.Several() && s.Feasible && (math.IsNaN(best) || o.Maximize && t.Value > best || !o.Maximize && t.Value < best) {
			best, s.Incumbent = t.Value, true
		}
		s.Best = Number(best)
		if sd := t.Numbers[o.StandardError]; o.StandardError != "" && t.State == loop.Complete {
			s.StandardError = Number(sd)
		}
		if p := t.Prediction; p != nil {
			low, high := p.Interval95()
			s.Predicted = &Predicted{Number(p.Mean), Interval{Number(low), Number(high)}}
		}
		out[i] = s
	}
	return out
}

// Front describes the complete trials of several objectives.
type Front struct {
	Objectives []loop.Goal `json:"objectives"`
	// Reference is the reference point of the hypervolume by objective, given or inferred; nil if no
	// trial is complete.
	Reference map[string]float64 `json:"reference,omitempty"`
	Points    []FrontPoint       `json:"points"`
}

// FrontPoint is a complete trial.
type FrontPoint struct {
	Trial    int                `json:"trial"`
	Values   map[string]float64 `json:"values"` // of the objectives, in the user's units
	Feasible bool               `json:"feasible"`
	// Front reports whether the trial is on the Pareto front: no other feasible trial dominates
	// it.
	Front bool `json:"front"`
}

// ParetoFront returns the complete trials with their objectives, and marks the Pareto front. Without
// o.Objectives there are none.
func ParetoFront(trials []loop.Trial, o loop.Options) Front {
	out := Front{Objectives: o.Objectives, Points: []FrontPoint{}}
	if !o.Several() {
		return out
	}
	p := o.ParetoOf(trials)
	for j, r := range p.Reference {
		if out.Reference == nil {
			out.Reference = map[string]float64{}
		}
		out.Reference[o.Objectives[j].Name] = r
	}
	front := map[int]bool{}
	for i := range p.Front {
		front[p.Front[i].ID] = true
	}
	for i := range trials {
		t := &trials[i]
		if t.State != loop.Complete {
			continue
		}
		values := map[string]float64{}
		for _, g := range o.Objectives {
			values[g.Name] = t.Numbers[g.Name]
		}
		out.Points = append(out.Points, FrontPoint{t.ID, values, o.Feasible(t), front[t.ID]})
	}
	return out
}

// Volume is the hypervolume after a finished trial.
type Volume struct {
	Trial       int        `json:"trial"`
	State       loop.State `json:"state"`
	Hypervolume Number     `json:"hypervolume"`
	Improved    bool       `json:"improved"` // the trial increased it
}

// HypervolumeHistory returns the hypervolume of the feasible trials after each finished trial, in the order of
// IDs. All have the reference point of ParetoFront. The result is nil without a feasible trial, with one or
// more than loop.MaxHypervolume objectives, and if the volume overflows.
func HypervolumeHistory(trials []loop.Trial, o loop.Options) []Volume {
	if !o.Several() {
		return nil
	}
	volumes := o.ParetoOf(trials).Hypervolume
	if volumes == nil {
		return nil
	}
	var out []Volume
	last := 0.0
	for i := range trials {
		if trials[i].State == loop.Pending {
			continue
		}
		v := volumes[len(out)]
		out = append(out, Volume{trials[i].ID, trials[i].State, Number(v), v > last})
		last = v
	}
	return out
}
