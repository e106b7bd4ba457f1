package store

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/functionspace/bo/loop"
)

// curves holds the best values up to the steps of complete trials, so that the median rule
// reads the steps of a trial once. Steps that AddSteps adds to a complete trial afterwards do not
// count. It is immutable.
type curves struct {
	study    int64  // ID of the study
	name     string // of the objective
	maximize bool
	revision int64 // the trials up to this revision are known
	complete map[int]curve
}

// curve holds the steps of an attempt in ascending order and, for each, the best value up to it.
// NaN is worse than every number.
type curve struct{ steps, best []float64 }

// update returns c, which may be nil, with the trials that are complete since its transaction. The caller keeps the
// result as the result of stepCopy.update.
func (c *curves) update(tx Tx, row *Row, name string, maximize bool) (*curves, error) {
	if c == nil || c.study != row.ID || c.name != name || c.maximize != maximize {
		c = &curves{study: row.ID, name: name, maximize: maximize}
	}
	if c.revision == row.Revision {
		return c, nil
	}
	changed, err := tx.Trials(row.ID, Query{Since: c.revision, Brief: true})
	if err != nil {
		return nil, err
	}
	var unread []Step // their trials only
	attempts := map[int]int{}
	for _, t := range changed {
		if t.State == Complete {
			unread, attempts[t.Number] = append(unread, Step{Trial: t.Number}), t.Attempt
		}
	}
	steps, err := stepsOfTrials(tx, row, unread)
	if err != nil {
		return nil, err
	}
	of := map[int][]Step{}
	for _, s := range steps {
		if s.Name == name && s.Attempt == attempts[s.Trial] {
			of[s.Trial] = append(of[s.Trial], s)
		}
	}
	next := &curves{study: c.study, name: name, maximize: maximize, revision: row.Revision, complete: maps.Clone(c.complete)}
	if next.complete == nil {
		next.complete = map[int]curve{}
	}
	for _, t := range changed {
		if t.State != Complete { // also a corrected one
			delete(next.complete, t.Number)
		}
	}
	for number := range attempts {
		next.complete[number] = newCurve(of[number], maximize)
	}
	return next, nil
}

// newCurve returns the best values of the steps of an attempt.
func newCurve(steps []Step, maximize bool) (c curve) {
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
	best := math.NaN()
	for _, s := range steps {
		if math.IsNaN(best) || maximize && s.Value > best || !maximize && s.Value < best {
			best = s.Value
		}
		c.steps, c.best = append(c.steps, s.Step), append(c.best, best)
	}
	return c
}

// trials returns the complete trials for a decision of the median rule at a step: each has one
// step, whose value is the best up to the step of the decision.
func (c *curves) trials(at float64) []loop.Trial {
	out := make([]loop.Trial, 0, len(c.complete)+1)
	for number, known := range c.complete {
		if i := sort.Search(len(known.steps), func(i int) bool { return known.steps[i] > at }); i > 0 {
			out = append(out, loop.Trial{ID: number, State: loop.Complete, Steps: []loop.Step{{Step: at, Value: known.best[i-1]}}})
		}
	}
	return out
}
