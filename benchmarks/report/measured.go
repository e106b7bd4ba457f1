package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Measured is the report of the records of one suite of experiments.
type Measured struct {
	Suite    string          `json:"suite"`
	Tables   []MeasuredTable `json:"tables"`
	Warnings []Warning       `json:"warnings,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Origins  []Origin        `json:"origins"`
}

// MeasuredTable compares the methods by one quantity.
type MeasuredTable struct {
	Quantity    string        `json:"quantity"`
	Title       string        `json:"title"`
	Lower       bool          `json:"lower_is_better"`
	Experiments []string      `json:"experiments"`
	Methods     []MeasuredRow `json:"methods"`
	Papers      []MeasuredRow `json:"papers,omitempty"`

	digits int
}

// MeasuredRow has a cell for each experiment of its table, nil without a result.
type MeasuredRow struct {
	Name  string          `json:"method"`
	Cells []*MeasuredCell `json:"cells"`
}

// MeasuredCell is a mean over N seeds.
type MeasuredCell struct {
	N    int     `json:"n,omitempty"` // 0 in the row of a paper
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// PublishedMeasure is a number that a paper prints for a quantity of a suite of
// experiments.
type PublishedMeasure struct {
	Suite, Quantity, Experiment string
	Method                      string // as in the tables here
	Source                      string
	Mean, SE                    float64
}

// NewMeasured makes a report of the records of one suite of experiments, above the results of
// papers. The error wraps ErrReport.
func NewMeasured(records []runner.Record, papers []PublishedMeasure) (*Measured, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no records", ErrReport)
	}
	suite, err := runner.Lookup(records[0].Suite)
	if err != nil {
		return nil, err
	}
	r := &Measured{Suite: suite.Name, Warnings: warnings(records), Origins: Origins(records)}
	var methods, experiments, order []string
	for _, x := range suite.Experiments {
		order = append(order, x.Name)
	}
	values := map[[3]string][]float64{}
	for _, rec := range records {
		if rec.Measures == nil {
			r.Failures = append(r.Failures, Failure{rec.Problem, rec.Method, rec.Seed, rec.Error})
			continue
		}
		if !slices.Contains(methods, rec.Method) {
			methods = append(methods, rec.Method)
		}
		if !slices.Contains(experiments, rec.Problem) {
			experiments = append(experiments, rec.Problem)
		}
		for name, v := range rec.Measures {
			key := [3]string{name, rec.Method, rec.Problem}
			values[key] = append(values[key], v)
		}
	}
	arrange(methods, suite.Methods)
	arrange(experiments, order)
	slices.SortStableFunc(r.Warnings, func(a, b Warning) int { return cmp.Compare(a.Dataset, b.Dataset) })
	for _, q := range suite.Quantities {
		t := MeasuredTable{Quantity: q.Name, Title: q.Title, Lower: q.Lower, Experiments: experiments, digits: q.Digits}
		for _, m := range methods {
			row := MeasuredRow{Name: m}
			for _, x := range experiments {
				row.Cells = append(row.Cells, cellOf(values[[3]string{q.Name, m, x}]))
			}
			t.Methods = append(t.Methods, row)
		}
		t.Papers = papersOf(suite.Name, t, papers)
		r.Tables = append(r.Tables, t)
	}
	return r, nil
}

func cellOf(values []float64) *MeasuredCell {
	if len(values) == 0 {
		return nil
	}
	s := summarize(values)
	return &MeasuredCell{N: len(values), Mean: s.Mean, SE: s.SE}
}

// papersOf returns a row for each method and source with a number in a table.
func papersOf(suite string, t MeasuredTable, papers []PublishedMeasure) []MeasuredRow {
	var rows []MeasuredRow
	for _, p := range papers {
		at := slices.Index(t.Experiments, p.Experiment)
		if p.Suite != suite || p.Quantity != t.Quantity || at < 0 {
			continue
		}
		name := p.Method + " in " + p.Source
		i := slices.IndexFunc(rows, func(r MeasuredRow) bool { return r.Name == name })
		if i < 0 {
			i = len(rows)
			rows = append(rows, MeasuredRow{name, make([]*MeasuredCell, len(t.Experiments))})
		}
		rows[i].Cells[at] = &MeasuredCell{Mean: p.Mean, SE: p.SE}
	}
	return rows
}

// WriteText writes the report for a terminal.
func (r *Measured) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Measured) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

func (r *Measured) write(out io.Writer, markdown bool) error {
	w := &document.Writer{Markdown: markdown}
	for _, t := range r.Tables {
		direction := "higher is better"
		if t.Lower {
			direction = "lower is better"
		}
		w.Heading(t.Title + "; " + direction)
		w.Table(t.table())
	}
	if len(r.Warnings) > 0 {
		w.Heading("Warnings of the fits")
		t := [][]string{{"experiment", "method", "runs", "warning"}}
		for _, x := range r.Warnings {
			t = append(t, []string{x.Dataset, x.Method, fmt.Sprint(x.Runs), x.Text})
		}
		w.Table(t)
	}
	w.Heading("Notes")
	w.Item("Numbers are means ± standard errors over seeds; the number of seeds follows in parentheses. A paper's standard error is printed as in the paper.")
	for _, f := range r.Failures {
		w.Item("failed: %s %s seed %d: %s", f.Problem, f.Method, f.Seed, f.Error)
	}
	for _, o := range r.Origins {
		w.Item("%s", o)
	}
	_, err := io.WriteString(out, w.String())
	return err
}

func (t MeasuredTable) table() [][]string {
	rows := [][]string{append([]string{"method"}, t.Experiments...)}
	for _, row := range slices.Concat(t.Methods, t.Papers) {
		cells := []string{row.Name}
		for _, c := range row.Cells {
			cells = append(cells, c.text(t.digits))
		}
		rows = append(rows, cells)
	}
	return rows
}

func (c *MeasuredCell) text(digits int) string {
	switch {
	case c == nil:
		return ""
	case c.N == 1:
		return fmt.Sprintf("%.*f (1)", digits, c.Mean)
	}
	text := fmt.Sprintf("%.*f ± %.*f", digits, c.Mean, digits, c.SE)
	if c.N > 0 {
		text += fmt.Sprintf(" (%d)", c.N)
	}
	return text
}
