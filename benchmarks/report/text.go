package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

func (r *Report) write(out io.Writer, markdown bool) error {
	w := &document.Writer{Markdown: markdown}
	r.writeClaims(w)
	for _, p := range r.Problems {
		if r.Brief || p.TimesOnly() {
			continue
		}
		w.Heading(p.title())
		w.Table(p.medians(r.Baseline))
		w.Line("")
		w.Table(p.means())
	}
	if len(r.Ranks) > 0 {
		w.Heading(r.ranksTitle())
		w.Table(r.RankTable())
	}
	if len(r.Pairs) > 0 {
		w.Heading("All problems: paired comparison with " + r.Baseline)
		w.Table(r.PairTable())
	}
	r.writeClasses(w)
	r.writeShares(w)
	r.writeHindsight(w)
	if t := r.SecondsTable(); t != nil {
		w.Heading("Time of a suggestion by the number of observations: median [quartiles]")
		w.Table(t)
	}
	if len(r.Failures) > 0 {
		w.Heading(failuresTitle)
		w.Table(failureTable([]string{"problem", "method", "seed", "error"}, r.Failures))
	}
	w.Heading("Notes")
	r.notes(w)
	_, err := io.WriteString(out, w.String())
	return err
}

func (p Problem) title() string {
	measure := "best value (minimum unknown)"
	if p.Minimum != nil {
		measure = "simple regret"
	}
	batch := ""
	if p.Batch > 1 {
		batch = fmt.Sprintf(" in batches of %d", p.Batch)
	}
	return fmt.Sprintf("%s: %s; %s, %d evaluations%s, the first %d a common initial design", p.Name, measure, document.Count(p.Dim, "input"), p.Budget, batch, p.Initial)
}

func (p Problem) medians(baseline string) [][]string {
	header := []string{"median [quartiles] at"}
	for _, n := range p.At {
		header = append(header, fmt.Sprint(n))
	}
	if p.Minimum != nil {
		header = append(header, "mean log10")
	}
	header = append(header, "suggestion", "run")
	if baseline != "" {
		header = append(header, "beats "+baseline+" in", "p")
	}
	t := [][]string{header}
	for _, m := range p.Methods {
		row := []string{m.Name}
		for _, s := range m.At {
			row = append(row, fmt.Sprintf("%s [%s, %s]", document.Short(s.Median), document.Short(s.Q1), document.Short(s.Q3)))
		}
		if m.Area != nil {
			row = append(row, fmt.Sprintf("%.2f", *m.Area))
		}
		row = append(row, document.Seconds(m.Suggest), document.Seconds(m.Elapsed))
		if baseline != "" {
			row = append(row, m.Against.cells("seed")...)
		}
		t = append(t, row)
	}
	return t
}

func (p Problem) means() [][]string {
	header := []string{"mean ± s.e. at"}
	for _, n := range p.At {
		header = append(header, fmt.Sprint(n))
	}
	t := [][]string{append(header, "seeds")}
	for _, m := range p.Methods {
		row := []string{m.Name}
		for _, s := range m.At {
			row = append(row, fmt.Sprintf("%s ± %s", document.Short(s.Mean), document.Short(s.SE)))
		}
		t = append(t, append(row, fmt.Sprint(m.Runs)))
	}
	return t
}

func (r *Report) ranksTitle() string {
	title := fmt.Sprintf("All problems: mean rank over %d pairs of problem and seed", r.Blocks)
	if len(r.Unranked) > 0 {
		title += "; not ranked, too few runs: " + strings.Join(r.Unranked, ", ")
	}
	return title
}

// RankTable returns the mean ranks with their intervals at four points of the
// budget.
func (r *Report) RankTable() [][]string {
	t := [][]string{{"method", "at 25 %", "50 %", "75 %", "100 %"}}
	for _, o := range r.Ranks {
		row := []string{o.Name}
		for _, rank := range o.At {
			row = append(row, fmt.Sprintf("%.2f [%.2f, %.2f]", rank.Mean, rank.Lo, rank.Hi))
		}
		t = append(t, row)
	}
	return t
}

// PairTable compares each method with the baseline over all problems.
func (r *Report) PairTable() [][]string {
	t := [][]string{{"method", "better at half the budget", "p", "better at the end", "p", "regret ratio at the end", "lower median"}}
	for _, p := range r.Pairs {
		factor := ""
		if p.End.Factor > 0 {
			factor = document.Short(p.End.Factor)
		}
		row := append([]string{p.Name}, p.Half.cells("pair")...)
		row = append(append(row, p.End.cells("pair")...), factor, fmt.Sprintf("%d of %s", p.Better, document.Count(p.Problems, "problem")))
		t = append(t, row)
	}
	return t
}

// SecondsTable returns the time of a suggestion by the number of observations, with multiples of the baseline's
// time. The bins start at 10, 20, 50, 100 and so on. The table is nil without times.
func (r *Report) SecondsTable() [][]string {
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
	t := [][]string{header}
	for _, s := range r.Seconds {
		row := []string{s.Name}
		for _, n := range bins {
			cell := ""
			if k := slices.Index(s.From, n); k >= 0 {
				cell = fmt.Sprintf("%s [%s, %s]", document.Seconds(s.Median[k]), document.Seconds(s.Q1[k]), document.Seconds(s.Q3[k]))
				if b := r.baselineSeconds(n); b > 0 && s.Name != r.Baseline {
					cell += fmt.Sprintf(", %s ×", document.Short(s.Median[k]/b))
				}
			}
			row = append(row, cell)
		}
		t = append(t, row)
	}
	return t
}

// baselineSeconds returns the baseline's median in the bin from n, 0 without one.
func (r *Report) baselineSeconds(n int) float64 {
	for _, s := range r.Seconds {
		if k := slices.Index(s.From, n); k >= 0 && s.Name == r.Baseline {
			return s.Median[k]
		}
	}
	return 0
}

const failuresTitle = "Failed runs, not in the tables"

func failureTable(header []string, failures []Failure) [][]string {
	t := [][]string{header}
	for _, f := range failures {
		t = append(t, []string{f.Problem, f.Method, fmt.Sprint(f.Seed), strings.ReplaceAll(f.Error, "\n", "; ")})
	}
	return t
}

// cells returns wins and p-value.
func (c *Comparison) cells(noun string) []string {
	if c == nil {
		return []string{"", ""}
	}
	text := fmt.Sprintf("%d of %s", c.Wins, document.Count(c.N(), noun))
	if c.Ties > 0 {
		text += fmt.Sprintf(" (%d equal)", c.Ties)
	}
	return []string{text, fmt.Sprintf("%.2g", c.P)}
}

func (r *Report) notes(w *document.Writer) {
	if r.Contested() {
		w.Item("Simple regret: the smallest noise-free value found so far minus the minimum. Values below %g count as %g.", Floor, Floor)
		w.Item("mean log10: the mean of log10(regret) over the evaluations, median over seeds; smaller is better.")
		w.Item("suggestion: the median time to choose a point after the initial design; run: the median time of a whole run.")
		if r.Baseline != "" {
			w.Item("Each method is paired with %s by problem and seed. Here p is the two-sided p-value of Wilcoxon's signed-rank test on log10(regret), or on values if the minimum is unknown. It is not adjusted for the number of tests.", r.Baseline)
		}
	}
	if len(r.Seconds) > 0 && r.Baseline != "" {
		w.Item("Times of a suggestion are over all problems; × are multiples of the time of %s.", r.Baseline)
	}
	if len(r.Pairs) > 0 {
		w.Item("Regret ratio: the median over pairs with a known minimum of the regret divided by the regret of %s.", r.Baseline)
	}
	if r.Hindsight != nil {
		w.Item("The best other method has the least mean on the same pairs, which favours it. Or, for each pair, it has the least mean on the other pairs of the class, which penalises it. The difference from the truly best method lies between both, apart from chance.")
	}
	if len(r.Claims) > 0 {
		w.Item("%s", ClaimsNote)
	}
	if len(r.Ranks) > 0 {
		w.Item("Rank 1 is the best; [%.0f %% interval] by a bootstrap over the %s. The table ranks the methods and pairs that all these methods finished and that hold the most comparisons of two methods.", 100*Level, r.resampled())
	}
	if len(r.Classes) > 0 && r.Baseline != "" {
		w.Item("In the table of pairs by class, p has Holm's adjustment for the %d classes, for each method by itself.", len(r.Classes))
	}
	for _, o := range r.Origins {
		w.Item("%s", o)
	}
}

// String names runs, dates, version and machine.
func (o Origin) String() string {
	parts := []string{document.Count(o.Runs, "run")}
	if from, to := Day(o.From), Day(o.To); from == to {
		parts = append(parts, from)
	} else {
		parts = append(parts, from+" to "+to)
	}
	if o.Version != "" && o.Version != "(devel)" {
		parts = append(parts, o.Version)
	}
	if o.Commit != "" {
		parts = append(parts, "commit "+o.Commit)
	}
	m := o.Machine
	for _, s := range []string{m.Go, strings.Trim(m.OS+"/"+m.Arch, "/"), m.CPU} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if m.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%d cores, %s at a time", m.Cores, document.Count(m.Workers, "run")))
	}
	return strings.Join(parts, ", ")
}

// Day returns the day of a date in the format of time.RFC3339.
func Day(date string) string { return date[:min(10, len(date))] }

// resampled names the runs that the bootstrap draws.
func (r *Report) resampled() string {
	if len(r.Classes) > 0 {
		return "instances of each class"
	}
	return "seeds of each problem"
}
