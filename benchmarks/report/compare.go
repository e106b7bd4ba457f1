package report

import (
	"math"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Comparison compares a method with the baseline after a number of evaluations,
// paired by problem and seed.
type Comparison struct {
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// P is the two-sided p-value of Wilcoxon's signed-rank test on differences of
	// log10(regret), or of values if the minimum is unknown. It is not adjusted for the
	// number of comparisons.
	P float64 `json:"p"`
	// Factor is the median over pairs of the regret divided by the baseline's regret, 0
	// if the minimum is unknown.
	Factor float64 `json:"factor,omitzero"`
}

// N returns the number of pairs.
func (c Comparison) N() int { return c.Wins + c.Ties + c.Losses }

// Pair compares a method with the baseline over all problems.
type Pair struct {
	Name string      `json:"method"`
	Half *Comparison `json:"half"` // after half of the budget
	End  *Comparison `json:"end"`
	// Share is the share of wins plus half of the ties at the end. It is nil in reports without it.
	Share *Interval `json:"share,omitempty"`
	// Better counts the problems with a lower median at the end over the pairs; Problems
	// is their total.
	Better   int `json:"better"`
	Problems int `json:"problems"`
}

func (a *results) pairs(baseline string) []Pair {
	if baseline == "" {
		return nil
	}
	var list []Pair
	for _, method := range a.methods {
		if method == baseline {
			continue
		}
		p := Pair{Name: method}
		var own, other []runner.Record
		var shares grouped
		for _, problem := range a.contests() {
			x, y := a.paired(problem, method, baseline)
			if len(x) == 0 {
				continue
			}
			end := func(r runner.Record) float64 { return measure(r)[r.Budget-1] }
			if p.Problems++; summarize(each(x, end)).Median < summarize(each(y, end)).Median {
				p.Better++
			}
			own, other = append(own, x...), append(other, y...)
			shares.add(a.group(problem), points(x, y))
		}
		if p.Half, p.End = compare(own, other, 1), compare(own, other, 3); p.End != nil {
			mean := meanInterval(shares.values)
			p.Share = &mean
			list = append(list, p)
		}
	}
	return list
}

// paired returns the runs of two methods on the seeds that both finished.
func (a *results) paired(problem, method, baseline string) (own, other []runner.Record) {
	for _, r := range a.of(problem, method) {
		if b, ok := a.runs[runner.Key{Problem: problem, Method: baseline, Seed: r.Seed}]; ok {
			own, other = append(own, r), append(other, b)
		}
	}
	return own, other
}

// AtEnd compares runs with their partners at the end of the budget. It returns nil without runs.
func AtEnd(own, other []runner.Record) *Comparison { return compare(own, other, 3) }

// compare compares runs with their partners at one of the checkpoints; it returns nil
// without runs.
func compare(own, other []runner.Record, checkpoint int) *Comparison {
	if len(own) == 0 {
		return nil
	}
	var c Comparison
	var differences, logs []float64
	for k, r := range own {
		i := checkpoints(r.Budget)[checkpoint] - 1
		d := score(r, i) - score(other[k], i)
		switch {
		case d < 0:
			c.Wins++
		case d > 0:
			c.Losses++
		default:
			c.Ties++
		}
		if d != 0 {
			differences = append(differences, d)
		}
		if r.Minimum != nil {
			logs = append(logs, d)
		}
	}
	c.P = signedRank(differences)
	if logs != nil {
		c.Factor = math.Pow(10, summarize(logs).Median)
	}
	return &c
}
