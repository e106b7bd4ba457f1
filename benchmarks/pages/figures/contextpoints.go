package figures

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// ContextRecord is a fit of fsp-laplace with Points context points.
type ContextRecord struct {
	Placement string  `json:"placement"`
	Prior     string  `json:"prior"`
	Points    int     `json:"points"`
	Seed      uint64  `json:"seed"`
	Distance  float64 `json:"distance"`
	Mean      float64 `json:"mean"` // mean absolute difference of the means over the grid
	SD        float64 `json:"sd"`   // mean absolute difference of the standard deviations
	Rank      int     `json:"rank"` // columns of the covariance factor
	Seconds   float64 `json:"seconds"`
	Error     string  `json:"error,omitempty"`
}

// placements are ways to place and use the points. The training inputs are also
// context points, except in the covariance of the last two.
var placements = []struct {
	name, title string
	settings    []string
}{
	{"chebyshev", "dense towards the ends of the box (default)", nil},
	{"wide", "dense towards the ends of the range of the data, widened by half of it on each side", []string{"box=data"}},
	{"halton", "even over the box, Algorithm 2 with an exact factor", []string{"factor=cholesky"}},
	{"lanczos", "even over the box, Algorithm 2 with Lanczos", []string{"factor=lanczos"}},
}

var contextCounts = []int{3, 5, 10, 20, 40, 100, 200, 400}

// contextPriors returns the smooth and the rough prior of FSP-Laplace, figure C.7.
func contextPriors() []Prior { return Priors()[:2] }

func runContext(ctx context.Context, path string, seeds int, tell func(string)) error {
	var records []ContextRecord
	for seed := range uint64(seeds) {
		for _, p := range contextPriors() {
			want, err := exact(p, seed+1)
			if err != nil {
				return err
			}
			for _, place := range placements {
				for _, n := range contextCounts {
					r := ContextRecord{Placement: place.name, Prior: p.Name, Points: n, Seed: seed + 1}
					if err := r.measure(ctx, p, want, place.settings); err != nil {
						return err
					}
					tell(fmt.Sprintf("%s %s %d points seed %d  distance %.3f", r.Prior, r.Placement, n, r.Seed, r.Distance))
					records = append(records, r)
				}
			}
		}
	}
	return writeLines(path+".jsonl", records)
}

func showContext(path string) (string, func() error, error) {
	records, err := readLines[ContextRecord](path + ".jsonl")
	if err != nil {
		return "", nil, err
	}
	return contextTable(records), func() error { return savePanels(contextPanels(records), path) }, nil
}

// measure fits the model and compares it with the exact process. A failed fit is
// recorded. The error reports cancellation or a wrong setting.
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

// distances returns distances and ranks of the successful fits with one placement,
// prior and number of points.
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

func contextPanels(records []ContextRecord) []*plot.Plot {
	var panels []*plot.Plot
	for _, prior := range contextPriors() {
		p := newPanel(prior.Title + " prior")
		label(p, "context points", "distance from the exact process")
		for i, place := range placements {
			var at plotter.XYs
			for _, n := range contextCounts {
				if d, _ := distances(records, place.name, prior.Name, n); len(d) > 0 {
					mean, _ := meanSE(d)
					at = append(at, plotter.XY{X: math.Log10(float64(n)), Y: math.Log10(max(mean, 1e-4))})
				}
			}
			addLine(p, place.name, at, chart.StyleOf(i))
		}
		var ticks plot.ConstantTicks
		for _, n := range contextCounts {
			ticks = append(ticks, plot.Tick{Value: math.Log10(float64(n)), Label: fmt.Sprint(n)})
		}
		p.X.Tick.Marker = ticks
		p.Y.Tick.Marker = plot.TickerFunc(chart.Decades)
		p.Legend.Left = true
		panels = append(panels, p)
	}
	return panels
}

// label names the axes.
func label(p *plot.Plot, x, y string) {
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Label.TextStyle.Font, p.Y.Label.TextStyle.Font = chart.Font(9), chart.Font(9)
}

// addLine draws a line with an entry in the legend.
func addLine(p *plot.Plot, name string, at plotter.XYs, style chart.Style) {
	line := &plotter.Line{XYs: at, LineStyle: style.Line()}
	p.Add(line)
	p.Legend.Add(name, line)
	p.Legend.TextStyle.Font = p.X.Tick.Label.Font
	p.Legend.ThumbnailWidth, p.Legend.Padding = 7*vg.Millimeter, 0.8*vg.Millimeter
}
