package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/loop"
)

// record adds a step to a trial unless the trial has it. A value that is not usable is the worst
// one, loop.MaxValue with the sign of the goal.
func record(t *loop.Trial, step Step, o Objective) error {
	if !(math.Abs(step.Step) <= loop.MaxValue) {
		return fmt.Errorf("step is %v, want a finite number", step.Step)
	}
	if hasStep(t, step.Step) {
		return nil
	}
	worst := loop.MaxValue
	if o.Goal == Maximize {
		worst = -worst
	}
	value := worst
	if step.Value != nil && math.Abs(*step.Value) <= loop.MaxValue {
		value = *step.Value
	}
	t.Steps = append(slices.Clip(t.Steps), loop.Step{Step: step.Step, Value: value})
	return nil
}

func hasStep(t *loop.Trial, step float64) bool {
	return slices.ContainsFunc(t.Steps, func(k loop.Step) bool { return k.Step == step })
}

// report records steps of a pending trial one after another until the stopping rule stops it, and
// adds the decision to a response. The caller holds the only copy of s.
func (s *state) report(told *Steps, resp *Response) error {
	if told == nil {
		return fmt.Errorf(`%w: "report" is missing`, ErrRequest)
	}
	trials := slices.Clone(s.history.Trials)
	s.history.Trials = trials
	i := slices.IndexFunc(trials, func(t loop.Trial) bool { return t.ID == told.Trial })
	if i < 0 {
		return fmt.Errorf("%w: report: no such trial: %d", ErrRequest, told.Trial)
	}
	t := &trials[i]
	resp.Decision = &Decision{Stop: t.State == loop.Stopped}
	if t.State != loop.Pending && t.State != loop.Stopped {
		return fmt.Errorf("%w: report: trial %d is %s", ErrRequest, t.ID, t.State)
	}
	o := s.definition.Objective()
	for _, step := range told.Steps {
		if resp.Decision.Stop {
			break
		}
		if hasStep(t, step.Step) {
			continue
		}
		if err := record(t, step, o); err != nil {
			return fmt.Errorf("%w: report: trial %d: %w", ErrRequest, t.ID, err)
		}
		d, _ := s.definition.Stop.Decide(trials, t.ID, step.Step, o.Goal == Maximize)
		if d.Stop {
			last := loop.LastStep(t.Steps)
			t.State, t.Value = loop.Stopped, last.Value
			resp.Decision = &Decision{true, fmt.Sprintf("step %v: %s", last.Step, d.Grounds())}
		}
	}
	return nil
}

// pareto adds the Pareto front to a response.
func (s *state) pareto(resp *Response) error {
	if !s.definition.Several() {
		return fmt.Errorf("%w: the action %s is for several objectives", ErrRequest, ActionPareto)
	}
	p := s.options.ParetoOf(s.history.Trials)
	resp.Pareto = &Pareto{Front: []int{}, Hypervolume: p.Hypervolume}
	for _, t := range p.Front {
		resp.Pareto.Front = append(resp.Pareto.Front, t.ID)
	}
	for i, v := range p.Reference {
		if resp.Pareto.Reference == nil {
			resp.Pareto.Reference = map[string]float64{}
		}
		resp.Pareto.Reference[s.definition.Goals()[i].Name] = v
	}
	return nil
}
