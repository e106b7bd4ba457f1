package report

import (
	"cmp"
	"fmt"
	"slices"
)

// matrix has a row for each method and a column for each problem where methods are
// compared. The header has the evaluations at a checkpoint.
func (r *Report) matrix(checkpoint int, cell func(p Problem, m Method) string) table {
	t := table{{"method"}}
	for _, method := range r.Methods {
		t = append(t, []string{method})
	}
	for _, p := range r.Problems {
		if p.timesOnly() {
			continue
		}
		t[0] = append(t[0], fmt.Sprintf("%s, %d", p.Name, p.At[checkpoint]))
		for k, method := range r.Methods {
			text := ""
			if i := slices.IndexFunc(p.Methods, func(m Method) bool { return m.Name == method }); i >= 0 {
				text = cell(p, p.Methods[i])
			}
			t[k+1] = append(t[k+1], text)
		}
	}
	return t
}

// medians are those of the measure at a checkpoint, the lowest bold.
func (r *Report) medians(checkpoint int) table {
	return r.matrix(checkpoint, func(p Problem, m Method) string {
		median := func(m Method) float64 { return m.At[checkpoint].Median }
		lowest := median(slices.MinFunc(p.Methods, func(a, b Method) int { return cmp.Compare(median(a), median(b)) }))
		text := short(median(m))
		if median(m) == lowest || p.Minimum != nil && median(m) <= Floor {
			text = "**" + text + "**"
		}
		return text + p.fewer(m)
	})
}

// rewardTable has the running maximum at the end.
func (r *Report) rewardTable() table {
	return r.matrix(3, func(p Problem, m Method) string {
		last := len(m.Curve.Reward) - 1
		return fmt.Sprintf("%.3g ± %.1g", m.Curve.Reward[last], m.Curve.RewardSE[last]) + p.fewer(m)
	})
}

// fewer says how many runs a method has on a problem where another has more.
func (p Problem) fewer(m Method) string {
	if m.Runs < p.seeds() {
		return fmt.Sprintf(" (%d)", m.Runs)
	}
	return ""
}
