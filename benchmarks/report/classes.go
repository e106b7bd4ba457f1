package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Class compares the methods on the problems of one class of a suite.
type Class struct {
	Name   string `json:"class"`
	Blocks int    `json:"blocks"` // pairs of problem and seed in Ranks
	// Ranks has the ranked methods of the report, in its order.
	Ranks []Rank      `json:"ranks"`
	Pairs []ClassPair `json:"pairs,omitempty"`
}

// ClassPair compares a method with the baseline over the problems of a class.
type ClassPair struct {
	Name string      `json:"method"`
	End  *Comparison `json:"end"`
	// Adjusted is the p-value of End with Holm's adjustment for the number of classes.
	Adjusted float64 `json:"p_adjusted"`
	// Share is Pair.Share of the class.
	Share *Interval `json:"share,omitempty"`
}

// classes compares the ranked methods of a report within every class.
func (a *results) classes(r *Report) []Class {
	var list []Class
	if s, err := runner.Lookup(r.Suite); err == nil {
		for _, p := range s.Problems {
			if p.Class != "" && !slices.ContainsFunc(list, func(c Class) bool { return c.Name == p.Class }) {
				list = append(list, Class{Name: p.Class})
			}
		}
	}
	methods := make([]string, len(r.Ranks))
	for i, rank := range r.Ranks {
		methods[i] = rank.Name
	}
	all := a.contests()
	for i := range list {
		c := &list[i]
		part := *a
		part.problems = slices.DeleteFunc(slices.Clone(all), func(p string) bool { return a.class[p] != c.Name })
		var strata []stratum
		strata, c.Blocks = part.strata(methods)
		if c.Blocks > 0 {
			c.Ranks = rankAll(methods, strata)
		}
		for _, p := range part.pairs(r.Baseline) {
			c.Pairs = append(c.Pairs, ClassPair{Name: p.Name, End: p.End, Share: p.Share})
		}
	}
	list = slices.DeleteFunc(list, func(c Class) bool { return c.Blocks == 0 && c.Pairs == nil })
	adjustClasses(list)
	return list
}

// adjustClasses sets the adjusted p-values, for each method over all classes.
func adjustClasses(list []Class) {
	of := map[string][]*ClassPair{}
	for i := range list {
		for j := range list[i].Pairs {
			p := &list[i].Pairs[j]
			of[p.Name] = append(of[p.Name], p)
		}
	}
	for _, pairs := range of {
		p := make([]float64, len(pairs))
		for i := range pairs {
			p[i] = pairs[i].End.P
		}
		for i, v := range Holm(p) {
			pairs[i].Adjusted = v
		}
	}
}

// Holm returns p-values adjusted for their number (Holm 1979, "A simple sequentially
// rejective multiple test procedure").
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted, most := make([]float64, len(p)), 0.0
	for k, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-k)))
		adjusted[i] = most
	}
	return adjusted
}

// writeClasses writes the ranks and the paired comparisons of the classes.
func (r *Report) writeClasses(w *document.Writer) {
	if len(r.Classes) == 0 {
		return
	}
	for k, share := range []string{"25 %", "50 %", "75 %", "100 %"} {
		if k != 2 && len(r.Ranks) > 0 {
			w.Heading(fmt.Sprintf("Classes: mean rank at %s of the budget", share))
			w.Table(r.classRankTable(k))
		}
	}
	if r.Baseline != "" {
		w.Heading(fmt.Sprintf("Classes: pairs at the end in which a method beats %s, and p with Holm's adjustment for the classes", r.Baseline))
		w.Table(r.classPairTable())
	}
}

// classRankTable returns the mean ranks of each class at checkpoint k of Rank.At.
func (r *Report) classRankTable(k int) [][]string {
	header := []string{"class", "pairs"}
	for _, rank := range r.Ranks {
		header = append(header, rank.Name)
	}
	t := [][]string{header}
	row := func(name string, blocks int, ranks []Rank) {
		cells := []string{name, fmt.Sprint(blocks)}
		for _, rank := range ranks {
			i := rank.At[k]
			cells = append(cells, fmt.Sprintf("%.2f [%.2f, %.2f]", i.Mean, i.Lo, i.Hi))
		}
		t = append(t, cells)
	}
	for _, c := range r.Classes {
		if c.Blocks > 0 {
			row(c.Name, c.Blocks, c.Ranks)
		}
	}
	row("all", r.Blocks, r.Ranks)
	return t
}

// classPairTable compares the methods with the baseline in every class.
func (r *Report) classPairTable() [][]string {
	header := []string{"class"}
	for _, p := range r.Pairs {
		header = append(header, p.Name, "p")
	}
	t := [][]string{header}
	for _, c := range r.Classes {
		row := []string{c.Name}
		for _, p := range r.Pairs {
			i := slices.IndexFunc(c.Pairs, func(q ClassPair) bool { return q.Name == p.Name })
			if i < 0 {
				row = append(row, "", "")
				continue
			}
			own := *c.Pairs[i].End
			own.P = c.Pairs[i].Adjusted
			row = append(row, own.cells("pair")...)
		}
		t = append(t, row)
	}
	return t
}
