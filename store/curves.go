package store

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/functionspace/bo/loop"
)

// curves holds the best values up to the steps of complete trials, so that the median rule
// reads the steps of a trial once. Steps that AddSteps adds to a complete trial afterwards do not
// count.
type curves struct {
	mu       sync.Mutex
	study    int64  // ID of the study
	name     string // of the objective
	maximize bool
	revision int64 // the trials up to this revision are known
	complete map[int]*curve
}

// curve holds the steps of an attempt in ascending order and, for each, the best value up to it.
// NaN is worse than every number.
type curve struct {
	attempt     int
	read        bool
	steps, best []float64
}

// update reads trials that are complete since the last call.
func (c *curves) update(tx Tx, row *Row, name string, maximize bool) error {
	if c.study != row.ID || c.name != name || c.maximize != maximize {
		c.study, c.name, c.maximize, c.revision, c.complete = row.ID, name, maximize, 0, map[int]*curve{}
	}
	if c.revision < row.Revision {
		changed, err := tx.Trials(row.ID, Query{Since: c.revision, Brief: true})
		if err != nil {
			return err
		}
		for _, t := range changed {
			if t.State == Complete {
				c.complete[t.Number] = &curve{attempt: t.Attempt}
			}
		}
		c.revision = row.Revision
	}
	var unread []Step // their trials only
	for number, known := range c.complete {
		if !known.read {
			unread = append(unread, Step{Trial: number})
		}
	}
	steps, err := stepsOfTrials(tx, row, unread)
	if err != nil {
		return err
	}
	of := map[int][]Step{}
	for _, s := range steps {
		of[s.Trial] = append(of[s.Trial], s)
	}
	for _, s := range unread {
		c.complete[s.Trial].set(of[s.Trial], name, maximize)
	}
	return nil
}

// set computes the best values of the attempt.
func (c *curve) set(steps []Step, name string, maximize bool) {
	steps = slices.DeleteFunc(steps, func(s Step) bool { return s.Attempt != c.attempt || s.Name != name })
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
	best := math.NaN()
	for _, s := range steps {
		if math.IsNaN(best) || maximize && s.Value > best || !maximize && s.Value < best {
			best = s.Value
		}
		c.steps, c.best = append(c.steps, s.Step), append(c.best, best)
	}
	c.read = true
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
