package loop

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpectedValueOfAStoppedTrial(t *testing.T) {
	steps := func(values ...float64) (out []Step) {
		for i, v := range values {
			out = append(out, Step{Step: float64(i + 1), Value: v})
		}
		return out
	}
	complete := []Trial{
		{ID: 1, State: Complete, Steps: steps(4, 3)},
		{ID: 2, State: Complete, Steps: steps(8, 2)},
		{ID: 3, State: Complete, Steps: steps(6, 1)},
	}
	z := []float64{3, 2, 1}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name  string
		steps []Step
		want  float64
	}{
		{"rank of a complete trial", steps(6), 2},
		{"between two", steps(7), 2.5},
		{"best", steps(1), 1},
		{"worst", steps(90), 3},
		{"second step", steps(4, 1.5), 1.5},
		{"not a number", steps(nan), 3},
		{"infinite", steps(inf), 3},
		{"later than all steps", []Step{{Step: 9, Value: 2}}, 2},
		{"before all steps", []Step{{Step: 0.5, Value: 7}}, 2},
		{"no steps", nil, 2},
	} {
		for _, maximize := range []bool{false, true} {
			at := &task{opts: Options{Maximize: maximize}}
			for _, trial := range append(complete, Trial{ID: 4, State: Stopped, Steps: c.steps}) {
				own := trial
				own.Steps = nil
				for _, s := range trial.Steps {
					own.Steps = append(own.Steps, Step{s.Step, at.opts.sign() * s.Value})
				}
				at.trials = append(at.trials, own)
			}
			assert.InDelta(t, c.want, at.expected(&at.trials[3], z), 1e-12, "%s, maximize %v", c.name, maximize)
		}
	}

	without := &task{trials: []Trial{{State: Complete}, {State: Complete}, {State: Stopped, Steps: steps(1)}}}
	assert.Equal(t, 1.5, without.expected(&without.trials[2], []float64{2, 1}), "complete trials without steps")
	odd := &task{trials: []Trial{{State: Complete, Steps: steps(nan)}, {State: Complete, Steps: steps(1)}, {State: Stopped, Steps: steps(5)}}}
	assert.Equal(t, 2.0, odd.expected(&odd.trials[2], []float64{2, 1}), "a complete trial without a number at the step")
}
