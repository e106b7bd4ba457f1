package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/internal/nearest"
)

// Floor is the regret below which differences are rounding.
const Floor = 1e-10

// Level is the confidence of the intervals.
const Level = 0.95

const resamples = 2000

// ErrReport reports records that no report can be made of.
var ErrReport = errors.New("no report")

// Report is what the records of a suite say.
type Report struct {
	Suite    string    `json:"suite"`
	Baseline string    `json:"baseline,omitempty"` // empty if there is none
	Problems []Problem `json:"problems"`
	// Overall compares the methods over all problems; it is empty if fewer than
	// two methods have a (problem, seed) in common.
	Overall  []Overall `json:"overall,omitempty"`
	Blocks   int       `json:"blocks"` // (problem, seed) pairs that all methods finished
	Failures []Failure `json:"failures,omitempty"`
	Origins  []Origin  `json:"origins"`
}

// Problem compares the methods on one problem.
type Problem struct {
	Name    string   `json:"problem"`
	Dim     int      `json:"dim"`
	Budget  int      `json:"budget"`
	Initial int      `json:"initial"`
	Batch   int      `json:"batch"`
	Minimum *float64 `json:"minimum"` // null: the measure is the least value
	At      []int    `json:"at"`      // evaluations at which Method.At is taken
	Methods []Method `json:"methods"`
}

// Method is a method on one problem.
type Method struct {
	Name string    `json:"method"`
	Runs int       `json:"runs"`
	At   []Summary `json:"at"` // of the measure, at Problem.At
	// Area is the median over runs of the mean over evaluations of log10(regret).
	Area *float64 `json:"area_log10,omitempty"`
	// Suggest is the median number of seconds of a suggestion after the initial
	// design, over all runs, and Elapsed that of a whole run.
	Suggest float64     `json:"suggest_s"`
	Elapsed float64     `json:"elapsed_s"`
	Against *Comparison `json:"against_baseline,omitempty"`
}

// Comparison is a method against the baseline at the end of the budget, paired by
// problem and seed.
type Comparison struct {
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// P is the two-sided p-value of Wilcoxon's signed-rank test, on differences of
	// log10(regret), or of values where no minimum is known. It is not adjusted for
	// the number of comparisons.
	P float64 `json:"p"`
}

// N is the number of pairs.
func (c Comparison) N() int { return c.Wins + c.Ties + c.Losses }

// Overall is a method over all blocks, the (problem, seed) pairs that all methods
// finished.
type Overall struct {
	Name string `json:"method"`
	// Rank is the mean rank after 25, 50, 75 and 100 % of the budget, 1 for the
	// best; equals share ranks. RankLo and RankHi bound that after 100 %: a
	// bootstrap over the seeds of each problem.
	Rank    [4]float64  `json:"rank"`
	RankLo  float64     `json:"rank_lo"`
	RankHi  float64     `json:"rank_hi"`
	Against *Comparison `json:"against_baseline,omitempty"`
}

// Failure is a run that ended early; it is not in the tables.
type Failure struct {
	Problem string `json:"problem"`
	Method  string `json:"method"`
	Seed    uint64 `json:"seed"`
	Error   string `json:"error"`
}

// Origin is a program and a machine that records come from.
type Origin struct {
	Version string         `json:"version,omitempty"`
	Commit  string         `json:"commit,omitempty"`
	Machine runner.Machine `json:"machine"`
	Runs    int            `json:"runs"`
	From    string         `json:"from"` // dates of the first run and the last
	To      string         `json:"to"`
}

// results are the records of a suite, ordered.
type results struct {
	problems, methods []string
	runs              map[runner.Key]runner.Record // that reached their budget
	seeds             []uint64
}

// New makes a report of the records of one suite. The baseline is the method that
// others are compared with; if it is empty, sobol, if there are records of it.
// The error wraps ErrReport, or runner.ErrUnknown for another baseline.
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
		return nil, fmt.Errorf("%w method %q: did you mean %s?", runner.ErrUnknown, baseline, nearest.Name(baseline, all.methods))
	}
	r := &Report{Suite: records[0].Suite, Baseline: baseline, Failures: failures(records), Origins: origins(records)}
	for _, name := range all.problems {
		if p := all.problem(name, baseline); p.Methods != nil {
			r.Problems = append(r.Problems, p)
		}
	}
	r.Overall, r.Blocks = all.overall(baseline)
	return r, nil
}

func collect(records []runner.Record) (*results, error) {
	a := &results{runs: map[runner.Key]runner.Record{}}
	first := map[string]runner.Record{}
	for _, r := range records {
		was, ok := first[r.Problem]
		if !ok {
			first[r.Problem] = r
			a.problems = append(a.problems, r.Problem)
		} else if was.Budget != r.Budget || was.Initial != r.Initial || was.Batch != r.Batch || (was.Minimum == nil) != (r.Minimum == nil) {
			return nil, fmt.Errorf("%w: records of %s differ in budget, initial points, batch or minimum", ErrReport, r.Problem)
		}
		if !slices.Contains(a.methods, r.Method) {
			a.methods = append(a.methods, r.Method)
		}
		if !slices.Contains(a.seeds, r.Seed) {
			a.seeds = append(a.seeds, r.Seed)
		}
		if fault(r) == "" {
			a.runs[r.Key()] = r
		}
	}
	slices.Sort(a.seeds)
	// The order of the suite, others behind by name.
	var problems, methods []string
	if s, err := runner.Lookup(records[0].Suite); err == nil {
		for _, p := range s.Problems {
			problems = append(problems, p.Name())
		}
		methods = s.Methods
	}
	arrange(a.problems, problems)
	arrange(a.methods, methods)
	return a, nil
}

func arrange(names, order []string) {
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

// of returns the finished runs of a method on a problem by seed.
func (a *results) of(problem, method string) []runner.Record {
	var runs []runner.Record
	for _, seed := range a.seeds {
		if r, ok := a.runs[runner.Key{Problem: problem, Method: method, Seed: seed}]; ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// measure is the curve that a run is judged by.
func measure(r runner.Record) []float64 {
	if r.Minimum == nil {
		return r.Best()
	}
	return r.Regret
}

// score is the measure on the scale that pairs are compared on.
func score(r runner.Record, i int) float64 {
	if r.Minimum == nil {
		return r.Best()[i]
	}
	return log10(r.Regret[i])
}

func log10(regret float64) float64 {
	if math.IsNaN(regret) {
		return math.Inf(1) // no value yet
	}
	return math.Log10(max(regret, Floor))
}

// checkpoints are the numbers of evaluations at 25, 50, 75 and 100 % of the
// budget.
func checkpoints(budget int) [4]int {
	var at [4]int
	for k := range at {
		at[k] = max(1, int(math.Round(float64((k+1)*budget)/4)))
	}
	return at
}

func (a *results) problem(name, baseline string) Problem {
	p := Problem{Name: name}
	base := map[uint64]runner.Record{}
	for _, r := range a.of(name, baseline) {
		base[r.Seed] = r
	}
	for _, method := range a.methods {
		runs := a.of(name, method)
		if len(runs) == 0 {
			continue
		}
		r := runs[0]
		at := checkpoints(r.Budget)
		p.Dim, p.Budget, p.Initial, p.Batch, p.Minimum, p.At = r.Dim, r.Budget, r.Initial, r.Batch, r.Minimum, at[:]
		m := Method{Name: method, Runs: len(runs)}
		for _, n := range at {
			m.At = append(m.At, summarize(each(runs, func(r runner.Record) float64 { return measure(r)[n-1] })))
		}
		if p.Minimum != nil {
			area := summarize(each(runs, area)).Median
			m.Area = &area
		}
		var suggest []float64
		for _, r := range runs {
			suggest = append(suggest, r.Suggest[min(r.Initial, len(r.Suggest)-1):]...)
		}
		m.Suggest = summarize(suggest).Median
		m.Elapsed = summarize(each(runs, func(r runner.Record) float64 { return r.Elapsed })).Median
		if method != baseline {
			m.Against = compare(runs, func(r runner.Record) (runner.Record, bool) { b, ok := base[r.Seed]; return b, ok })
		}
		p.Methods = append(p.Methods, m)
	}
	return p
}

func each(runs []runner.Record, f func(runner.Record) float64) []float64 {
	x := make([]float64, len(runs))
	for i, r := range runs {
		x[i] = f(r)
	}
	return x
}

// area is the mean of log10(regret) over the evaluations from the first value to
// the budget.
func area(r runner.Record) float64 {
	var sum, n float64
	for _, v := range r.Regret[:r.Budget] {
		if !math.IsNaN(v) {
			sum += log10(v)
			n++
		}
	}
	return sum / n
}

// compare compares each run that has a partner with it; nil if none has.
func compare(runs []runner.Record, partner func(runner.Record) (runner.Record, bool)) *Comparison {
	var c Comparison
	var differences []float64
	for _, r := range runs {
		b, ok := partner(r)
		if !ok {
			continue
		}
		own, other := score(r, r.Budget-1), score(b, b.Budget-1)
		switch {
		case own < other:
			c.Wins++
		case own > other:
			c.Losses++
		default:
			c.Ties++
		}
		if own != other {
			differences = append(differences, own-other)
		}
	}
	if c.N() == 0 {
		return nil
	}
	c.P = signedRank(differences)
	return &c
}

// overall ranks the methods in each block.
func (a *results) overall(baseline string) ([]Overall, int) {
	if len(a.methods) < 2 {
		return nil, 0
	}
	ranks := make([][][][4]float64, len(a.methods)) // of method, problem, block
	var strata []int
	blocks := 0
	for _, problem := range a.problems {
		n := 0
		for _, seed := range a.seeds {
			block := make([]runner.Record, 0, len(a.methods))
			for _, method := range a.methods {
				if r, ok := a.runs[runner.Key{Problem: problem, Method: method, Seed: seed}]; ok {
					block = append(block, r)
				}
			}
			if len(block) < len(a.methods) {
				continue
			}
			at := checkpoints(block[0].Budget)
			var byMethod [4][]float64
			for k, i := range at {
				byMethod[k] = midranks(each(block, func(r runner.Record) float64 { return score(r, i-1) }))
			}
			for m := range a.methods {
				if n == 0 {
					ranks[m] = append(ranks[m], nil)
				}
				last := len(ranks[m]) - 1
				ranks[m][last] = append(ranks[m][last], [4]float64{byMethod[0][m], byMethod[1][m], byMethod[2][m], byMethod[3][m]})
			}
			n++
		}
		if n > 0 {
			strata = append(strata, n)
			blocks += n
		}
	}
	if blocks == 0 {
		return nil, 0
	}
	var list []Overall
	for m, method := range a.methods {
		o := Overall{Name: method}
		for _, stratum := range ranks[m] {
			for _, block := range stratum {
				for k, r := range block {
					o.Rank[k] += r / float64(blocks)
				}
			}
		}
		o.RankLo, o.RankHi = bootstrap(strata, Level, resamples, rand.New(rand.NewPCG(1, 1)), func(drawn [][]int) float64 {
			var sum float64
			for s, indices := range drawn {
				for _, i := range indices {
					sum += ranks[m][s][i][3]
				}
			}
			return sum / float64(blocks)
		})
		if baseline != "" && method != baseline {
			var runs []runner.Record
			for _, problem := range a.problems {
				runs = append(runs, a.of(problem, method)...)
			}
			o.Against = compare(runs, func(r runner.Record) (runner.Record, bool) {
				b, ok := a.runs[runner.Key{Problem: r.Problem, Method: baseline, Seed: r.Seed}]
				return b, ok
			})
		}
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b Overall) int { return cmp.Compare(a.Rank[3], b.Rank[3]) })
	return list, blocks
}

// fault says why a record cannot be compared with others; it is empty if it can.
func fault(r runner.Record) string {
	switch {
	case r.Error != "":
		return r.Error
	case len(r.Values) < r.Budget || r.Budget < 1:
		return fmt.Sprintf("%d of %d evaluations", len(r.Values), r.Budget)
	case r.Minimum != nil && len(r.Regret) != len(r.Values):
		return fmt.Sprintf("%d values of regret for %d evaluations", len(r.Regret), len(r.Values))
	}
	first := checkpoints(r.Budget)[0]
	if v := measure(r)[first-1]; math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("no value in the first %d evaluations", first)
	}
	return ""
}

func failures(records []runner.Record) []Failure {
	var list []Failure
	for _, r := range records {
		if why := fault(r); why != "" {
			list = append(list, Failure{r.Problem, r.Method, r.Seed, why})
		}
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Seed, b.Seed))
	})
	return list
}

func origins(records []runner.Record) []Origin {
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
