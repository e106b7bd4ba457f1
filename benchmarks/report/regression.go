package report

import (
	"fmt"
	"io"
	"math"
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
	Fit           Summary     `json:"fit_s"`
	Predict       Summary     `json:"predict_s"`
	Published     []Published `json:"published,omitempty"`
}

// Tally counts the datasets on which a method reaches a paper's number for the
// same method, and lists the datasets on which it does not.
type Tally struct {
	Method   string `json:"method"`
	Source   string `json:"source"`
	Datasets int    `json:"datasets"`
	WithMSE  int    `json:"datasets_mse"` // datasets with a squared error in the paper

	// By expected log likelihood, the papers' metric.
	ReachedLikelihood int      `json:"reached_likelihood"`
	MissedLikelihood  []string `json:"missed_likelihood,omitempty"`

	// By log predictive density.
	Reached int      `json:"reached"`
	Missed  []string `json:"missed,omitempty"`

	// By squared error.
	ReachedMSE int      `json:"reached_mse"`
	MissedMSE  []string `json:"missed_mse,omitempty"`
}

// NewRegression makes a report of the records of one suite of datasets, beside the
// results of papers. The error wraps ErrReport.
func NewRegression(records []runner.Record, papers Literature) (*Regression, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no records", ErrReport)
	}
	r := &Regression{Suite: records[0].Suite, Similar: papers.on(records[0].Suite), Origins: origins(records)}
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
	r.tally()
	return r, nil
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
				t.Datasets++
				if q.ReachedLikelihood {
					t.ReachedLikelihood++
				} else {
					t.MissedLikelihood = append(t.MissedLikelihood, d.Name)
				}
				if q.Reached {
					t.Reached++
				} else {
					t.Missed = append(t.Missed, d.Name)
				}
				switch {
				case q.ReachedMSE == nil:
					continue
				case *q.ReachedMSE:
					t.ReachedMSE++
				default:
					t.MissedMSE = append(t.MissedMSE, d.Name)
				}
				t.WithMSE++
			}
		}
	}
}

// WriteText writes the report for a terminal.
func (r *Regression) WriteText(w io.Writer) error { return r.write(w, false) }

// WriteMarkdown writes the report as Markdown.
func (r *Regression) WriteMarkdown(w io.Writer) error { return r.write(w, true) }

func (r *Regression) write(out io.Writer, markdown bool) error {
	w := &document.Writer{Markdown: markdown}
	if len(r.Tallies) > 0 {
		w.Heading("Datasets on which a method reaches the paper's number")
		w.Table(r.tallyTable())
	}
	for _, d := range r.Datasets {
		w.Heading(fmt.Sprintf("%s: %s, %d training rows, %d test rows", d.Name, document.Count(d.Dim, "input"), d.Train, d.Test))
		w.Table(d.table())
	}
	if len(r.Similar) > 0 {
		w.Heading("Numbers in papers")
		w.Table(r.similarTable())
	}
	if len(r.Failures) > 0 {
		w.Heading(failuresTitle)
		w.Table(failureTable([]string{"dataset", "method", "split", "error"}, r.Failures))
	}
	w.Heading("Notes")
	r.notes(w)
	_, err := io.WriteString(out, w.String())
	return err
}

func (r *Regression) tallyTable() [][]string {
	t := [][]string{{"method", "paper", "E log-lik.", "missed", "log density", "missed", "squared error", "missed"}}
	of := func(reached, datasets int) string { return fmt.Sprintf("%d of %d", reached, datasets) }
	for _, c := range r.Tallies {
		row := []string{
			c.Method, c.Source, of(c.ReachedLikelihood, c.Datasets), strings.Join(c.MissedLikelihood, ", "),
			of(c.Reached, c.Datasets), strings.Join(c.Missed, ", "), "", strings.Join(c.MissedMSE, ", "),
		}
		if c.WithMSE > 0 {
			row[6] = of(c.ReachedMSE, c.WithMSE)
		}
		t = append(t, row)
	}
	return t
}

func (d Dataset) table() [][]string {
	t := [][]string{{"method", "splits", "E log-lik.", "papers", "log density", "RMSE", "paper", "RMSE raw", "fit", "predict"}}
	for _, m := range d.Methods {
		var likelihood, rmse []string
		for _, p := range m.Published {
			likelihood = append(likelihood, fmt.Sprintf("%.3f ± %.3f [%s] %s", p.LogLikelihood, p.LogLikelihoodSE, p.Source[:1], mark(p.ReachedLikelihood)))
			if p.MSE != nil {
				rmse = append(rmse, fmt.Sprintf("%.3f %s", math.Sqrt(*p.MSE), mark(*p.ReachedMSE)))
			}
		}
		t = append(t, []string{
			m.Name, fmt.Sprint(m.Splits), m.cell("%.3f", m.LogLikelihood), strings.Join(likelihood, ", "), m.cell("%.3f", m.LogDensity),
			m.cell("%.3f", m.RMSE), strings.Join(rmse, ", "), m.cell("%.3g", m.RMSERaw), document.Seconds(m.Fit.Mean), document.Seconds(m.Predict.Mean),
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

func mark(reached bool) string {
	if reached {
		return "✓"
	}
	return "✗"
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
