package runner

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/space"
)

// Task describes a run for another program: the head of the Record that the program
// writes, the box, and the initial points in the units of the box. Coordinates are as
// in benchmarks.Objective.
type Task struct {
	Suite     string    `json:"suite"`
	Problem   string    `json:"problem"`
	Seed      uint64    `json:"seed"`
	Dim       int       `json:"dim"`
	Budget    int       `json:"budget"`
	Initial   int       `json:"initial"`
	Batch     int       `json:"batch"`
	NoiseFree bool      `json:"noise_free"`
	Minimum   *float64  `json:"minimum,omitempty"` // absent if unknown
	Lo        []float64 `json:"lo"`
	Hi        []float64 `json:"hi"`
	Points    []Numbers `json:"points"` // null is the coordinate of an inactive parameter
	// Space is absent if all parameters are floats on a linear scale.
	Space *space.Space `json:"space,omitempty"`
	// Reference is the reference point of several objectives, and Bounds are the largest feasible
	// values of the numbers after them.
	Reference []float64 `json:"reference,omitempty"`
	Bounds    []float64 `json:"bounds,omitempty"`

	Commit  string  `json:"commit,omitempty"`
	Machine Machine `json:"machine"`
}

// Task describes the run of a Problem, independent of the method.
func (r Run) Task() Task {
	observed := r.Problem.objective(r.Seed)
	t := Task{
		Suite: r.Suite, Problem: observed.Name, Seed: r.Seed,
		Dim: observed.Dim(), Budget: r.Problem.Budget, Initial: r.Problem.Initial, Batch: r.Problem.Batch,
		NoiseFree: r.noiseFree(), Lo: observed.Lo, Hi: observed.Hi,
	}
	if !math.IsNaN(observed.Minimum) {
		t.Minimum = &observed.Minimum
	}
	if !plain(observed.Space) {
		t.Space = observed.Space
	}
	if o := observed.Outcomes; o != nil {
		t.Reference, t.Bounds = o.Reference, o.Bounds
	}
	for _, p := range r.points(observed.Space)[:r.Problem.Initial] {
		t.Points = append(t.Points, observed.Coordinates(p))
	}
	return t
}

// Evaluator returns the objective of the run, for calls one after another. It returns the observed value at x,
// in the units of the box. The noise-free value follows if the objective has noise and such a value. With
// several objectives these are negative hypervolumes of all calls so far, followed by the objectives and the
// numbers that Task.Bounds limits. A coordinate of a conditional parameter may be NaN. The error reports an x
// outside the box, or a fraction for an int or a choice.
func (r Run) Evaluator() func(x []float64) (Numbers, error) {
	observed := r.Problem.objective(r.Seed)
	parameters := observed.Space.Parameters()
	var outcomes func(x []float64) ([]float64, Numbers)
	if observed.Outcomes != nil {
		outcomes = volumes(observed.Outcomes)
	}
	return func(x []float64) (Numbers, error) {
		if len(x) != observed.Dim() {
			return nil, fmt.Errorf("%d coordinates, %s has %d", len(x), observed.Name, observed.Dim())
		}
		inactive := func(j int) bool { return parameters[j].When.Text != "" && math.IsNaN(x[j]) }
		for j, v := range x {
			if !inactive(j) && !(observed.Lo[j] <= v && v <= observed.Hi[j]) {
				return nil, fmt.Errorf("coordinate %d is %v, %s has %v to %v", j+1, v, observed.Name, observed.Lo[j], observed.Hi[j])
			}
		}
		for j, p := range parameters {
			if !inactive(j) && p.Kind != space.KindFloat && x[j] != math.Trunc(x[j]) {
				return nil, fmt.Errorf("coordinate %d is %v, %s has whole numbers", j+1, x[j], observed.Name)
			}
		}
		if outcomes != nil {
			numbers, values := outcomes(x)
			return append(values, numbers...), nil
		}
		values := Numbers{observed.Func(x)}
		if observed.Latent != nil {
			values = append(values, observed.Latent(x))
		}
		return values, nil
	}
}

// plain reports whether all parameters are floats on a linear scale without conditions.
func plain(s *space.Space) bool {
	return !slices.ContainsFunc(s.Parameters(), func(p space.Parameter) bool {
		return p.Kind != space.KindFloat || p.Log || p.Step != 0 || p.When.Text != ""
	})
}
