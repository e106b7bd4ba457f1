package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/functionspace/bo/benchmarks/runner"
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 10 * vg.Centimeter
	gap        = 3 * vg.Millimeter
	plotDPI    = 160
)

// palette has colours that people with any colour vision tell apart (Okabe and Ito
// 2008, "Color universal design"), the palest left out. Lines beyond them are
// dashed.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255}, {230, 159, 0, 255}, {70, 70, 70, 255},
}

// Plots writes plots of the records of one suite to a directory, each as PNG and as
// SVG, and returns the paths: for each problem the measure against the number of
// evaluations, and for the suite the time of a suggestion against the number of
// observations.
func Plots(records []runner.Record, dir string) ([]string, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no records", ErrReport)
	}
	all, err := collect(records)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	save := func(p *picture, name string) error {
		for _, ext := range []string{".png", ".svg"} {
			path := filepath.Join(dir, fileName(name)+ext)
			if err := write(p, path); err != nil {
				return err
			}
			paths = append(paths, path)
		}
		return nil
	}
	for _, name := range all.problems {
		if p := all.curves(name); p != nil {
			if err := save(p, name); err != nil {
				return paths, err
			}
		}
	}
	if p := all.times(records[0].Suite); p != nil {
		if err := save(p, "seconds"); err != nil {
			return paths, err
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

// curves plots median and quartiles of the measure on one problem; nil without a
// finished run.
func (a *results) curves(problem string) *picture {
	var c chart
	var any runner.Record
	for k, method := range a.methods {
		runs := a.of(problem, method)
		if len(runs) == 0 {
			continue
		}
		any = runs[0]
		b := band{name: method, place: k}
		if n := len(runs); n > 1 {
			c.seeds = max(c.seeds, n)
		}
		for i := range any.Budget {
			y := each(runs, func(r runner.Record) float64 { return score(r, i) })
			if m := slices.Max(y); !math.IsInf(m, 0) {
				b.add(float64(i+1), y)
			}
		}
		c.bands = append(c.bands, b)
	}
	if c.bands == nil {
		return nil
	}
	c.title = fmt.Sprintf("%s (%d inputs)", problem, any.Dim)
	c.x, c.y, c.log = "evaluations", "simple regret", true
	if any.Minimum == nil {
		c.y, c.log = "least value", false
	}
	c.mark = float64(any.Initial)
	return c.draw()
}

// times plots median and quartiles over all problems of the seconds of a suggestion;
// nil if there is none after an initial design.
func (a *results) times(suite string) *picture {
	c := chart{title: suite + ": time of a suggestion, all problems", x: "observations", y: "seconds", log: true}
	for k, method := range a.methods {
		at := map[int][]float64{}
		last := 0
		for _, problem := range a.problems {
			for _, r := range a.of(problem, method) {
				for i := r.Initial; i < r.Budget; i++ {
					if r.Suggest[i] > 0 {
						at[i] = append(at[i], math.Log10(r.Suggest[i]))
						last = max(last, i)
					}
				}
			}
		}
		b := band{name: method, place: k}
		for i := range last + 1 {
			if len(at[i]) > 0 {
				b.add(float64(i), at[i])
			}
		}
		if b.median != nil {
			c.bands = append(c.bands, b)
		}
	}
	if c.bands == nil {
		return nil
	}
	return c.draw()
}

// band is a line with its quartiles.
type band struct {
	name             string
	place            int // among the methods
	median, low, top plotter.XYs
}

func (b *band) add(x float64, sample []float64) {
	s := summarize(sample)
	b.median = append(b.median, plotter.XY{X: x, Y: s.Median})
	b.low = append(b.low, plotter.XY{X: x, Y: s.Q1})
	b.top = append(b.top, plotter.XY{X: x, Y: s.Q3})
}

// chart is a plot of bands. With log their values are logarithms to base 10.
type chart struct {
	title, x, y string
	log         bool
	bands       []band
	mark        float64 // x of the end of the initial design, 0 for none
	seeds       int
}

// picture is a plot with its legend on the right.
type picture struct {
	*plot.Plot
	legend plot.Legend
}

func (c chart) draw() *picture {
	p := &picture{plot.New(), plot.NewLegend()}
	p.Title.Text = c.title
	if c.seeds > 1 {
		p.Title.Text += fmt.Sprintf(": median and quartiles of %d seeds", c.seeds)
	}
	p.X.Label.Text, p.Y.Label.Text = c.x, c.y
	p.Title.Padding = 3 * vg.Millimeter
	for _, style := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.legend.TextStyle.Font,
	} {
		style.Typeface, style.Variant, style.Size = "Liberation", "Sans", 10
	}
	p.Title.TextStyle.Font.Size = 12
	p.legend.Top, p.legend.Left = true, true
	p.legend.Padding, p.legend.ThumbnailWidth = 1.5*vg.Millimeter, 8*vg.Millimeter
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{235}, color.Gray{225}
	p.Add(grid)

	for _, b := range c.bands {
		ring := slices.Clone(b.top)
		for _, at := range slices.Backward(b.low) {
			ring = append(ring, at)
		}
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{ring}, Color: faint(b.color())})
	}
	for _, b := range c.bands {
		line := &plotter.Line{XYs: b.median, LineStyle: draw.LineStyle{Color: b.color(), Width: 1.6}}
		if b.place >= len(palette) {
			line.Dashes = []vg.Length{5, 3}
		}
		p.Add(line)
		p.legend.Add(b.name, line)
	}
	p.X.Min = 0
	p.X.Tick.Marker = plot.TickerFunc(counts)
	if c.log {
		p.Y.Tick.Marker = plot.TickerFunc(decades)
	}
	if c.mark > 0 {
		end := &plotter.Line{
			XYs:       plotter.XYs{{X: c.mark, Y: p.Y.Min}, {X: c.mark, Y: p.Y.Max}},
			LineStyle: draw.LineStyle{Color: color.Gray{120}, Width: 0.8, Dashes: []vg.Length{2, 3}},
		}
		p.Add(end)
		p.legend.Add("end of design", end)
	}
	return p
}

func (b band) color() color.NRGBA { return palette[b.place%len(palette)] }

func faint(c color.NRGBA) color.NRGBA {
	c.A = 45
	return c
}

// counts are the ticks of an axis of whole numbers.
func counts(lo, hi float64) []plot.Tick {
	step := 1
	for k := 0; hi-lo > 10*float64(step); k++ {
		step = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	var ticks []plot.Tick
	for v := int(math.Ceil(lo/float64(step))) * step; float64(v) <= hi; v += step {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: fmt.Sprint(v)})
	}
	return ticks
}

// decades are the ticks of an axis of logarithms to base 10: labels at powers of
// ten, and marks between them unless there are many; within about a decade labels
// between them too.
func decades(lo, hi float64) []plot.Tick {
	if hi-lo < 0.5 {
		ticks := plot.DefaultTicks{}.Ticks(lo, hi)
		for i, t := range ticks {
			if t.Label != "" {
				ticks[i].Label = fmt.Sprintf("%.3g", math.Pow(10, t.Value))
			}
		}
		return ticks
	}
	first, last := int(math.Floor(lo)), int(math.Ceil(hi))
	step := (last-first)/9 + 1
	var ticks []plot.Tick
	for d := first; d <= last; d++ {
		t := plot.Tick{Value: float64(d)}
		if d%step == 0 {
			t.Label = power(d)
		}
		ticks = append(ticks, t)
		for m := 2; m < 10 && last-first <= 4; m++ {
			minor := plot.Tick{Value: float64(d) + math.Log10(float64(m))}
			if hi-lo < 1.2 && (m == 2 || m == 5) {
				minor.Label = short(math.Pow(10, minor.Value))
			}
			ticks = append(ticks, minor)
		}
	}
	inside := ticks[:0]
	for _, t := range ticks {
		if lo <= t.Value && t.Value <= hi {
			inside = append(inside, t)
		}
	}
	return inside
}

func power(d int) string {
	if -3 <= d && d <= 4 {
		return fmt.Sprintf("%g", math.Pow(10, float64(d)))
	}
	return fmt.Sprintf("1e%d", d)
}

// write draws p to a file, of the kind that its name ends in.
func write(p *picture, path string) error {
	width := plotWidth + p.legend.Rectangle(draw.Canvas{}).Size().X + 2*gap
	var text bytes.Buffer
	var err error
	if strings.HasSuffix(path, ".svg") {
		c := vgsvg.New(width, plotHeight)
		p.layout(draw.New(c))
		_, err = c.WriteTo(&text)
	} else {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, plotHeight), vgimg.UseDPI(plotDPI))}
		p.layout(draw.New(c))
		_, err = c.WriteTo(&text)
	}
	if err != nil {
		return err
	}
	// Where the font is not installed another without serifs stands in for it.
	out := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(path, out, 0o644)
}

// layout draws the plot, and the legend beside its top.
func (p *picture) layout(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, gap, -gap, gap, -gap)
	p.Draw(draw.Crop(c, 0, plotWidth-c.Size().X-2*gap, 0, 0))
	title := p.Title.TextStyle.Height(p.Title.Text) + p.Title.Padding
	p.legend.Draw(draw.Crop(c, plotWidth-gap, 0, 0, -title))
}
