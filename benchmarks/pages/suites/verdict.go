package suites

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/report"
)

func code(name string) string { return "`" + name + "`" }

// extent returns the numbers of problems, methods and seeds.
func extent(r *report.Report) string {
	return strings.Join([]string{document.Count(len(r.Problems), "problem"), document.Count(len(r.Methods), "method"), seedRange(r)}, ", ")
}

// seedRange returns the number of runs of a method on a problem, or its range.
func seedRange(r *report.Report) string {
	least, most := math.MaxInt, 0
	for _, p := range r.Problems {
		for _, m := range p.Methods {
			least, most = min(least, m.Runs), max(most, m.Runs)
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return document.Count(most, "seed")
}

// seeds returns the largest number of runs of a method on a problem.
func seeds(p report.Problem) int {
	most := 0
	for _, m := range p.Methods {
		most = max(most, m.Runs)
	}
	return most
}

func unranked(r *report.Report) string {
	if len(r.Unranked) == 0 {
		return ""
	}
	return "; not ranked, too few runs: " + list(r.Unranked)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = code(name)
	}
	return strings.Join(quoted, ", ")
}

// verdict names the methods that differ significantly from the baseline at the end,
// each with its wins. The p-values are adjusted for their number (Holm 1979, "A
// simple sequentially rejective multiple test procedure").
func verdict(r *report.Report) string {
	p := make([]float64, len(r.Pairs))
	for i := range p {
		p[i] = r.Pairs[i].End.P
	}
	adjusted := report.Holm(p)
	var better, worse, open []string
	for i, p := range r.Pairs {
		wins := fmt.Sprintf("%s (lower in %d of %d)", code(p.Name), p.End.Wins, p.End.N())
		switch {
		case adjusted[i] > 1-report.Level:
			open = append(open, wins)
		case p.End.Wins > p.End.Losses:
			better = append(better, wins)
		default:
			worse = append(worse, wins)
		}
	}
	or := func(names []string) string {
		if names == nil {
			return "none"
		}
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("Regret at the end of the budget against %s, on the pairs of problem and seed that both methods finished. The test is Wilcoxon's signed-rank test, two-sided, at level %[3]g %% with Holm's adjustment for %[2]s.\n\n- Significantly better: %[4]s.\n- Significantly worse: %[5]s.\n- No significant difference: %[6]s.",
		code(r.Baseline), document.Count(len(r.Pairs), "method"), 100-100*report.Level, or(better), or(worse), or(open))
}

// losses lists the problems on which methods beat the baseline, by the test on one
// problem.
func losses(r *report.Report) []string {
	var all []string
	for _, p := range r.Problems {
		var names []string
		for _, m := range p.Methods {
			if c := m.Against; c != nil && !p.TimesOnly() && c.Wins > c.Losses && c.P < 1-report.Level {
				names = append(names, m.Name)
			}
		}
		if names != nil {
			all = append(all, p.Name+" to "+list(names))
		}
	}
	return all
}

// failed counts the failures by method.
func failed(r *report.Report) string {
	var names []string
	counts := map[string]int{}
	for _, f := range r.Failures {
		if counts[f.Method]++; counts[f.Method] == 1 {
			names = append(names, f.Method)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%d of %s", counts[name], code(name))
	}
	return strings.Join(names, ", ")
}
