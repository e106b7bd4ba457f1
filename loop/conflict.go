package loop

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/figures"
)

// Conflict is a point at which complete trials have different values. A noise-free
// objective has none.
type Conflict struct {
	Trials []int // IDs
	Values []float64
}

// String names the trials and the values. Different values have different texts.
func (c Conflict) String() string {
	list := func(parts []string) string {
		if n := len(parts) - 1; n > 0 {
			return strings.Join(parts[:n], ", ") + " and " + parts[n]
		}
		return strings.Join(parts, "")
	}
	var trials []string
	for _, id := range c.Trials {
		trials = append(trials, strconv.Itoa(id))
	}
	return fmt.Sprintf("trials %s have equal points and the values %s", list(trials), list(figures.Distinct(6, c.Values...)))
}

// Conflicts returns the conflicts of trials in the order of their first trials.
func Conflicts(trials []Trial) []Conflict {
	var all []Conflict
	for _, group := range groups(trials) {
		c := Conflict{}
		differ := false
		for _, i := range group {
			c.Trials, c.Values = append(c.Trials, trials[i].ID), append(c.Values, trials[i].Value)
			differ = differ || trials[i].Value != trials[group[0]].Value
		}
		if differ {
			all = append(all, c)
		}
	}
	return all
}

// groups returns the indices of the complete trials at each point, in the order of the first
// trials.
func groups(trials []Trial) [][]int {
	var all [][]int
	at := map[string]int{}
	for i := range trials {
		if trials[i].State != Complete {
			continue
		}
		key := trials[i].Point.Key()
		k, ok := at[key]
		if !ok {
			k = len(all)
			at[key], all = k, append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return all
}

// recommendExact is Recommend for a noise-free objective; first is the index of the trial with
// the best value. Model is the first feasible trial at the point with the best mean, or the first trial if none is
// feasible. A point is feasible if one of its trials is. Values that
// conflict have the variance s², pooled over their points, and a mean of n values has the
// standard error s/√n.
func (t *task) recommendExact(first int) Recommendation {
	var squares, freedom float64
	means, all := []float64{}, groups(t.trials)
	met := t.opts.Feasible(&t.trials[first])
	for _, group := range all {
		mean := t.trials[group[0]].Value // exact for equal values
		for k, i := range group {
			mean += (t.trials[i].Value - mean) / float64(k+1)
		}
		for _, i := range group {
			squares += (t.trials[i].Value - mean) * (t.trials[i].Value - mean)
		}
		means, freedom = append(means, mean), freedom+float64(len(group)-1)
	}
	s := 0.0
	if squares > 0 {
		s = math.Sqrt(squares / freedom)
	}
	var rec Recommendation
	least := math.Inf(1)
	for k, group := range all {
		e := Estimate{Trial: t.trials[group[0]].clone(), Mean: means[k], SD: s / math.Sqrt(float64(len(group)))}
		for _, i := range group {
			if t.opts.Feasible(&t.trials[i]) {
				e.Trial, e.Feasible = t.trials[i].clone(), 1
				break
			}
		}
		if v := t.opts.sign() * means[k]; v < least && (!met || e.Feasible == 1) {
			least, rec.Model = v, e
		}
		for _, i := range group {
			if i == first {
				e.Trial = t.trials[i].clone()
				rec.Observed = e
			}
		}
	}
	if !met { // the least violation
		rec.Model = rec.Observed
	}
	return rec
}
