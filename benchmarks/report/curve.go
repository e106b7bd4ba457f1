package report

import (
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Curve summarises the measure over runs at each number of evaluations in
// Problem.Grid.
type Curve struct {
	Median []float64 `json:"median"`
	Q1     []float64 `json:"q1"`
	Q3     []float64 `json:"q3"`
	// Reward is the mean of the largest noise-free -value so far and RewardSE its
	// standard error, for suites whose papers maximise.
	Reward   []float64 `json:"reward,omitempty"`
	RewardSE []float64 `json:"reward_se,omitempty"`
}

func newCurve(runs []runner.Record, grid []int, reward bool) Curve {
	var c Curve
	for _, n := range grid {
		s := summarize(each(runs, func(r runner.Record) float64 { return measure(r)[n-1] }))
		c.Median, c.Q1, c.Q3 = append(c.Median, s.Median), append(c.Q1, s.Q1), append(c.Q3, s.Q3)
		if reward {
			s := summarize(each(runs, func(r runner.Record) float64 { return -r.Best()[n-1] }))
			c.Reward, c.RewardSE = append(c.Reward, s.Mean), append(c.RewardSE, s.SE)
		}
	}
	return c
}

// gridSize is the approximate number of points of a Curve.
const gridSize = 20

// grid returns the numbers of evaluations of the curves on a problem: every k-th from
// the first at which all runs have a value, the end of the design, and the
// checkpoints.
func (a *results) grid(problem string) []int {
	first := 1
	var any runner.Record
	for _, method := range a.methods {
		for _, r := range a.of(problem, method) {
			any = r
			for m := measure(r); !hasValue(m[first-1]); {
				first++
			}
		}
	}
	at := checkpoints(any.Budget)
	list := append(at[:], min(any.Initial, any.Budget))
	step := (any.Budget + gridSize - 1) / gridSize
	for n := step; n <= any.Budget; n += max(step, 1) {
		list = append(list, n)
	}
	list = slices.DeleteFunc(append(list, first), func(n int) bool { return n < first })
	slices.Sort(list)
	return slices.Compact(list)
}
