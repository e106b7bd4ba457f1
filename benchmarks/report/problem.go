package report

import (
	"math"
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
)

// checkpoints returns the numbers of evaluations at 25, 50, 75 and 100 % of the
// budget.
func checkpoints(budget int) [4]int {
	var at [4]int
	for k := range at {
		at[k] = max(1, int(math.Round(float64((k+1)*budget)/4)))
	}
	return at
}

func (a *results) problem(name, baseline string) Problem {
	p := Problem{Name: name, Grid: a.grid(name)}
	for _, method := range a.methods {
		runs := a.of(name, method)
		if len(runs) == 0 {
			continue
		}
		r := runs[0]
		at := checkpoints(r.Budget)
		p.Dim, p.Budget, p.Initial, p.Batch, p.Minimum, p.At = r.Dim, r.Budget, r.Initial, r.Batch, r.Minimum, at[:]
		m := Method{Name: method, Runs: len(runs)}
		for _, n := range at {
			m.At = append(m.At, summarize(each(runs, func(r runner.Record) float64 { return measure(r)[n-1] })))
		}
		if p.Minimum != nil {
			area := summarize(each(runs, area)).Median
			m.Area = &area
		}
		m.Curve = newCurve(runs, p.Grid, a.reward)
		var suggest []float64
		for _, r := range runs {
			suggest = append(suggest, r.Suggest[min(r.Initial, max(0, len(r.Suggest)-1)):]...)
		}
		if len(suggest) > 0 {
			m.Suggest = summarize(suggest).Median
		}
		m.Elapsed = summarize(each(runs, func(r runner.Record) float64 { return r.Elapsed })).Median
		if method != baseline {
			own, other := a.paired(name, method, baseline)
			m.Against = compare(own, other, 3)
		}
		p.Methods = append(p.Methods, m)
	}
	return p
}

func each(runs []runner.Record, f func(runner.Record) float64) []float64 {
	x := make([]float64, len(runs))
	for i, r := range runs {
		x[i] = f(r)
	}
	return x
}

// area returns the mean of log10(regret) over the evaluations from the first value to
// the budget.
func area(r runner.Record) float64 {
	var sum, n float64
	for _, v := range r.Regret[:r.Budget] {
		if hasValue(v) {
			sum += log10(v)
			n++
		}
	}
	return sum / n
}

// TimesOnly reports whether the budget leaves too few points after the design to
// compare methods by their values.
func (p Problem) TimesOnly() bool { return timesOnly(p.Initial, p.Budget) }

// Contested reports whether the methods are compared on any problem.
func (r *Report) Contested() bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.TimesOnly() })
}
