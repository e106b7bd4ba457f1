package figures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/functionspace/bo/benchmarks/runner"
)

// ErrDraw reports predictions that there is no picture for.
var ErrDraw = errors.New("cannot be drawn")

// Predictions writes a picture of the predictions in the records of each dataset
// that keeps them, as PNG and as SVG, and returns the paths: a panel for each
// method, with what was observed. The error is that of files or wraps ErrDraw.
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
		panels, err := draws(shown)
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

// draws makes the panels of one dataset.
func draws(records []runner.Record) ([]*plot.Plot, error) {
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

// pairs are rows of two; the last may end with nil.
func pairs(panels []*plot.Plot) [][]*plot.Plot {
	var rows [][]*plot.Plot
	for pair := range slices.Chunk(panels, 2) {
		rows = append(rows, append(slices.Clone(pair), nil)[:2])
	}
	return rows
}

// before is the share of the rows trained on that a forecast leaves out.
const before = 2.0 / 3

// forecast draws mean and two standard deviations of an observation over the input,
// and the observations: the last of those trained on grey, the others red.
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
	for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
		f.Typeface, f.Variant, f.Size = "Liberation", "Sans", 9
	}
	p.Title.TextStyle.Font.Size = 11
	return p
}

// saveGrid draws rows of panels, of which some may be nil, to a file of the kind
// that its name ends in.
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
	if filepath.Ext(path) != ".svg" {
		canvas := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
		paint(draw.New(canvas))
		return write(path, canvas.Image())
	}
	canvas := vgsvg.New(w, h)
	paint(draw.New(canvas))
	var text bytes.Buffer
	if _, err := canvas.WriteTo(&text); err != nil {
		return err
	}
	// Where the font is not installed another without serifs stands in for it.
	out := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o644)
}
