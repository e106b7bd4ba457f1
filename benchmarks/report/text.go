package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

func (r *Report) write(out io.Writer, markdown bool) error {
	w := &writer{markdown: markdown}
	for _, p := range r.Problems {
		if p.timesOnly() {
			continue
		}
		w.heading(p.title())
		w.table(p.medians(r.Baseline))
		w.line("")
		w.table(p.means())
	}
	if len(r.Ranks) > 0 {
		w.heading(r.ranksTitle())
		w.table(r.ranks())
	}
	if len(r.Pairs) > 0 {
		w.heading("All problems: against " + r.Baseline)
		w.table(r.pairs())
	}
	if t := r.seconds(); t != nil {
		w.heading("Seconds of a suggestion by the number of observations: median [quartiles]")
		w.table(t)
	}
	if len(r.Failures) > 0 {
		w.heading("Runs that failed, and are not in the tables")
		w.table(r.failures())
	}
	w.heading("Notes")
	w.notes(r)
	_, err := io.WriteString(out, w.String())
	return err
}

func (p Problem) title() string {
	measure := "value, the minimum not being known"
	if p.Minimum != nil {
		measure = "simple regret"
	}
	inputs := "inputs"
	if p.Dim == 1 {
		inputs = "input"
	}
	batch := ""
	if p.Batch > 1 {
		batch = fmt.Sprintf(" in batches of %d", p.Batch)
	}
	return fmt.Sprintf("%s: %s; %d %s, %d evaluations%s, %d of them a common design", p.Name, measure, p.Dim, inputs, p.Budget, batch, p.Initial)
}

func (p Problem) medians(baseline string) table {
	header := []string{"median [quartiles] at"}
	for _, n := range p.At {
		header = append(header, fmt.Sprint(n))
	}
	if p.Minimum != nil {
		header = append(header, "area")
	}
	header = append(header, "suggestion", "run")
	if baseline != "" {
		header = append(header, "beats "+baseline+" in", "p")
	}
	t := table{header}
	for _, m := range p.Methods {
		row := []string{m.Name}
		for _, s := range m.At {
			row = append(row, fmt.Sprintf("%s [%s, %s]", short(s.Median), short(s.Q1), short(s.Q3)))
		}
		if m.Area != nil {
			row = append(row, fmt.Sprintf("%.2f", *m.Area))
		}
		row = append(row, seconds(m.Suggest), seconds(m.Elapsed))
		if baseline != "" {
			row = append(row, m.Against.cells("seeds")...)
		}
		t = append(t, row)
	}
	return t
}

func (p Problem) means() table {
	header := []string{"mean ± s.e. at"}
	for _, n := range p.At {
		header = append(header, fmt.Sprint(n))
	}
	t := table{append(header, "seeds")}
	for _, m := range p.Methods {
		row := []string{m.Name}
		for _, s := range m.At {
			row = append(row, fmt.Sprintf("%s ± %s", short(s.Mean), short(s.SE)))
		}
		t = append(t, append(row, fmt.Sprint(m.Runs)))
	}
	return t
}

func (r *Report) ranksTitle() string {
	title := fmt.Sprintf("All problems: mean rank in %d pairs of problem and seed", r.Blocks)
	if len(r.Unranked) > 0 {
		title += "; too few runs of " + strings.Join(r.Unranked, ", ")
	}
	return title
}

func (r *Report) ranks() table {
	t := table{{"method", "at 25 %", "50 %", "75 %", "100 %"}}
	for _, o := range r.Ranks {
		row := []string{o.Name}
		for _, rank := range o.At {
			row = append(row, fmt.Sprintf("%.2f [%.2f, %.2f]", rank.Mean, rank.Lo, rank.Hi))
		}
		t = append(t, row)
	}
	return t
}

func (r *Report) pairs() table {
	t := table{{"method", "better after half in", "p", "better at the end in", "p", "regret at the end", "lower median in"}}
	for _, p := range r.Pairs {
		factor := ""
		if p.End.Factor > 0 {
			factor = short(p.End.Factor) + " ×"
		}
		row := append([]string{p.Name}, p.Half.cells("pairs")...)
		row = append(append(row, p.End.cells("pairs")...), factor, fmt.Sprintf("%d of %d problems", p.Better, p.Problems))
		t = append(t, row)
	}
	return t
}

// seconds has a column for each of the bins that begin with 10, 20, 50, 100, …, and
// multiples of the baseline.
func (r *Report) seconds() table {
	var bins []int
	for _, n := range []int{10, 20, 50, 100, 200, 501, 1000} {
		if slices.ContainsFunc(r.Seconds, func(s Seconds) bool { return slices.Contains(s.From, n) }) {
			bins = append(bins, n)
		}
	}
	if bins == nil {
		return nil
	}
	header := []string{"method"}
	for _, n := range bins {
		header = append(header, fmt.Sprintf("%d to %d", n, next(n)-1))
	}
	t := table{header}
	for _, s := range r.Seconds {
		row := []string{s.Name}
		for _, n := range bins {
			cell := ""
			if k := slices.Index(s.From, n); k >= 0 {
				cell = fmt.Sprintf("%s [%s, %s]", seconds(s.Median[k]), seconds(s.Q1[k]), seconds(s.Q3[k]))
				if b := r.baselineSeconds(n); b > 0 && s.Name != r.Baseline {
					cell += fmt.Sprintf(", %s ×", short(s.Median[k]/b))
				}
			}
			row = append(row, cell)
		}
		t = append(t, row)
	}
	return t
}

// baselineSeconds is the median of the baseline in the bin from n; 0 if it has none.
func (r *Report) baselineSeconds(n int) float64 {
	for _, s := range r.Seconds {
		if k := slices.Index(s.From, n); k >= 0 && s.Name == r.Baseline {
			return s.Median[k]
		}
	}
	return 0
}

func (r *Report) failures() table {
	t := table{{"problem", "method", "seed", "error"}}
	for _, f := range r.Failures {
		t = append(t, []string{f.Problem, f.Method, fmt.Sprint(f.Seed), strings.ReplaceAll(f.Error, "\n", "; ")})
	}
	return t
}

func (c *Comparison) cells(of string) []string {
	if c == nil {
		return []string{"", ""}
	}
	if c.N() == 1 {
		of = strings.TrimSuffix(of, "s")
	}
	text := fmt.Sprintf("%d of %d %s", c.Wins, c.N(), of)
	if c.Ties > 0 {
		text += fmt.Sprintf(" (%d equal)", c.Ties)
	}
	return []string{text, fmt.Sprintf("%.2g", c.P)}
}

func (w *writer) notes(r *Report) {
	bullet := func(format string, args ...any) {
		if w.markdown {
			format = "- " + format
		}
		w.line(format, args...)
	}
	if r.contested() {
		bullet("Simple regret is the least value without noise so far, less the minimum; below %g it counts as that.", Floor)
		bullet("Area is the mean of log10(regret) over the evaluations, median over seeds: smaller is better.")
		bullet("Suggestion is the median time to choose a point after the design, run that of a whole run.")
		if r.Baseline != "" {
			bullet("Methods are paired with %s by problem and seed; p is of the two-sided signed-rank test on log10(regret), not adjusted for the number of tests.", r.Baseline)
		}
	}
	if len(r.Seconds) > 0 && r.Baseline != "" {
		bullet("Seconds by the number of observations are over all problems; × are multiples of %s.", r.Baseline)
	}
	if len(r.Pairs) > 0 {
		bullet("Regret at the end is the median over pairs of the regret divided by that of %s.", r.Baseline)
	}
	if len(r.Ranks) > 0 {
		bullet("Rank 1 is the best; [%.0f %% interval] by a bootstrap over the seeds of each problem. Ranked are the methods, and the pairs of problem and seed that all of them finished, that hold the most comparisons of two methods.", 100*Level)
	}
	for _, o := range r.Origins {
		bullet("%s", o.text())
	}
}
