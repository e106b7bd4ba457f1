package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

type featuresCmd struct {
	Dir  string `arg:"" help:"Directory with the records of the suites beliefs, categories, failures and regret."`
	Part string `placeholder:"PART" default:"records" enum:"beliefs,categories,failures,regret,records" help:"Suite of the table: beliefs, categories, failures or regret; records lists the origins of all records (default ${default})."`
}

func (featuresCmd) Help() string {
	return `The records are of go run ./benchmarks/features. Each p-value has Holm's adjustment for all comparisons of the three suites beliefs, categories and failures.

Example:

    go run ./benchmarks/pages features docs/features --part beliefs`
}

// without has the variant without the feature in each suite with comparisons.
var without = map[string]string{"beliefs": "nothing", "categories": "per column", "failures": "worst value"}

func (c *featuresCmd) Run(e *env) error {
	w := document.Writer{Markdown: true}
	switch c.Part {
	case "records":
		for _, suite := range []string{"beliefs", "categories", "failures", "regret"} {
			records, err := runner.Read(filepath.Join(c.Dir, suite))
			if err != nil {
				return err
			}
			for _, o := range report.Origins(records) {
				w.Item("%s: %s.", suite, o)
			}
		}
	case "regret":
		all, err := variants(c.Dir, "regret")
		if err != nil {
			return err
		}
		w.Table(endTable(all))
	default:
		all, err := compared(c.Dir)
		if err != nil {
			return err
		}
		w.Table(variantTable(all[c.Part], c.Part == "failures"))
	}
	_, err := fmt.Fprint(e.stdout, w.String())
	return err
}

// variant holds the runs of a variant on a problem by seed.
type variant struct {
	problem, name string
	runs          []runner.Record
	against       *report.Comparison // with the runs without the feature; nil for these
	adjusted      float64
}

// variants reads a suite. Variants are sorted by problem and name, with the variant without the feature first. The
// error reports different seeds.
func variants(dir, suite string) ([]variant, error) {
	records, err := runner.Read(filepath.Join(dir, suite))
	if err != nil {
		return nil, err
	}
	first := func(r runner.Record) int {
		if r.Method == without[suite] {
			return 0
		}
		return 1
	}
	slices.SortFunc(records, func(a, b runner.Record) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(first(a), first(b)), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Seed, b.Seed))
	})
	var all []variant
	for _, r := range records {
		if n := len(all); n == 0 || all[n-1].problem != r.Problem || all[n-1].name != r.Method {
			all = append(all, variant{problem: r.Problem, name: r.Method})
		}
		v := &all[len(all)-1]
		v.runs = append(v.runs, r)
	}
	for _, v := range all {
		if !slices.EqualFunc(v.runs, all[0].runs, func(a, b runner.Record) bool { return a.Seed == b.Seed }) {
			return nil, fmt.Errorf("%s: %s, %s has other seeds than %s, %s", filepath.Join(dir, suite), v.problem, v.name, all[0].problem, all[0].name)
		}
	}
	return all, nil
}

// compared reads the suites with comparisons. It compares each variant with the variant without the feature.
func compared(dir string) (map[string][]variant, error) {
	suites := map[string][]variant{}
	var tested []*variant
	var p []float64
	for _, suite := range []string{"beliefs", "categories", "failures"} {
		all, err := variants(dir, suite)
		if err != nil {
			return nil, err
		}
		suites[suite] = all
		var base variant
		for i := range all {
			v := &all[i]
			if v.name == without[suite] {
				base = *v
				continue
			}
			if base.problem != v.problem {
				return nil, fmt.Errorf("%s: %s has no runs of %s", filepath.Join(dir, suite), v.problem, without[suite])
			}
			v.against = report.AtEnd(v.runs, base.runs)
			tested, p = append(tested, v), append(p, v.against.P)
		}
	}
	for i, adjusted := range report.Holm(p) {
		tested[i].adjusted = adjusted
	}
	return suites, nil
}

// variantTable has the median regrets after a third, two thirds and all evaluations, the worst regret at the end,
// and the comparison with the runs without the feature.
func variantTable(all []variant, failed bool) [][]string {
	t := [][]string{{"problem", "variant", "evaluations", "n", "a third", "two thirds", "end", "worst"}}
	if failed {
		t[0] = append(t[0], "failed")
	}
	t[0] = append(t[0], "lower, equal, higher", "ratio", "p", "adjusted")
	for _, v := range all {
		budget := v.runs[0].Budget
		row := []string{v.problem, v.name, fmt.Sprint(budget), fmt.Sprint(len(v.runs))}
		var end []float64
		for _, k := range []int{budget / 3, 2 * budget / 3, budget} {
			end = nil
			for _, r := range v.runs {
				end = append(end, r.Regret[k-1])
			}
			row = append(row, document.Short(median(end)))
		}
		row = append(row, document.Short(slices.Max(end)))
		if failed {
			var count []float64
			for _, r := range v.runs {
				count = append(count, float64(failures(r)))
			}
			row = append(row, fmt.Sprint(median(count)))
		}
		if c := v.against; c != nil {
			row = append(row, fmt.Sprintf("%d, %d, %d", c.Wins, c.Ties, c.Losses), document.Short(c.Factor), document.Short(c.P), document.Short(v.adjusted))
		} else {
			row = append(row, "", "", "", "")
		}
		t = append(t, row)
	}
	return t
}

// failures counts the failed trials of a run.
func failures(r runner.Record) (n int) {
	for _, v := range r.Values {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// endTable has for each limit the runs that ended within it, the runs that ended, and their median number of
// trials.
func endTable(all []variant) [][]string {
	limits := []float64{0.3, 0.1, 0.03, 0.01}
	t := [][]string{{"problem", "variant", "n"}}
	for _, limit := range limits {
		t[0] = append(t[0], fmt.Sprint(limit))
	}
	for _, v := range all {
		row := []string{v.problem, v.name, fmt.Sprint(len(v.runs))}
		for _, limit := range limits {
			var trials []float64
			within := 0
			for _, r := range v.runs {
				if n, ended := r.Measures[fmt.Sprint("trials ", limit)]; ended {
					trials = append(trials, n)
					if r.Measures[fmt.Sprint("regret ", limit)] <= limit {
						within++
					}
				}
			}
			cell := "0/0"
			if len(trials) > 0 {
				cell = fmt.Sprintf("%d/%d, %v", within, len(trials), median(trials))
			}
			row = append(row, cell)
		}
		t = append(t, row)
	}
	return t
}

// median returns the middle value, or the mean of the two middle values. NaN is a regret without a value, which
// counts as +Inf.
func median(v []float64) float64 {
	s := slices.Clone(v)
	for i := range s {
		if math.IsNaN(s[i]) {
			s[i] = math.Inf(1)
		}
	}
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
