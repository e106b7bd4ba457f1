package plot

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
)

// Curve holds predictions at points on a line, or at the rows of a table, with the data of the fit.
type Curve struct {
	Label string // of the horizontal axis
	Rows  bool   // X are numbers of rows, between which nothing is drawn
	X     []float64
	Bands []insight.Band

	DataX, DataY []float64
}

// Predicted draws predictions with intervals of 50 and 95 % over one input, or for each row.
func Predicted(c Curve, o Options) *Figure {
	f := newFigure("predictions", o)
	n := len(c.X)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.X[a], c.X[b]) })
	var values []float64
	for _, b := range c.Bands {
		values = append(values, float64(b.P95.Low), float64(b.P95.High))
	}
	values = append(values, c.DataY...)
	p := &panel{x: valueAxis(c.Label, false, append(slices.Clone(c.X), c.DataX...)...), y: valueAxis(f.options.Objective, false, values...)}
	p.x.integer = c.Rows
	wide := func(i int) (x, low, high float64) {
		b := c.Bands[order[i]]
		return c.X[order[i]], float64(b.P95.Low), float64(b.P95.High)
	}
	narrow := func(i int) (x, low, high float64) {
		b := c.Bands[order[i]]
		return c.X[order[i]], float64(b.P50.Low), float64(b.P50.High)
	}
	mean := func(i int) (x, y float64) { return c.X[order[i]], float64(c.Bands[order[i]].Mean) }
	p.draw = func(g *graph) {
		if c.Rows {
			width := min(6, 0.7*(g.Max.X-g.Min.X)/vg.Length(max(1, n)))
			g.bars(n, wide, g.theme.Band95, width)
			g.bars(n, narrow, g.theme.Band50, width)
			g.marks(g.points(n, mean), dot, g.theme.Mean, max(0.8, min(2.6, width/2)))
			return
		}
		g.band(n, wide, g.theme.Band95)
		g.band(n, narrow, g.theme.Band50)
		g.curve(n, mean, g.theme.Mean, 1.6)
		g.markRole(evaluation, g.points(len(c.DataX), func(i int) (x, y float64) { return c.DataX[i], c.DataY[i] }))
	}
	f.rows = [][]cell{{one(p)}}
	t := f.theme
	f.legend = []entry{lineEntry("posterior mean", t.Mean), bandEntry("50 % interval", t.Band50), bandEntry("95 % interval", t.Band95)}
	if c.Rows {
		f.legend[0] = entry{label: "posterior mean", shape: dot, color: t.Mean}
	} else if len(c.DataX) > 0 {
		e := evaluation.look(t)
		e.label = "training data"
		f.legend = append(f.legend, e)
	}
	return f
}
