package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Plots writes the plots of a report to a directory, each as PNG and as SVG, and
// returns the paths: for each problem the measure against the number of evaluations,
// and what SuitePlots writes.
func (r *Report) Plots(dir string) ([]string, error) {
	var list []named
	for _, p := range r.Problems {
		if !p.timesOnly() {
			list = append(list, named{p.Name, r.figure(r.curves(p))})
		}
	}
	return save(dir, append(list, r.suitePlots("")...))
}

// SuitePlots writes the plots of the suite to a directory, each as PNG and as SVG,
// and returns the paths: the curves of all problems side by side (PREFIXregret, and
// PREFIXreward for a suite whose paper maximises), data profiles of the ranked methods (PREFIXprofile), and the time of a suggestion
// against the number of observations (PREFIXseconds), as far as there is something to
// see.
func (r *Report) SuitePlots(dir, prefix string) ([]string, error) {
	return save(dir, r.suitePlots(prefix))
}

// named is a figure and the name of its file.
type named struct {
	name string
	*figure
}

func (r *Report) suitePlots(prefix string) []named {
	var list []named
	add := func(name string, charts []*chart) {
		if len(charts) > 0 {
			list = append(list, named{prefix + name, r.figure(charts...)})
		}
	}
	var curves []*chart
	for _, p := range r.Problems {
		if !p.timesOnly() {
			curves = append(curves, r.curves(p))
		}
	}
	add("regret", curves)
	add("reward", r.rewards())
	add("profile", r.profiles())
	if c := r.times(); c != nil {
		add("seconds", []*chart{c})
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
			if err := f.write(path); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// fileName keeps letters, digits, dots and hyphens.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// figure is one of charts with the styles of the report's methods.
func (r *Report) figure(charts ...*chart) *figure {
	return &figure{charts: charts, methods: r.Methods}
}

// decade is from which ratio on positive values are drawn as logarithms.
const decade = 10

// curves is the chart of median and quartiles of the measure on a problem.
func (r *Report) curves(p Problem) *chart {
	c := &chart{title: fmt.Sprintf("%s (%d inputs)", p.Name, p.Dim), x: "evaluations", y: "simple regret", logY: true, ends: true, mark: float64(p.Initial)}
	if p.Minimum == nil {
		c.y, c.logY = "least value", false
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, m := range p.Methods {
		b := band{method: m.Name}
		for k, n := range p.Grid {
			b.add(float64(n), m.Curve.Median[k], m.Curve.Q1[k], m.Curve.Q3[k])
			least, most = min(least, m.Curve.Q1[k]), max(most, m.Curve.Q3[k])
		}
		if p.Minimum != nil {
			b.each(func(regret float64) float64 { return max(regret, Floor) })
		}
		c.bands = append(c.bands, b)
	}
	c.logY = c.logY || least > 0 && most > decade*least
	return c
}

// rewards are the charts of mean and standard error of the running maximum.
func (r *Report) rewards() []*chart {
	var list []*chart
	for _, p := range r.Problems {
		c := &chart{title: fmt.Sprintf("%s (%d inputs)", p.Name, p.Dim), x: "evaluations", y: "running maximum", ends: true, mark: float64(p.Initial)}
		for _, m := range p.Methods {
			b := band{method: m.Name}
			for k, mean := range m.Curve.Reward {
				b.add(float64(p.Grid[k]), mean, mean-m.Curve.RewardSE[k], mean+m.Curve.RewardSE[k])
			}
			if b.x != nil {
				c.bands = append(c.bands, b)
			}
		}
		if c.bands != nil {
			list = append(list, c)
		}
	}
	return list
}

// profiles are the charts of the data profiles, one for each target.
func (r *Report) profiles() []*chart {
	if r.Profiled == 0 {
		return nil
	}
	var list []*chart
	for k, target := range Targets {
		c := &chart{title: fmt.Sprintf("%g %% of the regret after the design", 100*target), x: "evaluations", y: "share of runs that reached it", top: 1}
		last := 0
		for _, p := range r.Problems {
			last = max(last, p.Budget)
		}
		for _, m := range r.Ranks {
			b := band{method: m.Name}
			share := 0.0
			step := func(n int, to float64) {
				b.add(float64(n), share, share, share)
				b.add(float64(n), to, to, to)
				share = to
			}
			step(0, 0)
			for i, n := range m.Solved[k] {
				step(n, float64(i+1)/float64(r.Profiled))
			}
			step(last, share)
			c.bands = append(c.bands, b)
		}
		list = append(list, c)
	}
	return list
}

// times is the chart of the seconds of a suggestion; nil if there are none.
func (r *Report) times() *chart {
	c := &chart{title: r.Suite + ": time of a suggestion", x: "observations", y: "seconds", logX: true, logY: true, points: true}
	for _, s := range r.Seconds {
		b := band{method: s.Name}
		for k, n := range s.From {
			b.add(float64(n), s.Median[k], s.Q1[k], s.Q3[k])
		}
		c.bands = append(c.bands, b)
	}
	if c.bands == nil {
		return nil
	}
	return c
}
