package insight

import (
	"cmp"
	"slices"

	"github.com/functionspace/bo/loop"
)

// Curve holds the values that a trial reported while it ran.
type Curve struct {
	Trial int        `json:"trial"`
	State loop.State `json:"state"`
	Best  bool       `json:"best"` // the trial has the best value of the study
	// Points are in the order of their steps.
	Points []CurvePoint `json:"points"`
}

// CurvePoint is the value at a step.
type CurvePoint struct {
	Step  float64 `json:"step"`
	Value Number  `json:"value"` // user's units; null if it is not a number
}

// Curves returns the learning curves of the trials that reported steps. It costs O(n log n) for n
// steps.
func Curves(trials []loop.Trial, o loop.Options) []Curve {
	out := []Curve{}
	best := o.Best(trials)
	for i := range trials {
		t := &trials[i]
		if len(t.Steps) == 0 {
			continue
		}
		c := Curve{Trial: t.ID, State: t.State, Best: i == best}
		for _, s := range t.Steps {
			c.Points = append(c.Points, CurvePoint{s.Step, Number(s.Value)})
		}
		slices.SortFunc(c.Points, func(a, b CurvePoint) int { return cmp.Compare(a.Step, b.Step) })
		out = append(out, c)
	}
	return out
}

// LatestCurves returns the last n curves. If the best one is earlier, it replaces the first of them.
func LatestCurves(curves []Curve, n int) []Curve {
	dropped := len(curves) - n
	if dropped <= 0 {
		return curves
	}
	kept := slices.Clone(curves[dropped:])
	if best := slices.IndexFunc(curves, func(c Curve) bool { return c.Best }); best >= 0 && best < dropped && n > 0 {
		kept[0] = curves[best]
	}
	return kept
}
