package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// WriteText writes the report for a terminal.
func (r *Regression) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Regression) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

// WriteSummary writes the part of the report that counts the papers' numbers, as Markdown.
func (r *Regression) WriteSummary(out io.Writer) error {
	w := &document.Writer{Markdown: true}
	r.summary(w)
	_, err := io.WriteString(out, w.String())
	return err
}

// WriteDatasets writes the tables of the datasets, as Markdown.
func (r *Regression) WriteDatasets(out io.Writer) error {
	w := &document.Writer{Markdown: true}
	r.datasets(w)
	_, err := io.WriteString(out, w.String())
	return err
}

// WriteTables writes the parts that WriteSummary leaves out, as Markdown.
func (r *Regression) WriteTables(out io.Writer) error {
	w := &document.Writer{Markdown: true}
	r.tables(w)
	_, err := io.WriteString(out, w.String())
	return err
}

func (r *Regression) write(out io.Writer, markdown bool) error {
	w := &document.Writer{Markdown: markdown}
	r.summary(w)
	r.tables(w)
	_, err := io.WriteString(out, w.String())
	return err
}

func (r *Regression) summary(w *document.Writer) {
	r.writeContests(w)
	if len(r.Tallies) > 0 {
		w.Heading("Pairs of method and dataset with a number in a paper")
		w.Table(r.totalTable())
		w.Heading("The same by method and paper")
		w.Table(r.tallyTable())
	}
	if t := r.gapTable(); len(t) > 1 {
		w.Heading("Composition of the gaps in the expected log likelihood")
		w.Table(t)
	}
}

// gapTable has a row for each pair whose expected log likelihood is below a paper's by more than two
// standard errors.
func (r *Regression) gapTable() [][]string {
	t := [][]string{{"dataset", "method", "paper", "E log-lik.", "variance term", "log density", "errors alone", "gap"}}
	for _, d := range r.Datasets {
		for _, m := range d.Methods {
			for _, q := range m.Published {
				if q.Likelihood != Worse {
					continue
				}
				gap := "variances"
				if m.ErrorsAlone.Mean < q.LogLikelihood-2*math.Hypot(q.LogLikelihoodSE, m.ErrorsAlone.SE) {
					gap = "errors"
				}
				t = append(t, []string{
					d.Name, m.Name, fmt.Sprintf("%.3f [%s]", q.LogLikelihood, q.Source[:1]), fmt.Sprintf("%.3f", m.LogLikelihood.Mean),
					fmt.Sprintf("%.3g", m.VarianceTerm.Mean), fmt.Sprintf("%.3f", m.LogDensity.Mean), fmt.Sprintf("%.3f", m.ErrorsAlone.Mean), gap,
				})
			}
		}
	}
	return t
}

func (r *Regression) datasets(w *document.Writer) {
	for _, d := range r.Datasets {
		w.Heading(fmt.Sprintf("%s: %s, %d training rows, %d test rows", d.Name, document.Count(d.Dim, "input"), d.Train, d.Test))
		if r.Contests != nil {
			w.Table(d.seedTable(r.Baseline))
		} else {
			w.Table(d.table())
		}
	}
}

func (r *Regression) tables(w *document.Writer) {
	r.datasets(w)
	if t := r.splitTable(); t != nil && r.Contests == nil {
		w.Heading("Splits with a larger log density than " + r.Baseline)
		w.Table(t)
	}
	if len(r.Raw) > 0 {
		w.Heading("Root mean squared error in the units of the tables")
		w.Table(r.rawTable(func(m Predictor) string { return m.cell("%.3g", m.RMSERaw) }, func(q Raw) string { return q.RMSE }))
		w.Heading("Log predictive density in the units of the tables")
		w.Table(r.rawTable(func(m Predictor) string { return m.cell("%.2f", m.DensityRaw) }, func(q Raw) string { return q.LogDensity }))
	}
	if len(r.Similar) > 0 {
		w.Heading("Numbers in papers")
		w.Table(r.similarTable())
	}
	if len(r.Warnings) > 0 {
		w.Heading("Warnings of the fits")
		w.Table(r.warningTable())
	}
	if len(r.Failures) > 0 {
		w.Heading(failuresTitle)
		w.Table(failureTable([]string{"dataset", "method", "split", "error"}, r.Failures))
	}
	w.Heading("Notes")
	r.notes(w)
}

// totalTable sums the tallies of all methods.
func (r *Regression) totalTable() [][]string {
	t := [][]string{{"metric", "pairs", "better than the paper", "within two standard errors", "worse"}}
	for _, m := range []struct {
		name string
		of   func(c Tally) Count
	}{
		{"expected log likelihood, the papers' metric", func(c Tally) Count { return c.Likelihood }},
		{"squared error", func(c Tally) Count { return c.Error }},
		{"log predictive density here, expected log likelihood in the paper", func(c Tally) Count { return c.Density }},
	} {
		var sum Count
		for _, c := range r.Tallies {
			n := m.of(c)
			sum.Better, sum.Within, sum.Worse = sum.Better+n.Better, sum.Within+n.Within, append(sum.Worse, n.Worse...)
		}
		t = append(t, []string{m.name, fmt.Sprint(sum.N()), fmt.Sprint(sum.Better), fmt.Sprint(sum.Within), fmt.Sprint(len(sum.Worse))})
	}
	return t
}

func (r *Regression) tallyTable() [][]string {
	t := [][]string{{"method", "paper", "E log-lik.: not worse", "worse", "log density: not worse", "worse", "squared error: not worse", "worse"}}
	for _, c := range r.Tallies {
		row := []string{c.Method, c.Source}
		for _, n := range []Count{c.Likelihood, c.Density, c.Error} {
			cell := ""
			if n.N() > 0 {
				cell = fmt.Sprintf("%d of %d", n.Better+n.Within, n.N())
			}
			row = append(row, cell, strings.Join(n.Worse, ", "))
		}
		t = append(t, row)
	}
	return t
}

// splitTable has the share of splits on which each method has a larger log density than the
// baseline; it is nil without a baseline.
func (r *Regression) splitTable() [][]string {
	g := r.grid()
	for i, d := range r.Datasets {
		for _, m := range d.Methods {
			if c := m.Against; c != nil {
				g.set(m.Name, i, fmt.Sprintf("%d of %d (%.2g)", c.Wins, c.N(), c.P))
			}
		}
	}
	return g.table()
}

// rawTable has a row for each method here and in the papers.
func (r *Regression) rawTable(measured func(Predictor) string, printed func(Raw) string) [][]string {
	g := r.grid()
	for i, d := range r.Datasets {
		for _, m := range d.Methods {
			g.set(m.Name, i, measured(m))
		}
	}
	for i, d := range r.Datasets {
		for _, q := range r.Raw {
			if text := printed(q); q.Dataset == d.Name && text != "" {
				g.set(fmt.Sprintf("%s [%s]", q.Method, q.Source), i, text)
			}
		}
	}
	return g.table()
}

// grid is a table with a column for each dataset.
type grid struct {
	header, order []string
	rows          map[string][]string
}

func (r *Regression) grid() *grid {
	g := &grid{header: []string{"method"}, rows: map[string][]string{}}
	for _, d := range r.Datasets {
		g.header = append(g.header, d.Name)
	}
	return g
}

// set sets the cell of a dataset. Rows have the order of their first cells.
func (g *grid) set(row string, dataset int, text string) {
	if g.rows[row] == nil {
		g.rows[row] = make([]string, len(g.header))
		g.rows[row][0] = row
		g.order = append(g.order, row)
	}
	g.rows[row][dataset+1] = text
}

// table returns header and rows; it is nil without rows.
func (g *grid) table() [][]string {
	if g.order == nil {
		return nil
	}
	t := [][]string{g.header}
	for _, row := range g.order {
		t = append(t, g.rows[row])
	}
	return t
}

func (r *Regression) warningTable() [][]string {
	t := [][]string{{"dataset", "method", "runs", "warning"}}
	for _, w := range r.Warnings {
		t = append(t, []string{w.Dataset, w.Method, fmt.Sprint(w.Runs), w.Text})
	}
	return t
}

func (d Dataset) table() [][]string {
	t := [][]string{{"method", "chosen", "splits", "E log-lik.", "papers", "log density", "RMSE", "paper", "RMSE raw", "fit", "predict", "commit"}}
	for _, m := range d.Methods {
		var likelihood, rmse []string
		for _, p := range m.Published {
			likelihood = append(likelihood, fmt.Sprintf("%.3f ± %.3f [%s] %s", p.LogLikelihood, p.LogLikelihoodSE, p.Source[:1], mark(p.Likelihood)))
			if p.MSE != nil {
				rmse = append(rmse, fmt.Sprintf("%.3f %s", math.Sqrt(*p.MSE), mark(p.Error)))
			}
		}
		t = append(t, []string{
			m.Name, m.Setting, fmt.Sprint(m.Splits), m.cell("%.3f", m.LogLikelihood), strings.Join(likelihood, ", "), m.cell("%.3f", m.LogDensity),
			m.cell("%.3f", m.RMSE), strings.Join(rmse, ", "), m.cell("%.3g", m.RMSERaw), document.Seconds(m.Fit.Mean), document.Seconds(m.Predict.Mean), m.commits(),
		})
	}
	return withoutEmptyColumns(t)
}

func withoutEmptyColumns(t [][]string) [][]string {
	out := make([][]string, len(t))
	for j := range t[0] {
		if !slices.ContainsFunc(t[1:], func(row []string) bool { return row[j] != "" }) {
			continue
		}
		for i, row := range t {
			out[i] = append(out[i], row[j])
		}
	}
	return out
}

func mark(s Standing) string {
	switch s {
	case Better:
		return "+"
	case Within:
		return "="
	}
	return "-"
}

// commits returns the abbreviated commits of the records.
func (m Predictor) commits() string {
	var list []string
	for _, c := range m.Commits {
		if c == "" {
			c = "unknown"
		}
		list = append(list, c[:min(7, len(c))])
	}
	return strings.Join(list, ", ")
}

// cell writes mean ± standard error, or the mean alone for a single split.
func (m Predictor) cell(format string, s Summary) string {
	if m.Splits == 1 {
		return fmt.Sprintf(format, s.Mean)
	}
	if format == "%.3g" {
		return fmt.Sprintf("%.3g ± %.1g", s.Mean, s.SE)
	}
	return fmt.Sprintf(format+" ± "+format, s.Mean, s.SE)
}
