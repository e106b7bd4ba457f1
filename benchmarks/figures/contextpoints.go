package figures

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// ContextRecord is a fit of fsp-laplace with that many context points.
type ContextRecord struct {
	Placement string  `json:"placement"`
	Prior     string  `json:"prior"`
	Points    int     `json:"points"`
	Seed      uint64  `json:"seed"`
	Distance  float64 `json:"distance"`
	Mean      float64 `json:"mean"` // absolute difference of means, over the grid
	SD        float64 `json:"sd"`   // the same of standard deviations
	Rank      int     `json:"rank"` // columns of the factor of the covariance
	Seconds   float64 `json:"seconds"`
	Error     string  `json:"error,omitempty"`
}

// placements are ways to place the points and to use them. The training inputs are
// context points, too, except in the covariance of the last two.
var placements = []struct {
	name, title string
	settings    []string
}{
	{"chebyshev", "dense towards the ends of the box (default)", nil},
	{"wide", "the same, range of the data and half of it on each side", []string{"box=data"}},
	{"halton", "even over the box, Algorithm 2 with an exact factor", []string{"factor=cholesky"}},
	{"lanczos", "even over the box, Algorithm 2 with Lanczos", []string{"factor=lanczos"}},
}

var contextCounts = []int{3, 5, 10, 20, 40, 100, 200, 400}

// contextPriors are those of FSP-Laplace, figure C.7: a smooth one and a rough one.
func contextPriors() []Prior { return Priors()[:2] }

func contextStudy(ctx context.Context, path string, seeds int, tell func(string)) (string, error) {
	var records []ContextRecord
	for seed := range uint64(seeds) {
		for _, p := range contextPriors() {
			want, err := exact(p, seed+1)
			if err != nil {
				return "", err
			}
			for _, place := range placements {
				for _, n := range contextCounts {
					r := ContextRecord{Placement: place.name, Prior: p.Name, Points: n, Seed: seed + 1}
					if err := r.measure(ctx, p, want, place.settings); err != nil {
						return "", err
					}
					tell(fmt.Sprintf("%s %s %d points seed %d  distance %.3f", r.Prior, r.Placement, n, r.Seed, r.Distance))
					records = append(records, r)
				}
			}
		}
	}
	if err := writeLines(path+".jsonl", records); err != nil {
		return "", err
	}
	for _, ext := range []string{".png", ".svg"} {
		if err := saveGrid(pairs(contextPanels(records)), path+ext); err != nil {
			return "", err
		}
	}
	return contextTable(records), nil
}

// measure fits and compares; a fit that fails is a record. The error is that of ctx,
// or of a setting.
func (r *ContextRecord) measure(ctx context.Context, p Prior, want curve, settings []string) error {
	points := []string{fmt.Sprintf("context=%d", r.Points), fmt.Sprintf("covariance-context=%d", r.Points)}
	m, err := model("fsp-laplace", p, append(points, settings...)...)
	if err != nil {
		return err
	}
	begin := time.Now()
	post, err := m.Fit(ctx, Data(r.Seed), random.New(r.Seed, "figures fit", 0))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Seconds = time.Since(begin).Seconds()
	if err != nil {
		r.Error = err.Error()
		return nil
	}
	got := newCurve(post, r.Seed)
	r.Distance = distance(got, want)
	for i := range want.mean {
		r.Mean += math.Abs(got.mean[i]-want.mean[i]) / gridPoints
		r.SD += math.Abs(got.sd[i]-want.sd[i]) / gridPoints
	}
	if d, ok := post.(surrogate.Describer); ok {
		for _, h := range d.Hypers() {
			if h.Name == "rank" {
				r.Rank = int(h.Value)
			}
		}
	}
	return nil
}

// distances are those of one placement and number of points under a prior, of the
// fits that did not fail.
func distances(records []ContextRecord, placement, prior string, points int) (d, ranks []float64) {
	for _, r := range records {
		if r.Placement == placement && r.Prior == prior && r.Points == points && r.Error == "" {
			d, ranks = append(d, r.Distance), append(ranks, float64(r.Rank))
		}
	}
	return d, ranks
}

func contextTable(records []ContextRecord) string {
	var b strings.Builder
	for _, p := range contextPriors() {
		fmt.Fprintf(&b, "### %s\n\n| context points |", p.Title)
		for _, place := range placements {
			fmt.Fprintf(&b, " %s |", place.name)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(placements)) + "\n")
		for _, n := range contextCounts {
			fmt.Fprintf(&b, "| %d |", n)
			for _, place := range placements {
				d, ranks := distances(records, place.name, p.Name, n)
				if len(d) == 0 {
					b.WriteString(" failed |")
					continue
				}
				mean, se := meanSE(d)
				fmt.Fprintf(&b, " %.3f", mean)
				if len(d) > 1 {
					fmt.Fprintf(&b, " ± %.3f", se)
				}
				fmt.Fprintf(&b, ", rank %.0f |", median(ranks))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// hues are those of lines in one panel (Okabe and Ito 2008).
var hues = []color.NRGBA{ink, point, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255}, {230, 159, 0, 255}}

func contextPanels(records []ContextRecord) []*plot.Plot {
	var panels []*plot.Plot
	for _, prior := range contextPriors() {
		p := newPanel(prior.Title + ": distance from the exact process by context points")
		for i, place := range placements {
			var at plotter.XYs
			for _, n := range contextCounts {
				if d, _ := distances(records, place.name, prior.Name, n); len(d) > 0 {
					mean, _ := meanSE(d)
					at = append(at, plotter.XY{X: math.Log10(float64(n)), Y: math.Log10(max(mean, 1e-4))})
				}
			}
			addLine(p, place.name, at, hues[i])
		}
		var ticks plot.ConstantTicks
		for _, n := range contextCounts {
			ticks = append(ticks, plot.Tick{Value: math.Log10(float64(n)), Label: fmt.Sprint(n)})
		}
		p.X.Tick.Marker = ticks
		p.Y.Tick.Marker = plot.TickerFunc(powersOfTen)
		p.Legend.Left = true
		panels = append(panels, p)
	}
	return panels
}

// addLine draws a line with a legend.
func addLine(p *plot.Plot, name string, at plotter.XYs, hue color.Color) {
	line := &plotter.Line{XYs: at, LineStyle: draw.LineStyle{Color: hue, Width: 1.4}}
	p.Add(line)
	p.Legend.Add(name, line)
	p.Legend.TextStyle.Font = p.X.Tick.Label.Font
	p.Legend.ThumbnailWidth = 7 * vg.Millimeter
}

// powersOfTen are ticks of an axis of logarithms to base 10, with labels at no more
// than about eight of them.
func powersOfTen(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	step := int(hi-lo)/8 + 1
	for d := int(math.Floor(lo)); d <= int(math.Ceil(hi)); d++ {
		if float64(d) >= lo && float64(d) <= hi {
			ticks = append(ticks, plot.Tick{Value: float64(d), Label: map[bool]string{true: fmt.Sprintf("%.3g", math.Pow10(d))}[d%step == 0]})
		}
		for _, m := range []float64{2, 5} {
			if v := float64(d) + math.Log10(m); hi-lo < 3 && v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.2g", math.Pow(10, v))})
			}
		}
	}
	return ticks
}
