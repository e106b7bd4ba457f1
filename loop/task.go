package loop

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// task holds the arguments of Propose or Recommend, validated, with defaults and
// with encoded points where a surrogate model needs them.
type task struct {
	space *space.Space
	// domain is the part of space with the given values, or space. Its points are points of space.
	domain *space.Space
	size   int // number of points of domain, at most math.MaxInt
	opts   Options
	// optimum is the density of Options.Optimum; nil without beliefs.
	optimum *optimum
	first   []space.Point // points of Options.First
	trials  []Trial
	x       [][]float64 // encoded point of each trial; nil before encode
	queue   []space.Point
	warm    surrogate.State
	retries bool // points of lost trials count as points without a trial
}

// newTask is checkedTask with encoded points.
func newTask(s *space.Space, o Options, h History) (*task, error) {
	t, err := checkedTask(s, o, h)
	if err == nil {
		t.encode()
	}
	return t, err
}

// encode encodes the points of the trials, if they are not encoded.
func (t *task) encode() {
	if t.x != nil {
		return
	}
	t.x = make([][]float64, len(t.trials))
	for i := range t.trials {
		t.x[i] = t.space.Encode(t.trials[i].Point)
	}
}

// checkedTask returns a task without encoded points, which the initial design does not need. The error
// wraps ErrOptions or ErrHistory. The queue of the task leaves out points that a noise-free objective has
// tried already.
func checkedTask(s *space.Space, o Options, h History) (*task, error) {
	o, err := o.withDefaults(s)
	if err != nil {
		return nil, err
	}
	t := &task{space: s, domain: s, size: s.Count(), opts: o, trials: slices.Clone(h.Trials), warm: h.Warm}
	if len(o.Optimum) > 0 {
		if t.optimum, err = newOptimum(s, o.Optimum); err != nil {
			return nil, err
		}
	}
	if t.first, err = t.opts.firstPoints(s); err != nil {
		return nil, err
	}
	last := 0
	for i := range t.trials {
		trial := &t.trials[i]
		if err := trial.check(s, &t.opts, last); err != nil {
			return nil, fmt.Errorf("%w: trial %d: %w", ErrHistory, trial.ID, err)
		}
		last = trial.ID
	}
	for i, p := range h.Queue {
		if p, err = own(s, p); err != nil {
			return nil, fmt.Errorf("%w: queued point %d: %w", ErrHistory, i+1, err)
		}
		t.queue = append(t.queue, p)
	}
	if o.NoiseFree {
		t.queue = untried(t.queue, t.trials)
	}
	return t, nil
}

// check validates a trial that follows trial last, and converts its point to a
// point of s.
func (t *Trial) check(s *space.Space, o *Options, last int) (err error) {
	if t.ID <= last {
		return fmt.Errorf("its ID is not above the previous ID %d", last)
	}
	switch t.State {
	case Pending, Failed, Stopped, Lost:
	case Complete:
		if err := o.CheckOutcome(Outcome{t.Value, t.Numbers}); err != nil {
			return err
		}
		if o.Several() {
			t.Value = t.Numbers[o.Objectives[0].Name]
		}
	default:
		return fmt.Errorf("state is %q, want %s, %s, %s, %s or %s", t.State, Pending, Complete, Failed, Stopped, Lost)
	}
	if t.Outside {
		if t.State != Complete && t.State != Failed {
			return fmt.Errorf("it is outside and its state is %q, want %s or %s", t.State, Complete, Failed)
		}
		if s == nil {
			return errNoSpace
		}
		t.Point, err = s.Outside(t.Point.Map(), nil)
		return err
	}
	t.Point, err = own(s, t.Point)
	return err
}

// own returns p as a point of s, or the error of s.PointOf. A point of s may violate
// constraints: s.Decode does not check them. A nil s is an error that wraps ErrOptions.
func own(s *space.Space, p space.Point) (space.Point, error) {
	if s == nil {
		return space.Point{}, errNoSpace
	}
	if p.Space() == s && !s.Restricted() {
		return p, nil
	}
	return s.PointOf(p.Map())
}

// next returns the ID of the next trial, which is the index of the random streams.
func (t *task) next() int {
	if len(t.trials) == 0 {
		return 1
	}
	return t.trials[len(t.trials)-1].ID + 1
}

// seen returns the keys of all points of trials and of the queue that have the given values. If t.retries, lost trials do
// not count.
func (t *task) seen() map[string]bool {
	trials := t.trials
	if t.retries {
		trials = withoutLost(trials)
	}
	seen := keys(t.inSlice(trials))
	for _, p := range t.queue {
		if t.domain.Contains(p) {
			seen[p.Key()] = true
		}
	}
	return seen
}

// retrying returns t with retries set.
func (t *task) retrying() *task {
	out := *t
	out.retries = true
	return &out
}

// withoutLost returns the trials that are not lost.
func withoutLost(trials []Trial) []Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return t.State == Lost })
}

// keys returns the keys of the points of trials that satisfy the constraints.
func keys(trials []Trial) map[string]bool {
	set := make(map[string]bool, len(trials))
	for i := range trials {
		if !trials[i].Outside {
			set[trials[i].Point.Key()] = true
		}
	}
	return set
}

// unseen returns the number of points of the domain that are not in seen.
func (t *task) unseen(seen map[string]bool) int { return t.size - len(seen) }

// with returns t with chosen as further pending trials.
func (t *task) with(chosen []Proposal) *task {
	out := *t
	out.trials, out.x = slices.Clone(t.trials), slices.Clone(t.x)
	for _, c := range chosen {
		out.trials = append(out.trials, Trial{ID: out.next(), Point: c.Point, State: Pending})
		out.x = append(out.x, t.space.Encode(c.Point))
	}
	return &out
}

// count returns the number of trials in a state.
func (t *task) count(state State) int {
	n := 0
	for i := range t.trials {
		if t.trials[i].State == state {
			n++
		}
	}
	return n
}

// inside returns the number of complete trials that satisfy the constraints.
func (t *task) inside() int {
	n := 0
	for i := range t.trials {
		if t.trials[i].State == Complete && !t.trials[i].Outside {
			n++
		}
	}
	return n
}

// observed returns the encoded points of the trials that enter the fit of the objective and satisfy the constraints. If no
// complete trial does, it returns all points of the fit.
func (t *task) observed() *mat.Dense {
	x := t.points(t.modelled)
	var keep []int
	k := 0
	for i := range t.trials {
		if t.modelled(t.trials[i].State) {
			if !t.trials[i].Outside {
				keep = append(keep, k)
			}
			k++
		}
	}
	if len(keep) == k || t.inside() == 0 {
		return x
	}
	return subset.Take(x, keep)
}

// observations returns the number of trials in the fits of the objective and of the failures.
func (t *task) observations() int {
	n := 0
	for i := range t.trials {
		if s := t.trials[i].State; t.modelled(s) || fitting(s) {
			n++
		}
	}
	return n
}

// points returns the encoded points of the trials in the states that keep
// selects, a row each; nil if there are none.
func (t *task) points(keep func(State) bool) *mat.Dense {
	var rows []float64
	n := 0
	for i := range t.trials {
		if keep(t.trials[i].State) {
			if rows == nil {
				rows = make([]float64, 0, len(t.x[i])*(len(t.trials)-i))
			}
			rows = append(rows, t.x[i]...)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return mat.NewDense(n, len(rows)/n, rows)
}
