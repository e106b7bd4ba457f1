package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Regression is the report of the records of one suite of datasets.
type Regression struct {
	Suite    string    `json:"suite"`
	Datasets []Dataset `json:"datasets"`
	Tallies  []Tally   `json:"tallies,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	Raw      []Raw     `json:"-"`
	Similar  []Similar `json:"similar,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	Origins  []Origin  `json:"origins"`
}

// Dataset compares the methods on one dataset.
type Dataset struct {
	Name    string      `json:"dataset"`
	Dim     int         `json:"dim"`
	Train   int         `json:"train"` // rows of the first split
	Test    int         `json:"test"`
	Methods []Predictor `json:"methods"`
}

// Predictor is a method on one dataset; the summaries are over splits.
type Predictor struct {
	Name          string      `json:"method"`
	Splits        int         `json:"splits"`
	LogDensity    Summary     `json:"log_density"` // see runner.Score
	LogLikelihood Summary     `json:"log_likelihood"`
	RMSE          Summary     `json:"rmse"`
	MSE           Summary     `json:"mse"`
	RMSERaw       Summary     `json:"rmse_raw"`
	DensityRaw    Summary     `json:"log_density_raw"` // in the units of the file
	Fit           Summary     `json:"fit_s"`
	Predict       Summary     `json:"predict_s"`
	Commits       []string    `json:"commits"` // of the records, each once; empty text if unknown
	Published     []Published `json:"published,omitempty"`
}

// Tally counts the datasets on which a method is better than the number of a paper for
// the same method, equal to it or worse.
type Tally struct {
	Method     string `json:"method"`
	Source     string `json:"source"`
	Likelihood Count  `json:"likelihood"` // by expected log likelihood, the papers' metric
	Density    Count  `json:"density"`    // by log predictive density
	Error      Count  `json:"error"`      // by squared error, on the datasets where the paper has one
}

// Count counts standings.
type Count struct {
	Better int      `json:"better"`
	Within int      `json:"within"`
	Worse  []string `json:"worse,omitempty"` // names of the datasets
}

// N returns the number of datasets.
func (c Count) N() int { return c.Better + c.Within + len(c.Worse) }

func (c *Count) add(dataset string, s Standing) {
	switch s {
	case Better:
		c.Better++
	case Within:
		c.Within++
	case Worse:
		c.Worse = append(c.Worse, dataset)
	}
}

// Warning is a warning of fits. … stands for a number in the text.
type Warning struct {
	Dataset string `json:"dataset"`
	Method  string `json:"method"`
	Text    string `json:"warning"`
	Runs    int    `json:"runs"`
}

// NewRegression makes a report of the records of one suite of datasets, beside the
// results of papers. The error wraps ErrReport.
func NewRegression(records []runner.Record, papers Literature) (*Regression, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no records", ErrReport)
	}
	r := &Regression{Suite: records[0].Suite, Similar: papers.on(records[0].Suite), Warnings: warnings(records), Origins: origins(records)}
	var datasets, methods, folders, usual []string
	byKey := map[[2]string][]runner.Record{}
	for _, rec := range records {
		if rec.Score == nil {
			r.Failures = append(r.Failures, Failure{rec.Problem, rec.Method, rec.Seed, rec.Error})
			continue
		}
		key := [2]string{rec.Problem, rec.Method}
		byKey[key] = append(byKey[key], rec)
		if !slices.Contains(datasets, rec.Problem) {
			datasets = append(datasets, rec.Problem)
		}
		if !slices.Contains(methods, rec.Method) {
			methods = append(methods, rec.Method)
		}
	}
	if s, err := runner.Lookup(r.Suite); err == nil {
		folders, usual = s.Folders(), s.Methods
	}
	arrange(datasets, folders)
	arrange(methods, usual)
	for _, name := range datasets {
		var d Dataset
		for _, method := range methods {
			runs := byKey[[2]string{name, method}]
			if len(runs) == 0 {
				continue
			}
			slices.SortFunc(runs, func(a, b runner.Record) int { return int(a.Seed) - int(b.Seed) })
			d.Name, d.Dim, d.Train, d.Test = name, runs[0].Dim, runs[0].Score.Train, runs[0].Score.Test
			d.Methods = append(d.Methods, predictor(name, method, runs, papers.Published))
		}
		r.Datasets = append(r.Datasets, d)
	}
	for _, q := range papers.Raw {
		if slices.Contains(datasets, q.Dataset) && r.Suite == rawSuite {
			r.Raw = append(r.Raw, q)
		}
	}
	r.tally()
	return r, nil
}

// rawSuite is the suite of the datasets of Literature.Raw.
const rawSuite = "uci"

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// warnings counts the runs with each warning by dataset and method.
func warnings(records []runner.Record) []Warning {
	var list []Warning
	for _, rec := range records {
		seen := map[string]bool{}
		for _, text := range rec.Warnings {
			text = number.ReplaceAllString(text, "…")
			if seen[text] {
				continue
			}
			seen[text] = true
			i := slices.IndexFunc(list, func(w Warning) bool { return w.Dataset == rec.Problem && w.Method == rec.Method && w.Text == text })
			if i < 0 {
				i = len(list)
				list = append(list, Warning{Dataset: rec.Problem, Method: rec.Method, Text: text})
			}
			list[i].Runs++
		}
	}
	return list
}

func predictor(dataset, method string, runs []runner.Record, papers []Published) Predictor {
	over := func(f func(s *runner.Score) float64) Summary {
		return summarize(each(runs, func(r runner.Record) float64 { return f(r.Score) }))
	}
	p := Predictor{
		Name: method, Splits: len(runs),
		LogDensity:    over(func(s *runner.Score) float64 { return s.LogDensity }),
		LogLikelihood: over(func(s *runner.Score) float64 { return s.LogLikelihood }),
		RMSE:          over(func(s *runner.Score) float64 { return s.RMSE }),
		MSE:           over(func(s *runner.Score) float64 { return s.RMSE * s.RMSE }),
		RMSERaw:       over(func(s *runner.Score) float64 { return s.RMSERaw }),
		Fit:           over(func(s *runner.Score) float64 { return s.Fit }),
		Predict:       over(func(s *runner.Score) float64 { return s.Predict }),
		DensityRaw:    over(func(s *runner.Score) float64 { return s.LogDensity - math.Log(s.RMSERaw/s.RMSE) }),
	}
	for _, r := range runs {
		if !slices.Contains(p.Commits, r.Commit) {
			p.Commits = append(p.Commits, r.Commit)
		}
	}
	base, _, _ := strings.Cut(method, ":")
	for _, q := range papers {
		if q.Dataset == dataset && q.Method == base {
			q.compareWith(p.LogDensity, p.LogLikelihood, p.MSE)
			p.Published = append(p.Published, q)
		}
	}
	return p
}

func (r *Regression) tally() {
	for _, d := range r.Datasets {
		for _, m := range d.Methods {
			for _, q := range m.Published {
				i := slices.IndexFunc(r.Tallies, func(t Tally) bool { return t.Method == m.Name && t.Source == q.Source })
				if i < 0 {
					i = len(r.Tallies)
					r.Tallies = append(r.Tallies, Tally{Method: m.Name, Source: q.Source})
				}
				t := &r.Tallies[i]
				t.Likelihood.add(d.Name, q.Likelihood)
				t.Density.add(d.Name, q.Density)
				t.Error.add(d.Name, q.Error)
			}
		}
	}
}

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
	if len(r.Tallies) > 0 {
		w.Heading("Pairs of method and dataset with a number in a paper")
		w.Table(r.totalTable())
		w.Heading("The same by method and paper")
		w.Table(r.tallyTable())
	}
}

func (r *Regression) datasets(w *document.Writer) {
	for _, d := range r.Datasets {
		w.Heading(fmt.Sprintf("%s: %s, %d training rows, %d test rows", d.Name, document.Count(d.Dim, "input"), d.Train, d.Test))
		w.Table(d.table())
	}
}

func (r *Regression) tables(w *document.Writer) {
	r.datasets(w)
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

// rawTable has a row for each method here and in the papers, and a column for each dataset.
func (r *Regression) rawTable(measured func(Predictor) string, printed func(Raw) string) [][]string {
	t := [][]string{{"method"}}
	rows := map[string][]string{}
	var order []string
	cell := func(row string, column int, text string) {
		if rows[row] == nil {
			rows[row] = make([]string, len(r.Datasets)+1)
			rows[row][0] = row
			order = append(order, row)
		}
		rows[row][column] = text
	}
	for i, d := range r.Datasets {
		t[0] = append(t[0], d.Name)
		for _, m := range d.Methods {
			cell(m.Name, i+1, measured(m))
		}
	}
	for i, d := range r.Datasets {
		for _, q := range r.Raw {
			if text := printed(q); q.Dataset == d.Name && text != "" {
				cell(fmt.Sprintf("%s [%s]", q.Method, q.Source), i+1, text)
			}
		}
	}
	for _, name := range order {
		t = append(t, rows[name])
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
	t := [][]string{{"method", "splits", "E log-lik.", "papers", "log density", "RMSE", "paper", "RMSE raw", "fit", "predict", "commit"}}
	for _, m := range d.Methods {
		var likelihood, rmse []string
		for _, p := range m.Published {
			likelihood = append(likelihood, fmt.Sprintf("%.3f ± %.3f [%s] %s", p.LogLikelihood, p.LogLikelihoodSE, p.Source[:1], mark(p.Likelihood)))
			if p.MSE != nil {
				rmse = append(rmse, fmt.Sprintf("%.3f %s", math.Sqrt(*p.MSE), mark(p.Error)))
			}
		}
		t = append(t, []string{
			m.Name, fmt.Sprint(m.Splits), m.cell("%.3f", m.LogLikelihood), strings.Join(likelihood, ", "), m.cell("%.3f", m.LogDensity),
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
