package suites

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/report"
)

// matrix returns a table with a row for each method and a column for each problem on
// which methods are compared. The header names problems and evaluations.
func matrix(r *report.Report, checkpoint int, cell func(p report.Problem, m report.Method) string) [][]string {
	t := [][]string{{"method"}}
	for _, method := range r.Methods {
		t = append(t, []string{method})
	}
	for _, p := range r.Problems {
		if p.TimesOnly() {
			continue
		}
		t[0] = append(t[0], fmt.Sprintf("%s, %d", p.Name, p.At[checkpoint]))
		for k, method := range r.Methods {
			text := ""
			if i := slices.IndexFunc(p.Methods, func(m report.Method) bool { return m.Name == method }); i >= 0 {
				text = cell(p, p.Methods[i])
			}
			t[k+1] = append(t[k+1], text)
		}
	}
	return t
}

// medianTable returns the medians of the measure at a checkpoint, the lowest in
// bold.
func medianTable(r *report.Report, checkpoint int) [][]string {
	return matrix(r, checkpoint, func(p report.Problem, m report.Method) string {
		median := func(m report.Method) float64 { return m.At[checkpoint].Median }
		lowest := median(slices.MinFunc(p.Methods, func(a, b report.Method) int { return cmp.Compare(median(a), median(b)) }))
		text := document.Short(median(m))
		if median(m) == lowest || p.Minimum != nil && median(m) <= report.Floor {
			text = "**" + text + "**"
		}
		return text + fewer(p, m)
	})
}

// rewardTable returns the running maximum at the end of the budget.
func rewardTable(r *report.Report) [][]string {
	return matrix(r, 3, func(p report.Problem, m report.Method) string {
		last := len(m.Curve.Reward) - 1
		return fmt.Sprintf("%.3g ± %.1g", m.Curve.Reward[last], m.Curve.RewardSE[last]) + fewer(p, m)
	})
}

// fewer returns the number of runs in parentheses if another method has more.
func fewer(p report.Problem, m report.Method) string {
	if m.Runs < seeds(p) {
		return fmt.Sprintf(" (%d)", m.Runs)
	}
	return ""
}
