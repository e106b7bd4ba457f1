package plot

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/palette"
)

// Contour draws maps over two parameters, with the trials. The maps are of the posterior mean, the standard
// deviation, the acquisition function and, if there is one, the probability of feasibility.
func Contour(s *insight.Surface, o Options) *Figure {
	f := newFigure(fmt.Sprintf("maps over %s and %s", s.X.Name, s.Y.Name), o)
	o = f.options
	m := surfaceMarks(s)
	cells := newCells(s)
	mean := cells.panel("posterior mean of "+o.Objective, s.Mean, s, m)
	sd := cells.panel("standard deviation", s.SD, s, m)
	acquisition := cells.panel("acquisition function", s.Acquisition, s, m)
	sd.hideX = true // the panel below has the same axis
	if s.Probability == nil {
		f.rows = [][]cell{{
			{panels: []*panel{mean}, shares: []float64{1}, width: 0.57},
			{panels: []*panel{sd, acquisition}, shares: []float64{0.5, 0.5}, width: 0.43},
		}}
	} else {
		probability := cells.panel("probability of feasibility", s.Probability, s, m)
		probability.bar.lo, probability.bar.hi, probability.bar.log = 0, 1, false
		mean.hideX = true
		half := []float64{0.5, 0.5}
		f.rows = [][]cell{{{panels: []*panel{mean, acquisition}, shares: half}, {panels: []*panel{sd, probability}, shares: half}}}
		f.height = 640
	}
	f.legend = entries(f.theme, m.used())
	if slices.ContainsFunc(s.Mean, func(row []insight.Number) bool {
		return slices.ContainsFunc(row, func(v insight.Number) bool { return math.IsNaN(float64(v)) })
	}) {
		f.subtitle = "In empty areas one of the two parameters is inactive."
	}
	if s.Moved {
		f.subtitle = strings.TrimSpace(f.subtitle + " Other parameters change in proportion to meet a constraint.")
	}
	if slices.ContainsFunc(s.Feasible, func(row []bool) bool { return slices.Contains(row, false) }) {
		f.legend = append(f.legend, bandEntry("violates a constraint", f.theme.Grid))
	}
	return f
}

// surfaceMarks returns the trials by role.
func surfaceMarks(s *insight.Surface) *marked {
	x, y := parameterAxis(s.X), parameterAxis(s.Y)
	m := &marked{}
	for _, t := range s.Trials {
		r := roleOf(t.State)
		if r == evaluation && !t.Feasible {
			r = infeasible
		}
		m.add(r, x.number(t.X), y.number(t.Y))
	}
	if a, b := x.number(s.At[0]), y.number(s.At[1]); finite(a) && finite(b) {
		m.add(incumbent, a, b)
	}
	return m
}

// scale is an axis of a map with the values of its grid.
type scale struct {
	axis
	values []float64
	cells  bool // the values have cells; otherwise the map is interpolated between them
}

func newScale(a insight.Axis, values []any) scale {
	s := scale{axis: parameterAxis(a)}
	for _, v := range values {
		s.values = append(s.values, s.number(v))
	}
	n := len(s.values)
	s.cells = s.names != nil || s.integer && n == int(a.Max-a.Min)+1
	switch {
	case s.names != nil:
	case !s.cells:
		s.lo, s.hi = a.Min, a.Max
	case s.log:
		s.lo, s.hi = math.Max(a.Min/1.2, a.Min-0.5), a.Max+0.5
	default:
		s.lo, s.hi = a.Min-0.5, a.Max+0.5
	}
	if s.lo == s.hi {
		s.pad(0.05)
	}
	return s
}

// between holds the indices of the grid around a position, and the weight of the second one. Inside a cell both
// are its index.
type between struct {
	low, high int
	weight    float64
}

// locate returns the place of a position between 0 and 1 on the grid.
func (s *scale) locate(t float64) between {
	n := len(s.values)
	k := sort.Search(n, func(k int) bool { return s.place(s.values[k]) > t })
	if k == 0 {
		return between{0, 0, 0}
	}
	if k == n {
		return between{n - 1, n - 1, 0}
	}
	a, b := s.place(s.values[k-1]), s.place(s.values[k])
	w := (t - a) / (b - a)
	if s.cells {
		if w < 0.5 {
			return between{k - 1, k - 1, 0}
		}
		return between{k, k, 0}
	}
	return between{k - 1, k, w}
}

// cells is the grid of a map.
type cells struct{ x, y scale }

func newCells(s *insight.Surface) cells { return cells{newScale(s.X, s.Xs), newScale(s.Y, s.Ys)} }

// interpolate returns the bilinear interpolation of a matrix.
func interpolate(v func(row, column int) float64, x, y between) float64 {
	low := v(y.low, x.low)*(1-x.weight) + v(y.low, x.high)*x.weight
	if y.weight == 0 {
		return low
	}
	return low*(1-y.weight) + (v(y.high, x.low)*(1-x.weight)+v(y.high, x.high)*x.weight)*y.weight
}

// panel returns a panel with a map of a matrix.
func (c cells) panel(title string, z [][]insight.Number, s *insight.Surface, m *marked) *panel {
	value := func(row, column int) float64 { return float64(z[row][column]) }
	bar := colourAxis(z)
	p := &panel{title: title, x: c.x.axis, y: c.y.axis, bar: &bar}
	p.draw = func(g *graph) {
		g.DrawImage(g.Rectangle, c.image(value, s, p.bar, g.theme))
		if !c.x.cells && !c.y.cells {
			var levels []float64
			for _, t := range p.bar.ticks(g.Max.Y-g.Min.Y, tall) {
				if t.label != "" {
					levels = append(levels, t.at)
				}
			}
			c.isolines(g, s, value, levels)
		}
		m.draw(g, false)
	}
	return p
}

// colourAxis returns the axis of the colours of a matrix. If few values lie far below the
// others, as logarithms of vanishing improvements do, they have the colour of the lowest end.
func colourAxis(z [][]insight.Number) axis {
	var all []float64
	for _, row := range z {
		for _, v := range row {
			if finite(float64(v)) {
				all = append(all, float64(v))
			}
		}
	}
	if len(all) == 0 {
		return axis{lo: 0, hi: 1}
	}
	slices.Sort(all)
	log := spansDecades(all)
	if !log {
		all = robust(all)
	}
	a := axis{lo: all[0], hi: all[len(all)-1], log: log}
	if !(a.hi > a.lo) {
		a.pad(0)
	}
	return a
}

// robust returns sorted values from a lower limit. The limit leaves out values that lie more than six
// times as far below the largest one as the median.
func robust(sorted []float64) []float64 {
	n := len(sorted)
	if n == 0 {
		return nil
	}
	hi, median := sorted[n-1], sorted[n/2]
	if hi-sorted[0] <= 6*(hi-median) || hi == median {
		return sorted
	}
	limit := hi - 3*(hi-median)
	k, _ := slices.BinarySearch(sorted, limit)
	return append([]float64{limit}, sorted[k:]...)
}

// fineness is the number of pixels of a map in each direction.
const fineness = 360

// image returns the colours of a matrix, a pale colour where constraints are violated, and the background
// where a parameter is inactive.
func (c *cells) image(value func(row, column int) float64, s *insight.Surface, bar *axis, t palette.Theme) image.Image {
	picture := image.NewNRGBA(image.Rect(0, 0, fineness, fineness))
	inside := func(row, column int) float64 {
		if s.Feasible[row][column] {
			return 1
		}
		return 0
	}
	var shades [256]color.NRGBA
	for k := range shades {
		shades[k] = palette.Sequential(float64(k) / 255)
	}
	var columns, rows [fineness]between
	for k := range fineness {
		centre := (float64(k) + 0.5) / fineness
		columns[k], rows[k] = c.x.locate(centre), c.y.locate(1-centre)
	}
	for py, row := range rows {
		for px, column := range columns {
			shade := t.Grid
			z := interpolate(value, column, row)
			switch {
			case math.IsNaN(z): // a parameter is inactive
				shade = t.Background
			case interpolate(inside, column, row) >= 0.5:
				shade = shades[int(255*min(max(bar.place(z), 0), 1))]
			}
			picture.SetNRGBA(px, py, shade)
		}
	}
	return picture
}

// isolines draws the lines of equal values by marching squares, where no constraint is violated.
func (c *cells) isolines(g *graph, s *insight.Surface, value func(row, column int) float64, levels []float64) {
	ink := color.NRGBA{255, 255, 255, 150}
	var path vg.Path
	for _, level := range levels {
		for j := range len(c.y.values) - 1 {
			for i := range len(c.x.values) - 1 {
				if !s.Feasible[j][i] || !s.Feasible[j][i+1] || !s.Feasible[j+1][i] || !s.Feasible[j+1][i+1] {
					continue
				}
				for _, segment := range crossings([4]float64{value(j, i), value(j, i+1), value(j+1, i+1), value(j+1, i)}, level) {
					for k, e := range segment {
						at := vg.Point{
							X: g.X(mid(c.x.place(c.x.values[i]), c.x.place(c.x.values[i+1]), e[0])),
							Y: g.Y(mid(c.y.place(c.y.values[j]), c.y.place(c.y.values[j+1]), e[1])),
						}
						if k == 0 {
							path.Move(at)
						} else {
							path.Line(at)
						}
					}
				}
			}
		}
	}
	if path != nil {
		g.SetLineWidth(0.7)
		g.SetColor(ink)
		g.Stroke(path)
	}
}

func mid(a, b, share float64) float64 { return a + (b-a)*share }

// crossings returns the segments of a level in the unit square with values at the corners (0,0),
// (1,0), (1,1), (0,1): pairs of points on its sides. The value at the centre decides a saddle.
func crossings(z [4]float64, level float64) [][2][2]float64 {
	corners := [4][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	var on [][2]float64
	for k := range 4 {
		a, b := z[k], z[(k+1)%4]
		if (a > level) == (b > level) || !finite(a) || !finite(b) {
			continue
		}
		share := (level - a) / (b - a)
		p, q := corners[k], corners[(k+1)%4]
		on = append(on, [2]float64{mid(p[0], q[0], share), mid(p[1], q[1], share)})
	}
	switch len(on) {
	case 2:
		return [][2][2]float64{{on[0], on[1]}}
	case 4:
		if centre := (z[0] + z[1] + z[2] + z[3]) / 4; (centre > level) == (z[0] > level) {
			return [][2][2]float64{{on[0], on[1]}, {on[2], on[3]}}
		}
		return [][2][2]float64{{on[3], on[0]}, {on[1], on[2]}}
	}
	return nil
}
