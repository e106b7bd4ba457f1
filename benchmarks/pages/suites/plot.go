package suites

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/benchmarks/report"
)

// Plots writes the plots of a report to a directory, as PNG and as SVG, and returns
// the paths: the measure against evaluations for each problem, and the plots of
// SuitePlots.
func Plots(r *report.Report, dir string) ([]string, error) {
	var list []named
	for _, p := range r.Problems {
		if !p.TimesOnly() {
			list = append(list, named{p.Name, figure(r, curves(p))})
		}
	}
	return save(dir, append(list, suitePlots(r, "")...))
}

// SuitePlots writes the plots of a suite to a directory, as PNG and as SVG, and
// returns the paths: PREFIXregret, the measure against evaluations on all problems;
// PREFIXreward, the running maximum, for a suite whose paper maximises;
// PREFIXprofile, the data profiles of the ranked methods; PREFIXseconds, the time of
// a suggestion against observations. It leaves out plots without data.
func SuitePlots(r *report.Report, dir, prefix string) ([]string, error) {
	return save(dir, suitePlots(r, prefix))
}

// named is a figure with the name of its file.
type named struct {
	name string
	*chart.Figure
}

func suitePlots(r *report.Report, prefix string) []named {
	var list []named
	add := func(name string, charts []*chart.Chart) {
		if len(charts) > 0 {
			list = append(list, named{prefix + name, figure(r, charts...)})
		}
	}
	var regrets []*chart.Chart
	for _, p := range r.Problems {
		if !p.TimesOnly() {
			regrets = append(regrets, curves(p))
		}
	}
	add("regret", regrets)
	add("reward", rewards(r))
	add("profile", profiles(r))
	if c := times(r); c != nil {
		add("seconds", []*chart.Chart{c})
	}
	return list
}

func save(dir string, list []named) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range list {
		for _, ext := range []string{".png", ".svg"} {
			path := filepath.Join(dir, fileName(f.name)+ext)
			if err := f.Write(path); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// figure returns charts side by side with a legend of the methods of the report.
func figure(r *report.Report, charts ...*chart.Chart) *chart.Figure {
	return &chart.Figure{Charts: charts, Methods: r.Methods}
}

// decade is the ratio of values above which a positive axis is logarithmic.
const decade = 10

// curves returns the chart of median and quartiles of the measure on a problem.
func curves(p report.Problem) *chart.Chart {
	c := &chart.Chart{Title: fmt.Sprintf("%s (%d inputs)", p.Name, p.Dim), X: "evaluations", Y: "simple regret", LogY: true, EndBars: true, DesignEnd: float64(p.Initial)}
	if p.Minimum == nil {
		c.Y, c.LogY = "best value", false
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, m := range p.Methods {
		b := chart.Band{Method: m.Name}
		for k, n := range p.Grid {
			b.Add(float64(n), m.Curve.Median[k], m.Curve.Q1[k], m.Curve.Q3[k])
			least, most = min(least, m.Curve.Q1[k]), max(most, m.Curve.Q3[k])
		}
		if p.Minimum != nil {
			b.Map(func(regret float64) float64 { return max(regret, report.Floor) })
		}
		c.Bands = append(c.Bands, b)
	}
	c.LogY = c.LogY || least > 0 && most > decade*least
	return c
}

// rewards returns the charts of mean and standard error of the running maximum.
func rewards(r *report.Report) []*chart.Chart {
	var list []*chart.Chart
	for _, p := range r.Problems {
		c := &chart.Chart{Title: fmt.Sprintf("%s (%d inputs)", p.Name, p.Dim), X: "evaluations", Y: "running maximum", EndBars: true, DesignEnd: float64(p.Initial)}
		for _, m := range p.Methods {
			b := chart.Band{Method: m.Name}
			for k, mean := range m.Curve.Reward {
				b.Add(float64(p.Grid[k]), mean, mean-m.Curve.RewardSE[k], mean+m.Curve.RewardSE[k])
			}
			if b.X != nil {
				c.Bands = append(c.Bands, b)
			}
		}
		if c.Bands != nil {
			list = append(list, c)
		}
	}
	return list
}

// profiles returns the charts of the data profiles, one for each target.
func profiles(r *report.Report) []*chart.Chart {
	if r.Profiled == 0 {
		return nil
	}
	var list []*chart.Chart
	for k, target := range report.Targets {
		c := &chart.Chart{Title: fmt.Sprintf("down to %g %% of the regret after the design", 100*target), X: "evaluations", Y: "share of runs", Top: 1}
		last := 0
		for _, p := range r.Problems {
			last = max(last, p.Budget)
		}
		for _, m := range r.Ranks {
			b := chart.Band{Method: m.Name}
			share := 0.0
			step := func(n int, to float64) {
				b.Add(float64(n), share, share, share)
				b.Add(float64(n), to, to, to)
				share = to
			}
			step(0, 0)
			for i, n := range m.Solved[k] {
				step(n, float64(i+1)/float64(r.Profiled))
			}
			step(last, share)
			c.Bands = append(c.Bands, b)
		}
		list = append(list, c)
	}
	return list
}

// times returns the chart of the time of a suggestion, nil without times.
func times(r *report.Report) *chart.Chart {
	c := &chart.Chart{Title: r.Suite + ": time of a suggestion", X: "observations", Y: "seconds", LogX: true, LogY: true, Points: true}
	for _, s := range r.Seconds {
		b := chart.Band{Method: s.Name}
		for k, n := range s.From {
			b.Add(float64(n), s.Median[k], s.Q1[k], s.Q3[k])
		}
		c.Bands = append(c.Bands, b)
	}
	if c.Bands == nil {
		return nil
	}
	return c
}
