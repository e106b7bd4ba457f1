package runner

import (
	"fmt"
	"math"
)

// Task describes a run for another program: the head of the Record that the program
// writes, the box, and the initial points in the units of the box.
type Task struct {
	Suite     string      `json:"suite"`
	Problem   string      `json:"problem"`
	Seed      uint64      `json:"seed"`
	Dim       int         `json:"dim"`
	Budget    int         `json:"budget"`
	Initial   int         `json:"initial"`
	Batch     int         `json:"batch"`
	NoiseFree bool        `json:"noise_free"`
	Minimum   *float64    `json:"minimum,omitempty"` // absent if unknown
	Lo        []float64   `json:"lo"`
	Hi        []float64   `json:"hi"`
	Points    [][]float64 `json:"points"`

	Commit  string  `json:"commit,omitempty"`
	Machine Machine `json:"machine"`
}

// Task describes the run of a Problem, independent of the method.
func (r Run) Task() Task {
	observed, latent := r.Problem.objectives(r.Seed)
	t := Task{
		Suite: r.Suite, Problem: observed.Name, Seed: r.Seed,
		Dim: observed.Dim(), Budget: r.Problem.Budget, Initial: r.Problem.Initial, Batch: r.Problem.Batch,
		NoiseFree: r.noiseFree(), Lo: observed.Lo, Hi: observed.Hi,
	}
	if !math.IsNaN(latent.Minimum) {
		t.Minimum = &latent.Minimum
	}
	for _, p := range r.points(observed.Space)[:r.Problem.Initial] {
		var x []float64
		for _, parameter := range observed.Space.Parameters() {
			x = append(x, p.Float(parameter.Name))
		}
		t.Points = append(t.Points, x)
	}
	return t
}

// Evaluator returns the objective of the run, for calls one after another. It returns
// the observed value at x, in the units of the box, followed by the noise-free value
// if noise was added. The error reports an x outside the box.
func (r Run) Evaluator() func(x []float64) (Numbers, error) {
	observed, latent := r.Problem.objectives(r.Seed)
	return func(x []float64) (Numbers, error) {
		if len(x) != observed.Dim() {
			return nil, fmt.Errorf("%d coordinates, %s has %d", len(x), observed.Name, observed.Dim())
		}
		for j, v := range x {
			if !(observed.Lo[j] <= v && v <= observed.Hi[j]) {
				return nil, fmt.Errorf("coordinate %d is %v, %s has %v to %v", j+1, v, observed.Name, observed.Lo[j], observed.Hi[j])
			}
		}
		values := Numbers{observed.Func(x)}
		if r.Problem.Noise > 0 {
			values = append(values, latent.Func(x))
		}
		return values, nil
	}
}
