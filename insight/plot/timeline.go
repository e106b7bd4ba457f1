package plot

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
)

// Timeline draws the evaluations of each worker over time.
func Timeline(t insight.Timeline, o Options) *Figure {
	f := newFigure("timeline of the workers", o)
	f.subtitle = fmt.Sprintf("Workers evaluate %.0f %% of the time.", 100*t.Busy)
	unit, name := timeUnit(t.End.Sub(t.Start))
	in := func(at time.Time) float64 { return at.Sub(t.Start).Seconds() / unit }
	n := len(t.Lanes)
	p := &panel{plain: true}
	p.x = axis{label: name + " since " + t.Start.UTC().Format("2006-01-02 15:04:05 MST"), lo: 0, hi: math.Max(in(t.End), 1e-9)}
	p.x.hi *= 1.01
	p.y = axis{lo: -0.5, hi: float64(max(1, n)) - 0.5, names: []string{}}
	var used [roles]bool
	for i := range n {
		lane := t.Lanes[n-1-i]
		worker := lane.Worker
		if worker == "" {
			worker = "unknown"
		}
		p.y.names = append(p.y.names, fmt.Sprintf("%s  %.0f %%", worker, 100*lane.Busy))
		for _, s := range lane.Spans {
			used[roleOf(s.State)] = true
		}
	}
	p.draw = func(g *graph) {
		height := min(30, 0.74*(g.Max.Y-g.Min.Y)/vg.Length(max(1, n)))
		for i := range n {
			drawLane(g, t.Lanes[n-1-i].Spans, g.Y(p.y.place(float64(i))), height, in, t.End)
		}
	}
	f.rows = [][]cell{{one(p)}}
	for r := range roles {
		if used[r] {
			e := bandEntry(r.look(f.theme).label, spanColour(r, f))
			if r == evaluation {
				e.label = "complete"
			}
			f.legend = append(f.legend, e)
		}
	}
	f.height = min(1600, max(300, 170+34*n))
	return f
}

// spanColour returns the colour of the spans of a role. Evaluations have the colour of the mean,
// because large areas in the ink of text are too heavy.
func spanColour(r role, f *Figure) color.NRGBA {
	if r == evaluation {
		return f.theme.Mean
	}
	return r.look(f.theme).color
}

// timeUnit returns the seconds and the name of the unit of an axis of a length of time.
func timeUnit(d time.Duration) (float64, string) {
	switch {
	case d < 3*time.Minute:
		return 1, "seconds"
	case d < 3*time.Hour:
		return 60, "minutes"
	case d < 72*time.Hour:
		return 3600, "hours"
	}
	return 86400, "days"
}

// drawLane draws the spans of a lane with the numbers of the trials that have room. Neighbours of a
// role that are less than half a pixel apart are one box.
func drawLane(g *graph, spans []insight.Span, y, height vg.Length, in func(time.Time) float64, now time.Time) {
	f := &Figure{theme: g.theme}
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		end := func(s insight.Span) time.Time {
			if s.Finished.IsZero() {
				return now
			}
			return s.Finished
		}
		x0, x1 := g.X(g.x.place(in(s.Started))), g.X(g.x.place(in(end(s))))
		merged := false
		for i+1 < len(spans) && spans[i+1].State == s.State && x1-x0 < pixel/2 {
			i++
			x1, merged = g.X(g.x.place(in(end(spans[i])))), true
		}
		x1 = max(x1, x0+0.3)
		inset := min(0.4, (x1-x0)/8)
		g.box(x0+inset, y-height/2, x1-inset, y+height/2, spanColour(roleOf(s.State), f))
		label := fmt.Sprint(s.Trial)
		if w := widthOf(label, tickSize); !merged && w+4 < x1-x0 && height > tickSize {
			ink := g.theme.Background
			if s.State == loop.Pending {
				ink = g.theme.Text
			}
			g.text(label, (x0+x1)/2, y, textStyle{size: tickSize, color: ink, x: draw.XCenter, y: draw.YCenter})
		}
	}
}
