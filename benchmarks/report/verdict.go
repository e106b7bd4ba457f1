package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

func code(name string) string { return "`" + name + "`" }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// extent says how many problems, methods and seeds there are.
func (r *Report) extent() string {
	return strings.Join([]string{count(len(r.Problems), "problem"), count(len(r.Methods), "method"), r.seeds()}, ", ")
}

// seeds says how many runs a method has on a problem.
func (r *Report) seeds() string {
	least, most := math.MaxInt, 0
	for _, p := range r.Problems {
		for _, m := range p.Methods {
			least, most = min(least, m.Runs), max(most, m.Runs)
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d seeds", least, most)
	}
	return count(most, "seed")
}

func (p Problem) seeds() int {
	most := 0
	for _, m := range p.Methods {
		most = max(most, m.Runs)
	}
	return most
}

// contested reports whether methods can be compared on any problem.
func (r *Report) contested() bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.timesOnly() })
}

func (r *Report) unranked() string {
	if len(r.Unranked) == 0 {
		return ""
	}
	return "; too few runs of " + list(r.Unranked)
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

// verdict says which methods are told apart from the baseline at the end, with the
// p-values adjusted for their number (Holm 1979, "A simple sequentially rejective
// multiple test procedure").
func (r *Report) verdict() string {
	order := make([]int, len(r.Pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r.Pairs[i].End.P, r.Pairs[j].End.P) })
	told := make([]bool, len(r.Pairs))
	for k, i := range order {
		if r.Pairs[i].End.P > (1-Level)/float64(len(order)-k) {
			break
		}
		told[i] = true
	}
	var better, worse, open []string
	for i, p := range r.Pairs {
		switch {
		case !told[i]:
			open = append(open, p.Name)
		case p.End.Wins > p.End.Losses:
			better = append(better, p.Name)
		default:
			worse = append(worse, p.Name)
		}
	}
	return fmt.Sprintf("At the end (signed-rank test over the pairs that both finished, Holm's adjustment for %s, %g %%): better than %s: %s; worse: %s; not told apart: %s.",
		count(len(r.Pairs), "method"), 100-100*Level, code(r.Baseline), list(better), list(worse), list(open))
}

// losses are the problems and methods that beat the baseline there, by the test
// on that problem alone.
func (r *Report) losses() []string {
	var all []string
	for _, p := range r.Problems {
		var names []string
		for _, m := range p.Methods {
			if c := m.Against; c != nil && !p.timesOnly() && c.Wins > c.Losses && c.P < 1-Level {
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
func (r *Report) failed() string {
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
