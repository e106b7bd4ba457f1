package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// table is a header and rows of as many cells.
type table [][]string

// writer writes a document as text or as Markdown.
type writer struct {
	strings.Builder
	markdown bool
}

func (w *writer) heading(text string) {
	if w.Len() > 0 {
		w.WriteString("\n")
	}
	if w.markdown {
		text = "### " + text
	}
	w.WriteString(text + "\n\n")
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// table writes the first column flush left, the others flush right.
func (w *writer) table(t table) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for j, c := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(c))
		}
	}
	for i, row := range t {
		cells := make([]string, len(row))
		for j, c := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(c))
			if cells[j] = pad + c; j == 0 {
				cells[j] = c + pad
			}
		}
		if !w.markdown {
			w.line("%s", strings.TrimRight(strings.Join(cells, "   "), " "))
			continue
		}
		w.line("| %s |", strings.Join(cells, " | "))
		if i == 0 {
			for j := range cells {
				if cells[j] = strings.Repeat("-", widths[j]+1) + ":"; j == 0 {
					cells[j] = strings.Repeat("-", widths[j]+2)
				}
			}
			w.line("|%s|", strings.Join(cells, "|"))
		}
	}
}

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

func (r *Report) write(out io.Writer, markdown bool) error {
	w := &writer{markdown: markdown}
	for _, p := range r.Problems {
		w.heading(p.title())
		w.table(p.medians(r.Baseline))
		w.line("")
		w.table(p.means())
	}
	if len(r.Overall) > 0 {
		w.heading(fmt.Sprintf("All problems: mean rank in %d pairs of problem and seed", r.Blocks))
		w.table(r.ranks())
	}
	if len(r.Failures) > 0 {
		w.heading("Runs that failed, and are not in the tables")
		t := table{{"problem", "method", "seed", "error"}}
		for _, f := range r.Failures {
			t = append(t, []string{f.Problem, f.Method, fmt.Sprint(f.Seed), strings.ReplaceAll(f.Error, "\n", "; ")})
		}
		w.table(t)
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

func (r *Report) ranks() table {
	header := []string{"method", "at 25 %", "50 %", "75 %", "100 %", fmt.Sprintf("%.0f %% interval", 100*Level)}
	if r.Baseline != "" {
		header = append(header, "beats "+r.Baseline+" in", "p")
	}
	t := table{header}
	for _, o := range r.Overall {
		row := []string{o.Name}
		for _, rank := range o.Rank {
			row = append(row, fmt.Sprintf("%.2f", rank))
		}
		row = append(row, fmt.Sprintf("[%.2f, %.2f]", o.RankLo, o.RankHi))
		if r.Baseline != "" {
			row = append(row, o.Against.cells("pairs")...)
		}
		t = append(t, row)
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
	bullet("Simple regret is the least value without noise so far, less the minimum; below %g it counts as that.", Floor)
	bullet("Area is the mean of log10(regret) over the evaluations, median over seeds: smaller is better.")
	bullet("Suggestion is the median time to choose a point after the design, run that of a whole run.")
	if r.Baseline != "" {
		bullet("Methods are paired with %s by problem and seed; p is of the two-sided signed-rank test on log10(regret), not adjusted for the number of tests.", r.Baseline)
	}
	if len(r.Overall) > 0 {
		bullet("Rank 1 is the best; its interval is a bootstrap over the seeds of each problem.")
	}
	for _, o := range r.Origins {
		bullet("%s", o.text())
	}
}

func (o Origin) text() string {
	parts := []string{fmt.Sprintf("%d runs", o.Runs)}
	if o.Runs == 1 {
		parts[0] = "1 run"
	}
	if from, to := day(o.From), day(o.To); from == to {
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
		parts = append(parts, fmt.Sprintf("%d cores, %d runs at a time", m.Cores, m.Workers))
	}
	return strings.Join(parts, ", ")
}

func day(date string) string { return date[:min(10, len(date))] }

// short writes two significant digits.
func short(x float64) string {
	if x != 0 && math.Abs(x) < 1e-3 {
		return fmt.Sprintf("%.1e", x)
	}
	if math.Abs(x) >= 100 && math.Abs(x) < 1e6 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

func seconds(s float64) string {
	unit := "s"
	switch {
	case s < 0.9995e-3:
		s, unit = 1e6*s, "µs"
	case s < 0.9995:
		s, unit = 1e3*s, "ms"
	}
	if s < 9.95 {
		return fmt.Sprintf("%.1f %s", s, unit)
	}
	return fmt.Sprintf("%.0f %s", s, unit)
}
