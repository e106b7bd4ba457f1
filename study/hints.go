package study

import (
	"fmt"

	"github.com/functionspace/bo/space"
)

// decades is the ratio of the bounds of a range from which Hints names a linear scale.
const decades = 1e4

// Hints returns a sentence for each parameter whose scale may not be the intended one: a range of positive numbers
// over at least four decades without log and without a grid. A valid definition may have hints.
func (d *Definition) Hints() []string {
	var hints []string
	for _, p := range d.Parameters {
		whole := p.Kind == space.KindInt && p.Step <= 1
		if (whole || p.Kind == space.KindFloat && p.Step == 0) && !p.Log && p.Min > 0 && p.Max/p.Min >= decades {
			hints = append(hints, fmt.Sprintf("parameter %s has a linear scale, and 99 %% of its range is above %g: set log to true if ratios matter",
				p.Name, p.Max/100))
		}
	}
	return hints
}
