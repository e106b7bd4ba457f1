package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Regression is the report of the records of one suite of datasets.
type Regression struct {
	Suite    string    `json:"suite"`
	Baseline string    `json:"baseline,omitempty"` // method of Predictor.Against
	Datasets []Dataset `json:"datasets"`
	Tallies  []Tally   `json:"tallies,omitempty"`
	Contests []Contest `json:"contests,omitempty"` // of a suite with a baseline
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
	Name          string  `json:"method"`
	Setting       string  `json:"setting,omitempty"` // chosen on held-out rows
	Splits        int     `json:"splits"`
	LogDensity    Summary `json:"log_density"` // see runner.Score
	LogLikelihood Summary `json:"log_likelihood"`
	RMSE          Summary `json:"rmse"`
	MSE           Summary `json:"mse"`
	RMSERaw       Summary `json:"rmse_raw"`
	DensityRaw    Summary `json:"log_density_raw"` // in the units of the file
	// ErrorsAlone is the largest log likelihood of Gaussian predictions with these errors and a constant
	// variance, -½ log 2πe MSE: the noise variance is the squared error, the posterior variance 0.
	ErrorsAlone Summary `json:"errors_alone"`
	// VarianceTerm is the term v/(2σ²) that a posterior variance v takes from LogLikelihood.
	VarianceTerm Summary `json:"variance_term"`
	Fit          Summary `json:"fit_s"`
	Predict      Summary `json:"predict_s"`
	Coverage     Summary `json:"coverage_90,omitzero"`
	Processor    Summary `json:"fit_cpu_s,omitzero"`
	Wrong        Summary `json:"wrong,omitzero"`
	Calibration  Summary `json:"calibration_error,omitzero"`
	// Against counts the splits with a larger log density than the baseline; it is nil for the
	// baseline and without common splits.
	Against   *Comparison `json:"against_baseline,omitempty"`
	Commits   []string    `json:"commits"` // of the records, each once; empty text if unknown
	Published []Published `json:"published,omitempty"`
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
	suite, _ := runner.Lookup(records[0].Suite) // an unknown suite has no order, no choices and no baseline
	all := fitsOf(records)
	r := &Regression{Suite: records[0].Suite, Similar: papers.on(records[0].Suite), Origins: Origins(records)}
	for _, rec := range records {
		if rec.Score == nil {
			r.Failures = append(r.Failures, Failure{rec.Problem, rec.Method, rec.Seed, rec.Error})
		}
	}
	var order []string
	for _, d := range suite.Datasets {
		order = append(order, d.Name)
	}
	arrange(all.datasets, order)
	arrange(all.methods, suite.Methods)
	all.choose(suite.Choices)
	r.Warnings = warnings(all.records())
	slices.SortStableFunc(r.Warnings, func(a, b Warning) int {
		return cmp.Or(slices.Index(all.datasets, a.Dataset)-slices.Index(all.datasets, b.Dataset), slices.Index(all.methods, a.Method)-slices.Index(all.methods, b.Method))
	})
	if r.Suite != papersSuite && suite.Choices == nil {
		papers.Published = nil
	}
	if r.Suite != papersSuite {
		papers.Raw = nil
	}
	if suite.Baseline != "" {
		r.Baseline, r.Contests = suite.Baseline, contests(suite, records, all.methods)
	} else if slices.Contains(all.methods, sparse) {
		r.Baseline = sparse
	}
	for _, name := range all.datasets {
		r.Datasets = append(r.Datasets, all.dataset(name, r.Baseline, papers.Published))
	}
	for _, q := range papers.Raw {
		if slices.Contains(all.datasets, q.Dataset) {
			r.Raw = append(r.Raw, q)
		}
	}
	r.tally()
	return r, nil
}

// fits are the records with scores, by dataset and method.
type fits struct {
	datasets, methods []string
	runs              map[[2]string][]runner.Record // in the order of the splits
	settings          map[[2]string]string          // chosen on held-out rows
}

// fitsOf returns the records with scores.
func fitsOf(records []runner.Record) fits {
	f := fits{runs: map[[2]string][]runner.Record{}, settings: map[[2]string]string{}}
	for _, rec := range records {
		if rec.Score == nil {
			continue
		}
		key := [2]string{rec.Problem, rec.Method}
		f.runs[key] = append(f.runs[key], rec)
		if !slices.Contains(f.datasets, rec.Problem) {
			f.datasets = append(f.datasets, rec.Problem)
		}
		if !slices.Contains(f.methods, rec.Method) {
			f.methods = append(f.methods, rec.Method)
		}
	}
	for _, runs := range f.runs {
		slices.SortFunc(runs, func(a, b runner.Record) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	return f
}

// dataset compares the methods on a dataset, with the baseline and with papers.
func (f fits) dataset(name, baseline string, papers []Published) Dataset {
	var d Dataset
	for _, method := range f.methods {
		runs := f.runs[[2]string{name, method}]
		if len(runs) == 0 {
			continue
		}
		d.Name, d.Dim, d.Train, d.Test = name, runs[0].Dim, runs[0].Score.Train, runs[0].Score.Test
		p := predictor(name, method, runs, papers)
		p.Setting = f.settings[[2]string{name, method}]
		if method != baseline {
			p.Against = splits(runs, f.runs[[2]string{name, baseline}])
		}
		d.Methods = append(d.Methods, p)
	}
	return d
}

// sparse is the usual baseline of Predictor.Against, a model that fits every table.
const sparse = "svgp"

// splits compares the log densities of two methods on their common splits; it returns nil
// without common splits.
func splits(runs, baseline []runner.Record) *Comparison {
	var own, than []runner.Record
	for _, r := range runs {
		if i := slices.IndexFunc(baseline, func(b runner.Record) bool { return b.Seed == r.Seed }); i >= 0 {
			own, than = append(own, r), append(than, baseline[i])
		}
	}
	return densities(own, than)
}

// papersSuite is the suite of the datasets of Literature.Published and Literature.Raw.
const papersSuite = "uci"

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

// leastVariance replaces smaller squared errors and noise variances in logarithms and denominators.
const leastVariance = 1e-12

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
		ErrorsAlone: over(func(s *runner.Score) float64 {
			return -0.5 * math.Log(2*math.Pi*math.E*max(s.RMSE*s.RMSE, leastVariance))
		}),
		VarianceTerm: over(func(s *runner.Score) float64 { return s.Spread / (2 * max(s.Noise, leastVariance)) }),
		RMSERaw:      over(func(s *runner.Score) float64 { return s.RMSERaw }),
		Fit:          over(func(s *runner.Score) float64 { return s.Fit }),
		Predict:      over(func(s *runner.Score) float64 { return s.Predict }),
		Coverage:     over(func(s *runner.Score) float64 { return s.Coverage }),
		Processor:    over(func(s *runner.Score) float64 { return s.Processor }),
		Wrong:        over(func(s *runner.Score) float64 { return s.Wrong }),
		Calibration:  over(func(s *runner.Score) float64 { return s.Calibration }),
	}
	if p.RMSE.Mean > 0 {
		p.DensityRaw = over(func(s *runner.Score) float64 { return s.LogDensity - math.Log(s.RMSERaw/s.RMSE) })
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
