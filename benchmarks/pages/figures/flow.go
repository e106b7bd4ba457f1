package figures

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/benchmarks/runner"
)

const (
	perUnit   = 1.0  // length of an arrow, in coordinates, for a velocity of 1
	everySide = 2    // only every second column and row of a grid is drawn
	deepest   = 0.55 // shade of the largest standard deviation
)

// flows draws predictions of a velocity field. The inputs are two coordinates and a
// component, and the rows come in pairs of components. The first panel has the
// observed velocities; each method has a panel with its mean on a background that is
// darker for a larger standard deviation, on one scale for all.
func flows(records []runner.Record) []*plot.Plot {
	var most float64
	for _, r := range records {
		most = max(most, slices.Max(uncertainty(r.Prediction)))
	}
	panels := []*plot.Plot{flow("observed", records[0].Prediction, records[0].Prediction.Y, nil, point)}
	for _, r := range records {
		shade := uncertainty(r.Prediction)
		for i := range shade {
			shade[i] *= deepest / most
		}
		panels = append(panels, flow(r.Method, r.Prediction, r.Prediction.Mean, shade, ink))
	}
	return panels
}

// uncertainty returns the root of the summed variances of the two components.
func uncertainty(q *runner.Prediction) []float64 {
	out := make([]float64, len(q.SD)/2)
	for i := range out {
		out[i] = math.Hypot(q.SD[2*i], q.SD[2*i+1])
	}
	return out
}

// flow draws the velocity at the test rows, and the observed velocity at the training
// rows.
func flow(title string, q *runner.Prediction, velocity, shade []float64, hue color.Color) *plot.Plot {
	p := newPanel(title)
	xs, ys := levels(q.X[0][q.Train:]), levels(q.X[1][q.Train:])
	var cells []plot.Plotter
	var grid, known arrows
	for i := 0; i < len(q.Y); i += 2 {
		at := plotter.XY{X: q.X[0][i], Y: q.X[1][i]}
		if i < q.Train {
			known.add(at, q.Y[i], q.Y[i+1])
			continue
		}
		col, _ := slices.BinarySearch(xs, at.X)
		row, _ := slices.BinarySearch(ys, at.Y)
		if shade != nil {
			cells = append(cells, cell(at, xs, ys, blend(ink, shade[i/2])))
		}
		if col%everySide == 0 && row%everySide == 0 {
			grid.add(at, velocity[i], velocity[i+1])
		}
	}
	p.Add(cells...)
	grid.style = draw.LineStyle{Color: hue, Width: 0.9}
	known.style = draw.LineStyle{Color: grey, Width: 1.3}
	p.Add(&grid, &known)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = xs[0], xs[len(xs)-1], ys[0], ys[len(ys)-1]
	return p
}

// levels returns the distinct values in ascending order.
func levels(v []float64) []float64 {
	return slices.Compact(slices.Sorted(slices.Values(v)))
}

// cell returns the cell of a regular grid around a point.
func cell(at plotter.XY, xs, ys []float64, c color.Color) *plotter.Polygon {
	w := (xs[len(xs)-1] - xs[0]) / float64(max(1, len(xs)-1)) / 2
	h := (ys[len(ys)-1] - ys[0]) / float64(max(1, len(ys)-1)) / 2
	within := func(v float64, of []float64) float64 { return min(max(v, of[0]), of[len(of)-1]) }
	left, right := within(at.X-w, xs), within(at.X+w, xs)
	low, high := within(at.Y-h, ys), within(at.Y+h, ys)
	return &plotter.Polygon{XYs: []plotter.XYs{{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}}, Color: c}
}

// arrows draws arrows; it is a plot.Plotter.
type arrows struct {
	from, to plotter.XYs
	style    draw.LineStyle
}

func (a *arrows) add(at plotter.XY, east, north float64) {
	a.from = append(a.from, at)
	a.to = append(a.to, plotter.XY{X: at.X + perUnit*east, Y: at.Y + perUnit*north})
}

// Plot implements plot.Plotter.
func (a *arrows) Plot(c draw.Canvas, p *plot.Plot) {
	const head = 1.4 * vg.Millimeter
	x, y := p.Transforms(&c)
	for i, f := range a.from {
		tail := vg.Point{X: x(f.X), Y: y(f.Y)}
		tip := vg.Point{X: x(a.to[i].X), Y: y(a.to[i].Y)}
		angle := math.Atan2(float64(tip.Y-tail.Y), float64(tip.X-tail.X))
		length := vg.Length(math.Hypot(float64(tip.X-tail.X), float64(tip.Y-tail.Y)))
		barb := func(turn float64) vg.Point {
			l := float64(min(head, length/2))
			return vg.Point{X: tip.X - vg.Length(l*math.Cos(angle+turn)), Y: tip.Y - vg.Length(l*math.Sin(angle+turn))}
		}
		c.StrokeLines(a.style, c.ClipLinesXY([]vg.Point{tail, tip})...)
		c.StrokeLines(a.style, c.ClipLinesXY([]vg.Point{barb(0.45), tip, barb(-0.45)})...)
	}
}
