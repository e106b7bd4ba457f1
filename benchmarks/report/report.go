package report

import (
	"errors"
	"fmt"
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/internal/didyoumean"
)

// Floor is the regret below which differences are rounding errors.
const Floor = 1e-10

// Level is the confidence level of the intervals.
const Level = 0.95

const resamples = 2000

// ErrReport reports records from which no report can be made.
var ErrReport = errors.New("no report")

// Report is the report of a suite of problems.
type Report struct {
	Brief bool `json:"-"` // leaves the tables of single problems out of the text

	Suite    string    `json:"suite"`
	Baseline string    `json:"baseline,omitempty"` // empty if there is none
	Methods  []string  `json:"methods"`
	Problems []Problem `json:"problems"`
	// Ranks compares methods over Blocks pairs of problem and seed that all of them
	// finished, sorted by final rank. Unranked are the methods with too few runs. Ranks
	// is empty if no two methods share a pair.
	Ranks    []Rank   `json:"ranks,omitempty"`
	Blocks   int      `json:"blocks"`
	Unranked []string `json:"unranked,omitempty"`
	Profiled int      `json:"profiled"` // blocks of the data profiles: with a known minimum, and a value in every design
	// Classes repeats the comparisons within each class of problems, if the suite has
	// classes.
	Classes []Class `json:"classes,omitempty"`
	// Pairs compares each method with the baseline over the pairs of problem and seed
	// that both finished.
	Pairs []Pair `json:"pairs,omitempty"`
	// Hindsight compares the baseline with the best other method of each class.
	Hindsight *Hindsight `json:"hindsight,omitempty"`
	Claims    []Claim    `json:"claims,omitempty"`  // tests of the claims of the suite
	Seconds   []Seconds  `json:"seconds,omitempty"` // duration of a suggestion, by method
	Failures  []Failure  `json:"failures,omitempty"`
	Origins   []Origin   `json:"origins"`
}

// Problem compares the methods on one problem.
type Problem struct {
	Name    string   `json:"problem"`
	Dim     int      `json:"dim"`
	Budget  int      `json:"budget"`
	Initial int      `json:"initial"`
	Batch   int      `json:"batch"`
	Minimum *float64 `json:"minimum"` // null: the measure is the lowest value
	At      []int    `json:"at"`      // evaluations of Method.At
	Grid    []int    `json:"grid"`    // evaluations of Method.Curve
	Methods []Method `json:"methods"`
}

// Method has the results of a method on one problem.
type Method struct {
	Name string    `json:"method"`
	Runs int       `json:"runs"`
	At   []Summary `json:"at"` // summaries of the measure, at Problem.At
	// Area is the median over runs of the mean over evaluations of log10(regret).
	Area *float64 `json:"area_log10,omitempty"`
	// Suggest is the median time of a suggestion after the initial design in seconds,
	// over all runs, 0 if no record has it. Elapsed is the median time of a whole run.
	Suggest float64     `json:"suggest_s"`
	Elapsed float64     `json:"elapsed_s"`
	Against *Comparison `json:"against_baseline,omitempty"` // at the end
	Curve   Curve       `json:"curve"`
}

// Failure is a run that ended early. The tables exclude it.
type Failure struct {
	Problem string `json:"problem"`
	Method  string `json:"method"`
	Seed    uint64 `json:"seed"`
	Error   string `json:"error"`
}

// Origin is a program and a machine that made records.
type Origin struct {
	Version string         `json:"version,omitempty"`
	Commit  string         `json:"commit,omitempty"`
	Machine runner.Machine `json:"machine"`
	Runs    int            `json:"runs"`
	From    string         `json:"from"` // dates of the first run and the last
	To      string         `json:"to"`
}

// New makes a report of the records of one suite. The baseline is the method with
// which the others are compared; the default is sobol if it has records. The error
// wraps ErrReport, or runner.ErrUnknown for an unknown baseline.
func New(records []runner.Record, baseline string) (*Report, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no records", ErrReport)
	}
	all, err := collect(records)
	if err != nil {
		return nil, err
	}
	if baseline == "" && slices.Contains(all.methods, runner.Sobol) {
		baseline = runner.Sobol
	}
	if baseline != "" && !slices.Contains(all.methods, baseline) {
		return nil, fmt.Errorf("%w method %q%s", runner.ErrUnknown, baseline, didyoumean.Hint(baseline, all.methods))
	}
	r := &Report{Suite: records[0].Suite, Baseline: baseline, Methods: all.methods, Failures: failures(records), Origins: Origins(records)}
	for _, name := range all.problems {
		if p := all.problem(name, baseline); p.Methods != nil {
			r.Problems = append(r.Problems, p)
		}
	}
	all.ranks(r)
	r.Pairs = all.pairs(baseline)
	r.Hindsight = all.hindsight(r)
	r.Claims = all.claims(r.Suite)
	r.Classes = all.classes(r)
	r.Seconds = all.seconds()
	return r, nil
}

// Origins returns the programs and machines of records, in the order of their first records.
func Origins(records []runner.Record) []Origin {
	var list []Origin
	for _, r := range records {
		i := slices.IndexFunc(list, func(o Origin) bool {
			return o.Version == r.Version && o.Commit == r.Commit && o.Machine == r.Machine
		})
		if i < 0 {
			i = len(list)
			list = append(list, Origin{r.Version, r.Commit, r.Machine, 0, r.Date, r.Date})
		}
		o := &list[i]
		o.Runs++
		o.From, o.To = min(o.From, r.Date), max(o.To, r.Date)
	}
	return list
}
