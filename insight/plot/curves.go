package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
)

// MaxCurves is the largest number of learning curves of a picture. Of more curves the latest are drawn, and the
// best trial.
const MaxCurves = 300

// Curves draws the values that trials reported by step: the best trial, other complete trials, and
// trials that were stopped, failed or lost, or are pending.
func Curves(curves []insight.Curve, o Options) *Figure {
	f := newFigure("learning curves", o)
	if n := len(curves); n > MaxCurves {
		curves = insight.LatestCurves(curves, MaxCurves)
		f.subtitle = fmt.Sprintf("The latest %d of %d trials, and the best.", MaxCurves, n)
	}
	var steps, values []float64
	var used [roles]bool
	for _, c := range curves {
		for _, p := range c.Points {
			steps = append(steps, p.Step)
			if finite(float64(p.Value)) && math.Abs(float64(p.Value)) < loop.MaxValue {
				values = append(values, float64(p.Value))
			}
		}
		if c.Best {
			used[incumbent] = true
		} else {
			used[roleOf(c.State)] = true
		}
	}
	limit := fence(values, f.options.Maximize)
	inside := slices.DeleteFunc(values, func(v float64) bool { return worse(v, limit, f.options.Maximize) })
	p := &panel{x: valueAxis("step", len(steps) > 0 && slices.Min(steps) > 0 && slices.Max(steps) >= 1e4*slices.Min(steps), steps...), y: valueAxis(f.options.Objective, spansDecades(inside), inside...)}
	p.x.integer = !slices.ContainsFunc(steps, func(s float64) bool { return s != math.Floor(s) })
	order := []role{evaluation, stopped, failure, lost, pending, incumbent}
	p.draw = func(g *graph) {
		for _, r := range order {
			for i := range curves {
				c := &curves[i]
				if own := roleOf(c.State); c.Best != (r == incumbent) || !c.Best && own != r {
					continue
				}
				drawLearning(g, c, r)
			}
		}
	}
	f.rows = [][]cell{{one(p)}}
	for _, r := range order {
		if used[r] {
			e := r.look(f.theme)
			e.line = true
			if r == evaluation {
				e.label, e.color = "complete", f.theme.Mean
			}
			if r == incumbent {
				e.label = "best trial"
			}
			f.legend = append(f.legend, e)
		}
	}
	return f
}

// drawLearning draws a curve with a mark at its last value.
func drawLearning(g *graph, c *insight.Curve, r role) {
	look := r.look(g.theme)
	width := vg.Length(0.9)
	switch r {
	case evaluation:
		look.color = g.theme.Mean
	case incumbent:
		width = 2
	}
	at := func(i int) (x, y float64) { return c.Points[i].Step, float64(c.Points[i].Value) }
	g.curve(len(c.Points), at, look.color, width)
	for i := len(c.Points) - 1; i >= 0; i-- {
		if _, y := at(i); finite(y) {
			g.marks(g.points(1, func(int) (x, y float64) { return at(i) }), look.shape, look.color, 2.6)
			return
		}
	}
}
