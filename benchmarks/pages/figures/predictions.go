package figures

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/benchmarks/runner"
)

// ErrDraw reports predictions of a kind that Predictions cannot draw.
var ErrDraw = errors.New("cannot be drawn")

// Predictions draws the predictions in the records of each dataset, with a panel for
// each method and the observations. It writes PNG and SVG files to dir and returns
// their paths. The error wraps ErrDraw or comes from a file.
func Predictions(records []runner.Record, dir string) ([]string, error) {
	var datasets []string
	for _, r := range records {
		if r.Prediction != nil && !slices.Contains(datasets, r.Problem) {
			datasets = append(datasets, r.Problem)
		}
	}
	var paths []string
	for _, name := range datasets {
		var shown []runner.Record
		for _, r := range records {
			if r.Problem == name && r.Prediction != nil {
				shown = append(shown, r)
			}
		}
		panels, err := panelsOf(shown)
		if err != nil {
			return paths, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return paths, err
		}
		for _, ext := range []string{".png", ".svg"} {
			path := filepath.Join(dir, name+ext)
			if err := saveGrid(pairs(panels), path); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// panelsOf returns the panels of one dataset.
func panelsOf(records []runner.Record) ([]*plot.Plot, error) {
	var panels []*plot.Plot
	switch n := len(records[0].Prediction.X); n {
	case 1:
		for _, r := range records {
			panels = append(panels, forecast(r))
		}
	case 3:
		panels = flows(records)
	default:
		return nil, fmt.Errorf("figures: predictions of %s by %d inputs %w", records[0].Problem, n, ErrDraw)
	}
	return panels, nil
}

// pairs returns rows of two panels; the last row may end with nil.
func pairs(panels []*plot.Plot) [][]*plot.Plot {
	var rows [][]*plot.Plot
	for pair := range slices.Chunk(panels, 2) {
		rows = append(rows, append(slices.Clone(pair), nil)[:2])
	}
	return rows
}

// before is the share of the training rows that the picture of a forecast omits.
const before = 2.0 / 3

// forecast draws mean and two standard deviations of an observation against the
// input, the last training rows in grey and the test rows in red.
func forecast(r runner.Record) *plot.Plot {
	p := newPanel(r.Method)
	q, noise := r.Prediction, 0.0
	if s := r.Score; s != nil && s.RMSE > 0 {
		noise = s.Noise * (s.RMSERaw / s.RMSE) * (s.RMSERaw / s.RMSE)
	}
	order := make([]int, len(q.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(q.X[0][a], q.X[0][b]) })
	order = order[int(before*float64(q.Train)):]
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range order {
		lo, hi = min(lo, q.Y[i]), max(hi, q.Y[i])
	}
	margin := 0.15 * (hi - lo)
	clip := func(v float64) float64 { return min(max(v, lo-margin), hi+margin) }
	var mean, upper, ring, train, test plotter.XYs
	for _, i := range order {
		x, sd := q.X[0][i], math.Sqrt(q.SD[i]*q.SD[i]+noise)
		mean = append(mean, plotter.XY{X: x, Y: clip(q.Mean[i])})
		ring = append(ring, plotter.XY{X: x, Y: clip(q.Mean[i] - 2*sd)})
		upper = append(upper, plotter.XY{X: x, Y: clip(q.Mean[i] + 2*sd)})
		if at := (plotter.XY{X: x, Y: q.Y[i]}); i < q.Train {
			train = append(train, at)
		} else {
			test = append(test, at)
		}
	}
	for _, at := range slices.Backward(upper) {
		ring = append(ring, at)
	}
	p.Add(&plotter.Polygon{XYs: []plotter.XYs{ring}, Color: blend(ink, bandShade)})
	dots := func(at plotter.XYs, c color.Color) {
		p.Add(&plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: c, Radius: 1.1, Shape: draw.CircleGlyph{}}})
	}
	dots(train, grey)
	dots(test, point)
	p.Add(&plotter.Line{XYs: mean, LineStyle: draw.LineStyle{Color: ink, Width: 1}})
	p.Y.Min, p.Y.Max = lo-margin, hi+margin
	return p
}

func newPanel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = 1.5 * vg.Millimeter
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = chart.Font(9), chart.Font(9)
	p.Title.TextStyle.Font = chart.Font(11)
	return p
}

// saveGrid draws rows of panels, of which some may be nil, as SVG or PNG.
func saveGrid(panels [][]*plot.Plot, path string) error {
	w, h := width, vg.Length(len(panels))*7*vg.Centimeter
	tiles := draw.Tiles{Rows: len(panels), Cols: len(panels[0]), PadX: gap, PadY: gap, PadTop: gap, PadBottom: gap, PadLeft: gap, PadRight: gap}
	paint := func(c draw.Canvas) {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
		for i, row := range plot.Align(panels, tiles, c) {
			for j, cell := range row {
				if panels[i][j] != nil {
					panels[i][j].Draw(cell)
				}
			}
		}
	}
	return chart.Write(path, w, h, dpi, paint, encode)
}
