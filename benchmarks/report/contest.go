package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Contest compares a method with the baseline of a suite on the datasets of a class. A pair
// is a dataset and a seed that both methods finished.
type Contest struct {
	Class  string `json:"class"`
	Method string `json:"method"`
	Labels bool   `json:"labels,omitempty"`
	Sets   int    `json:"datasets"`
	// Pairs counts the pairs in which the method has the larger log density.
	Pairs *Comparison `json:"pairs"`
	// Adjusted is the p-value of Pairs with Holm's adjustment for all contests of the suite.
	Adjusted   float64 `json:"p_adjusted"`
	Difference float64 `json:"log_density_difference"` // median over pairs
	// Error is the median over pairs of the error divided by the error of the baseline: the
	// root mean squared error, or the share of wrong labels. It is +Inf, null in JSON, if the
	// baseline has no errors.
	Error    float64 `json:"error_ratio"`
	Coverage float64 `json:"coverage_90"` // mean over pairs; for labels, the calibration error
	// Processor is the median over pairs of the CPU time of the fit divided by the baseline's
	// time, 0 if not measured.
	Processor float64 `json:"cpu_ratio,omitzero"`

	// Best is the control of the suite with the largest mean log density over the datasets of the class. Beyond
	// is the comparison with it, and nil for controls and without pairs.
	Best           string      `json:"best_control,omitempty"`
	Beyond         *Comparison `json:"beyond,omitempty"`
	BeyondAdjusted float64     `json:"beyond_p_adjusted,omitzero"`
}

// MarshalJSON implements json.Marshaler.
func (c Contest) MarshalJSON() ([]byte, error) {
	type plain Contest
	out := struct {
		plain
		Error *float64 `json:"error_ratio"`
	}{plain: plain(c)}
	if !math.IsInf(c.Error, 1) {
		out.Error = &c.Error
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Contest) UnmarshalJSON(text []byte) error {
	type plain Contest
	in := struct {
		*plain
		Error *float64 `json:"error_ratio"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	c.Error = math.Inf(1)
	if in.Error != nil {
		c.Error = *in.Error
	}
	return nil
}

// errorRatio returns the text of Error in tables.
func (c Contest) errorRatio() string {
	if math.IsInf(c.Error, 1) {
		return "∞"
	}
	return document.Short(c.Error)
}

// The coverage of 90 % intervals that a method needs to pay.
const leastCoverage, mostCoverage = 0.80, 0.98

// Pays reports whether the log density is larger than the baseline's by the adjusted test, and the median error
// ratio is at most 1. Numbers must also have a coverage between 80 and 98 %.
func (c Contest) Pays() bool {
	return c.Pairs.Wins > c.Pairs.Losses && c.Adjusted <= 1-Level && c.Error <= 1 &&
		(c.Labels || leastCoverage <= c.Coverage && c.Coverage <= mostCoverage)
}

// PaysBeyond reports whether the method pays, and its log density is also larger than the
// log density of the best control.
func (c Contest) PaysBeyond() bool {
	return c.Pays() && c.Beyond != nil && c.Beyond.Wins > c.Beyond.Losses && c.BeyondAdjusted <= 1-Level
}

// Verdict states the result of the tests at the level 1 - Level.
func (c Contest) Verdict() string {
	switch {
	case c.PaysBeyond():
		return "pays, beyond " + c.Best
	case c.Pays():
		return "pays"
	case c.Adjusted > 1-Level:
		return "no difference shown"
	case c.Pairs.Wins > c.Pairs.Losses:
		return "larger density, other conditions fail"
	}
	return "smaller density"
}

// bySeed holds the finished runs of a suite of datasets.
type bySeed map[runner.Key]runner.Record

// pairs returns the runs of two methods on the datasets with a seed that both finished, in order.
func (all bySeed) pairs(sets []string, method, other string) (own, than []runner.Record) {
	for key, r := range all {
		if b, ok := all[runner.Key{Problem: key.Problem, Method: other, Seed: key.Seed}]; ok && key.Method == method && slices.Contains(sets, key.Problem) {
			own, than = append(own, r), append(than, b)
		}
	}
	order := func(a, b runner.Record) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Seed, b.Seed))
	}
	slices.SortFunc(own, order)
	slices.SortFunc(than, order)
	return own, than
}

// contests compares the methods in every class of a suite with a baseline.
func contests(suite runner.Suite, records []runner.Record, methods []string) []Contest {
	all := bySeed{}
	for _, r := range records {
		if r.Score != nil {
			all[r.Key()] = r
		}
	}
	var classes []string
	sets, labels := map[string][]string{}, map[string]bool{}
	for _, d := range suite.Datasets {
		if !slices.Contains(classes, d.Class) {
			classes = append(classes, d.Class)
		}
		sets[d.Class], labels[d.Class] = append(sets[d.Class], d.Name), d.Labels
	}
	var list []Contest
	for _, class := range classes {
		best := all.best(sets[class], suite.Controls)
		for _, method := range methods {
			own, than := all.pairs(sets[class], method, suite.Baseline)
			if method == suite.Baseline || len(own) == 0 {
				continue
			}
			c := contest(own, than, labels[class])
			c.Class, c.Method = class, method
			if own, than := all.pairs(sets[class], method, best); len(own) > 0 && !slices.Contains(suite.Controls, method) {
				c.Best, c.Beyond = best, densities(own, than)
			}
			list = append(list, c)
		}
	}
	adjustContests(list)
	return list
}

// best returns the control with the largest mean log density over the pairs of dataset and seed
// that all controls with runs finished; it is empty without runs.
func (all bySeed) best(sets, controls []string) string {
	ran := slices.DeleteFunc(slices.Clone(controls), func(m string) bool {
		own, _ := all.pairs(sets, m, m)
		return len(own) == 0
	})
	best, most := "", math.Inf(-1)
	for _, m := range ran {
		own, _ := all.pairs(sets, m, m)
		own = slices.DeleteFunc(own, func(r runner.Record) bool {
			return slices.ContainsFunc(ran, func(other string) bool {
				_, ok := all[runner.Key{Problem: r.Problem, Method: other, Seed: r.Seed}]
				return !ok
			})
		})
		if len(own) == 0 {
			continue
		}
		if mean := summarize(each(own, func(r runner.Record) float64 { return r.Score.LogDensity })).Mean; mean > most {
			best, most = m, mean
		}
	}
	return best
}

func contest(own, than []runner.Record, labels bool) Contest {
	c := Contest{Labels: labels, Pairs: densities(own, than)}
	over := func(f func(s, b *runner.Score) float64) Summary {
		values := make([]float64, len(own))
		for k, r := range own {
			values[k] = f(r.Score, than[k].Score)
		}
		return summarize(values)
	}
	var names []string
	for _, r := range own {
		if !slices.Contains(names, r.Problem) {
			names = append(names, r.Problem)
		}
	}
	c.Sets = len(names)
	c.Difference = over(func(s, b *runner.Score) float64 { return s.LogDensity - b.LogDensity }).Median
	c.Error = over(func(s, b *runner.Score) float64 {
		if labels {
			return ratio(s.Wrong, b.Wrong)
		}
		return ratio(s.RMSE, b.RMSE)
	}).Median
	c.Coverage = over(func(s, _ *runner.Score) float64 {
		if labels {
			return s.Calibration
		}
		return s.Coverage
	}).Mean
	if !slices.ContainsFunc(append(slices.Clone(own), than...), func(r runner.Record) bool { return r.Score.Processor == 0 }) {
		c.Processor = over(func(s, b *runner.Score) float64 { return s.Processor / b.Processor }).Median
	}
	return c
}

// ratio returns a/b, and 1 if both are 0.
func ratio(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

// densities compares the log densities of pairs of runs; it returns nil without pairs.
func densities(own, than []runner.Record) *Comparison {
	if len(own) == 0 {
		return nil
	}
	var c Comparison
	differences := make([]float64, len(own))
	for k, r := range own {
		d := r.Score.LogDensity - than[k].Score.LogDensity
		differences[k] = d
		switch {
		case d > 0:
			c.Wins++
		case d < 0:
			c.Losses++
		default:
			c.Ties++
		}
	}
	c.P = signedRank(differences)
	return &c
}

// adjustContests sets the adjusted p-values.
func adjustContests(list []Contest) {
	var p, beyond []float64
	for _, c := range list {
		p = append(p, c.Pairs.P)
		if c.Beyond != nil {
			beyond = append(beyond, c.Beyond.P)
		}
	}
	p, beyond = Holm(p), Holm(beyond)
	for i := range list {
		list[i].Adjusted = p[i]
		if list[i].Beyond != nil {
			list[i].BeyondAdjusted, beyond = beyond[0], beyond[1:]
		}
	}
}

// contestTable has a row for each method of a class.
func (r *Regression) contestTable(class string) [][]string {
	t := [][]string{{"method", "pairs", "larger, equal, smaller", "median difference", "adjusted p", "error ratio", "coverage", "CPU ratio", "against the best control", "adjusted p", "result"}}
	for _, c := range r.Contests {
		if c.Class != class {
			continue
		}
		if c.Labels {
			t[0][6] = "calibration error"
		}
		row := []string{
			c.Method, fmt.Sprintf("%d on %s", c.Pairs.N(), document.Count(c.Sets, "task")), counts(c.Pairs), fmt.Sprintf("%+.3f", c.Difference), fmt.Sprintf("%.2g", c.Adjusted),
			c.errorRatio(), fmt.Sprintf("%.3f", c.Coverage), "", "", "", c.Verdict(),
		}
		if c.Processor > 0 {
			row[7] = document.Short(c.Processor)
		}
		if c.Beyond != nil {
			row[8], row[9] = fmt.Sprintf("%s: %s", c.Best, counts(c.Beyond)), fmt.Sprintf("%.2g", c.BeyondAdjusted)
		}
		t = append(t, row)
	}
	return t
}

func counts(c *Comparison) string { return fmt.Sprintf("%d, %d, %d", c.Wins, c.Ties, c.Losses) }

// writeContests writes a table for each class.
func (r *Regression) writeContests(w *document.Writer) {
	var done []string
	for _, c := range r.Contests {
		if slices.Contains(done, c.Class) {
			continue
		}
		done = append(done, c.Class)
		w.Heading(fmt.Sprintf("Class %s: log density against %s", c.Class, r.Baseline))
		w.Table(withoutEmptyColumns(r.contestTable(c.Class)))
	}
	if len(done) > 0 {
		w.Line("")
		note := contestsNote
		if slices.ContainsFunc(r.Contests, func(c Contest) bool { return math.IsInf(c.Error, 1) }) {
			note += " ∞: the baseline has no errors."
		}
		w.Line("%s", note)
	}
}

const contestsNote = "A pair is a task and a seed that both methods finished. The p-values are of Wilcoxon's signed-rank test, two-sided, with Holm's adjustment for all methods and classes of the tables. Differences are in nats per held-out row. Ratios are medians over pairs."

// seedTable has the scores of a dataset of a suite with a baseline.
func (d Dataset) seedTable(baseline string) [][]string {
	t := [][]string{{"method", "seeds", "log density", "above " + baseline, "RMSE", "90 % coverage", "wrong labels", "calibration error", "CPU of a fit", "commit"}}
	for _, m := range d.Methods {
		row := []string{m.Name, fmt.Sprint(m.Splits), m.cell("%.3f", m.LogDensity), "", "", "", "", "", document.Seconds(m.Processor.Median), m.commits()}
		if m.RMSE.Mean > 0 {
			row[4], row[5] = m.cell("%.3f", m.RMSE), fmt.Sprintf("%.3f", m.Coverage.Mean)
		} else {
			row[6], row[7] = m.cell("%.3f", m.Wrong), m.cell("%.3f", m.Calibration)
		}
		if m.Against != nil {
			row[3] = fmt.Sprintf("%d of %d (%.2g)", m.Against.Wins, m.Against.N(), m.Against.P)
		}
		t = append(t, row)
	}
	return withoutEmptyColumns(t)
}
