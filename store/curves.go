package store

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/functionspace/bo/loop"
)

// curves holds the running averages of the steps of complete trials, so that the median rule
// reads the steps of a trial once. Steps that AddSteps adds to a complete trial afterwards do not
// count.
type curves struct {
	mu       sync.Mutex
	study    int64  // ID of the study
	name     string // of the objective
	revision int64  // the trials up to this revision are known
	complete map[int]*curve
}

// curve holds the steps of an attempt in ascending order and, for each, the mean of the values
// up to it.
type curve struct {
	attempt     int
	read        bool
	steps, mean []float64
}

// update reads trials that are complete since the last call.
func (c *curves) update(tx Tx, row *Row, name string) error {
	if c.study != row.ID || c.name != name {
		c.study, c.name, c.revision, c.complete = row.ID, name, 0, map[int]*curve{}
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
		c.complete[s.Trial].set(of[s.Trial], name)
	}
	return nil
}

// set computes the averages of the steps of the attempt.
func (c *curve) set(steps []Step, name string) {
	steps = slices.DeleteFunc(steps, func(s Step) bool { return s.Attempt != c.attempt || s.Name != name })
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Step, b.Step) })
	mean := 0.0
	for i, s := range steps {
		mean += (s.Value - mean) / float64(i+1)
		c.steps, c.mean = append(c.steps, s.Step), append(c.mean, mean)
	}
	c.read = true
}

// trials returns the complete trials for a decision of the median rule at a step: each has one
// step, whose value is the average up to the step of the decision.
func (c *curves) trials(at float64) []loop.Trial {
	out := make([]loop.Trial, 0, len(c.complete)+1)
	for number, known := range c.complete {
		if i := sort.Search(len(known.steps), func(i int) bool { return known.steps[i] > at }); i > 0 {
			out = append(out, loop.Trial{ID: number, State: loop.Complete, Steps: []loop.Step{{Step: at, Value: known.mean[i-1]}}})
		}
	}
	return out
}
