package plot_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/insight/plot"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// small is the size of pictures whose contents matter little.
var small = plot.Options{Width: 300, Height: 220}

// requireDrawn draws a picture as SVG and as the pixels of a PNG and returns the SVG. TestSize encodes a PNG.
func requireDrawn(t *testing.T, f *plot.Figure) string {
	t.Helper()
	var svg bytes.Buffer
	require.NoError(t, f.SVG(&svg))
	_, err := f.Image()
	require.NoError(t, err)
	dec := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
	for {
		_, err := dec.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	for line := range strings.Lines(svg.String()) {
		if !strings.Contains(line, "base64") && (strings.Contains(line, "NaN") || strings.Contains(line, "Inf")) {
			t.Fatalf("%.300s", line)
		}
	}
	return svg.String()
}

// history returns the trials of a recorded study.
func history(t *testing.T, name string) *loop.View {
	s, o, h, err := insighttest.Study(t, name).History(context.Background())
	require.NoError(t, err)
	return &loop.View{Space: s, Options: o, Trials: h.Trials}
}

// fitted returns a recorded study with a fit.
func fitted(t *testing.T, name, objective string) *loop.View {
	v := history(t, name)
	h := loop.History{Trials: v.Trials}
	var out *loop.View
	var err error
	if objective == "" {
		out, err = loop.Inspect(context.Background(), v.Space, v.Options, h)
	} else {
		out, err = loop.InspectObjective(context.Background(), v.Space, v.Options, h, objective)
	}
	require.NoError(t, err)
	return out
}

// Every picture of every recorded study can be drawn, with the names of all parameters and of the
// objective.
func TestStudiesAreDrawn(t *testing.T) {
	for name, objective := range map[string]string{"branin": "", "mixed": "", "noisy": "", "constrained": "", "front": "error", "curves": ""} {
		t.Run(name, func(t *testing.T) {
			v := fitted(t, name, objective)
			o := plot.Options{Title: name + " <&>", Objective: "the objective", Maximize: v.Options.Maximize}
			text := requireDrawn(t, plot.History(insight.History(v.Trials, v.Options), o))
			require.True(t, strings.Contains(text, "&lt;&amp;&gt;"))
			require.True(t, strings.Contains(text, "the objective"))
			slices, err := insight.Slices(v, insight.SliceOptions{Points: 21})
			require.NoError(t, err)
			svg := requireDrawn(t, plot.Slices(slices, o))
			lines := requireDrawn(t, plot.Parallel(insight.ParallelCoordinates(v), o))
			for _, p := range v.Space.Parameters() {
				require.True(t, strings.Contains(svg, ">"+p.Name+"<"), p.Name)
				require.True(t, strings.Contains(lines, ">"+p.Name+"<"), p.Name)
				for _, value := range p.Values {
					require.True(t, strings.Contains(svg, ">"+fmt.Sprint(value)+"<"), value)
				}
			}
			averaged, err := insight.Slices(v, insight.SliceOptions{Points: 5, Average: 8})
			require.NoError(t, err)
			require.False(t, strings.Contains(requireDrawn(t, plot.Slices(averaged, o)), "acquisition"))
			pair := plot.Influential(slices, 2)
			m, err := insight.Map(v, pair[0].Axis.Name, pair[1].Axis.Name, 11)
			require.NoError(t, err)
			requireDrawn(t, plot.Contour(m, o))
			effects, err := insight.Importance(context.Background(), v, insight.ImportanceOptions{Points: 256, Paths: 4})
			require.NoError(t, err)
			requireDrawn(t, plot.Importance(effects, o))
			c, err := insight.LeaveOneOut(context.Background(), v)
			require.NoError(t, err)
			require.True(t, strings.Contains(requireDrawn(t, plot.Calibration(c, o)), strings.Fields(c.Health.Summary)[0]))
		})
	}
	v := history(t, "front")
	volumes := insight.HypervolumeHistory(v.Trials, v.Options)
	requireDrawn(t, plot.Hypervolume(volumes, plot.Options{}))
	text := requireDrawn(t, plot.Pareto(insight.ParetoFront(v.Trials, v.Options), volumes, plot.Options{Dark: true}))
	require.True(t, strings.Contains(text, "error (smaller is better)"))
}

// A picture has the size of its options, and a PNG twice as many pixels.
func TestSize(t *testing.T) {
	f := plot.History(nil, plot.Options{Width: 640, Height: 300})
	var svg, bits bytes.Buffer
	require.NoError(t, f.SVG(&svg))
	require.Contains(t, svg.String(), `width="480pt" height="225pt"`)
	require.NoError(t, f.PNG(&bits))
	got, err := png.Decode(&bits)
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 1280, 600), got.Bounds())
	want, err := f.Image()
	require.NoError(t, err)
	for y := range 600 {
		for x := range 1280 {
			if color.NRGBAModel.Convert(want.At(x, y)) != color.NRGBAModel.Convert(got.At(x, y)) {
				require.Fail(t, "a pixel differs", "%d %d", x, y)
			}
		}
	}
	for _, o := range []plot.Options{{Width: 100}, {Height: 20_000}} {
		require.ErrorIs(t, plot.History(nil, o).SVG(io.Discard), plot.ErrSize)
		require.ErrorIs(t, plot.History(nil, o).PNG(io.Discard), plot.ErrSize)
	}
}

// No data, one trial, equal values, values that are not finite and huge ones are drawn.
func TestExtremes(t *testing.T) {
	nan := insight.Number(math.NaN())
	for _, values := range [][]insight.Number{nil, {3}, {0, 0, 0}, {nan, nan}, {nan, 1}, {1e300, -1e300}, {1e-300, 1e-299}, {5e-324, 1}, {5e-324}, {1e300, 1}, {1e9, 1e9 + 1e-6, 1e9 + 2e-6}} {
		var steps []insight.Step
		var volumes []insight.Volume
		var pairs []plot.Pair
		front := insight.Front{Objectives: []loop.Goal{{Name: "a"}, {Name: "b"}}, Reference: map[string]float64{"a": 1, "b": 1}}
		s := insight.Slice{Axis: insight.Axis{Name: "x", Kind: space.KindFloat, Min: 0, Max: 1}, At: 0.5}
		lines := insight.Parallel{Axes: []insight.Axis{{Name: "o", Kind: space.KindCategorical, Ticks: []any{"a", "b"}}}}
		curve := insight.Curve{Trial: 1, State: loop.Complete}
		c := plot.Curve{Label: "x"}
		for i, v := range values {
			steps = append(steps, insight.Step{Trial: i + 1, State: loop.Complete, Source: loop.Suggested, Value: v, Best: v, Predicted: &insight.Predicted{Mean: v, Interval: insight.Interval{Low: v, High: nan}}})
			volumes = append(volumes, insight.Volume{Trial: i + 1, State: loop.Complete, Hypervolume: v})
			pairs = append(pairs, plot.Pair{Target: float64(v), Mean: float64(v), Low: float64(v), High: float64(v), PIT: math.NaN()})
			front.Points = append(front.Points, insight.FrontPoint{Trial: i + 1, Values: map[string]float64{"a": float64(v), "b": float64(-v)}, Feasible: true, Front: i == 0})
			band := insight.Band{Mean: v, P95: insight.Interval{Low: v, High: v}, P50: insight.Interval{Low: v, High: v}}
			s.Points = append(s.Points, insight.SlicePoint{X: float64(i) / 3, Band: band, Acquisition: v, Feasible: i > 0})
			s.Trials = append(s.Trials, insight.SliceTrial{Trial: i + 1, X: 0.3, State: loop.Complete, Y: v})
			lines.Lines = append(lines.Lines, insight.ParallelLine{Trial: i + 1, State: loop.Complete, Value: v, Rank: nan, Values: []any{nil}})
			curve.Points = append(curve.Points, insight.CurvePoint{Step: float64(i), Value: v})
			c.X, c.Bands = append(c.X, float64(v)), append(c.Bands, band)
		}
		for _, f := range []*plot.Figure{
			plot.History(steps, small), plot.Hypervolume(volumes, small), plot.Predictions(pairs, nil, small),
			plot.Pareto(front, volumes, small), plot.Slices([]insight.Slice{s}, small), plot.Slices(nil, small),
			plot.Parallel(lines, small), plot.Curves([]insight.Curve{curve}, small), plot.Predicted(c, small),
			plot.Importance(nil, small), plot.Importance([]insight.Effect{{Parameter: "x", Total: nan, First: nan}}, small),
			plot.Timeline(insight.Timeline{}, small),
		} {
			requireDrawn(t, f)
		}
		require.NoError(t, plot.HistoryText(io.Discard, steps, small, 80, true))
	}
}

// Ten thousand trials are drawn in a bounded time and size.
func TestManyTrials(t *testing.T) {
	const n = 10_000
	var steps []insight.Step
	var lines insight.Parallel
	var spans []insight.Span
	front := insight.Front{Objectives: []loop.Goal{{Name: "a"}, {Name: "b"}}}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := range 6 {
		lines.Axes = append(lines.Axes, insight.Axis{Name: fmt.Sprint("parameter ", k), Kind: space.KindFloat, Max: 1})
	}
	best := math.Inf(1)
	for i := range n {
		v := math.Abs(math.Sin(float64(i*i))) + 10/float64(i+1)
		best = min(best, v)
		s := insight.Step{Trial: i + 1, State: loop.Complete, Source: loop.Suggested, Value: insight.Number(v), Best: insight.Number(best), Incumbent: v == best, Feasible: true, Predicted: &insight.Predicted{}}
		l := insight.ParallelLine{Trial: i + 1, State: loop.Complete, Value: s.Value, Feasible: true, Rank: s.Value / 20}
		for k := range 6 {
			l.Values = append(l.Values, math.Abs(math.Cos(float64(i*k+i))))
		}
		if i%10 == 0 {
			s.State, s.Value = loop.Failed, insight.Number(math.NaN())
		}
		steps, lines.Lines = append(steps, s), append(lines.Lines, l)
		begin := start.Add(time.Duration(i/50) * time.Minute)
		spans = append(spans, insight.Span{Trial: i + 1, Worker: fmt.Sprint("worker ", i%50), State: s.State, Started: begin, Finished: begin.Add(50 * time.Second)})
		front.Points = append(front.Points, insight.FrontPoint{Trial: i + 1, Values: map[string]float64{"a": v, "b": 1 / v}, Feasible: true, Front: i%100 == 0})
	}
	for name, f := range map[string]*plot.Figure{
		"history": plot.History(steps, plot.Options{}), "parallel": plot.Parallel(lines, plot.Options{}),
		"timeline": plot.Timeline(insight.Workers(spans, start), plot.Options{}), "pareto": plot.Pareto(front, nil, plot.Options{}),
	} {
		begun := time.Now()
		text := requireDrawn(t, f)
		t.Logf("%s: %d KB, %v", name, len(text)>>10, time.Since(begun))
		require.Less(t, len(text), 3<<20, name)
		require.Less(t, time.Since(begun), time.Minute, name)
	}
}

// PNG draws squares for characters that its font lacks, and Missing returns them; SVG has the text.
func TestMissing(t *testing.T) {
	effects := []insight.Effect{{Parameter: "学習率", Total: 0.5, First: 0.4}, {Parameter: "größe − Σ", Total: 0.2, First: 0.1}}
	f := plot.Importance(effects, plot.Options{Objective: "損失"})
	require.Equal(t, "失学損率習", f.Missing())
	require.True(t, strings.Contains(requireDrawn(t, f), "学習率"))
	require.Empty(t, plot.Importance(effects[1:], plot.Options{}).Missing())
}

// SVG has no control characters: viewers reject them.
func TestControlCharacters(t *testing.T) {
	effects := []insight.Effect{{Parameter: "a\x1b[31mb\uffff", Total: 0.5, First: 0.4}}
	f := plot.Importance(effects, plot.Options{Title: "t\x00", Objective: "o\u009b"})
	require.Contains(t, requireDrawn(t, f), ">a□[31mb□</text>")
	require.Empty(t, f.Missing())
}

// Infeasible trials are no part of the ranks: the best line is feasible, and others have their own entry.
func TestParallelOfInfeasibleTrials(t *testing.T) {
	p := insight.Parallel{Axes: []insight.Axis{{Name: "x", Kind: space.KindFloat, Max: 1}}, Lines: []insight.ParallelLine{
		{Trial: 1, State: loop.Complete, Value: -5, Rank: insight.Number(math.NaN()), Values: []any{0.1}},
		{Trial: 2, State: loop.Complete, Value: 1, Feasible: true, Values: []any{0.5}},
		{Trial: 3, State: loop.Complete, Value: 2, Feasible: true, Rank: 1, Values: []any{0.9}},
	}}
	require.Contains(t, requireDrawn(t, plot.Parallel(p, plot.Options{})), "infeasible")
	p.Lines = p.Lines[1:]
	require.NotContains(t, requireDrawn(t, plot.Parallel(p, plot.Options{})), "infeasible")
}

// A trial without a result for another reason than its point has the name of its state.
func TestLostTrials(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	spans := []insight.Span{
		{Trial: 1, Worker: "a", State: loop.Complete, Started: start, Finished: start.Add(time.Minute)},
		{Trial: 2, Worker: "a", State: loop.Lost, Started: start.Add(time.Minute), Finished: start.Add(2 * time.Minute)},
	}
	steps := []insight.Step{
		{Trial: 1, State: loop.Complete, Value: 1, Best: 1, Feasible: true, Incumbent: true},
		{Trial: 2, State: loop.Lost, Value: insight.Number(math.NaN()), Best: 1},
	}
	for _, f := range []*plot.Figure{plot.Timeline(insight.Workers(spans, start), plot.Options{}), plot.History(steps, plot.Options{})} {
		svg := requireDrawn(t, f)
		require.Contains(t, svg, ">lost</text>")
		require.NotContains(t, svg, ">failed</text>")
	}
	var b strings.Builder
	require.NoError(t, plot.HistoryText(&b, steps, plot.Options{}, 60, false))
	require.Contains(t, b.String(), "1 lost")
}

// More parameters than have room are left out, and the objectives are not.
func TestParallelOfManyParameters(t *testing.T) {
	var p insight.Parallel
	for k := range 30 {
		p.Axes = append(p.Axes, insight.Axis{Name: fmt.Sprintf("parameter %d with a long name", k), Kind: space.KindFloat, Max: 1})
	}
	p.Objectives = []loop.Goal{{Name: "cost"}, {Name: "gain", Maximize: true}}
	for i := range 40 {
		l := insight.ParallelLine{Trial: i + 1, State: loop.Complete, Numbers: []insight.Number{1, 2}, Feasible: true, Rank: insight.Number(i) / 39}
		for k := range 30 {
			x := math.Abs(math.Sin(float64(i*k + i)))
			if k == 17 {
				x = float64(i) / 40
			}
			l.Values, l.Positions = append(l.Values, x), append(l.Positions, insight.Number(x))
		}
		p.Lines = append(p.Lines, l)
	}
	for width, want := range map[int]string{800: "10 of 30 parameters", 200: "1 of 30 parameters"} {
		svg := requireDrawn(t, plot.Parallel(p, plot.Options{Width: width}))
		require.Contains(t, strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(svg, " ")), " "), want)
		require.Contains(t, svg, "cost")
		require.Contains(t, svg, "gain")
	}
	svg := requireDrawn(t, plot.Parallel(p, plot.Options{}))
	require.Contains(t, svg, "parameter 17 with")
	require.Contains(t, svg, "Pareto front")
	require.NotContains(t, requireDrawn(t, plot.Parallel(p, plot.Options{Width: 2000})), "30 parameters")
}

func TestLabels(t *testing.T) {
	var all []plot.Labelled
	for i := range 40 {
		l := plot.Labelled{Label: "yes", Predicted: "yes", Confidence: 0.5 + float64(i)/80}
		if i%5 == 0 {
			l.Label = "no"
		}
		all = append(all, l)
	}
	svg := requireDrawn(t, plot.Labels(all, []string{"no", "yes"}, plot.Options{Objective: "answer"}))
	require.Contains(t, svg, "32 of 40 labels have the largest probability.")
	require.Contains(t, svg, ">32</text>")
	require.Contains(t, svg, ">8</text>")
	require.Contains(t, svg, "answer, predicted")
	requireDrawn(t, plot.Labels(nil, []string{"no", "yes"}, plot.Options{}))
	requireDrawn(t, plot.Labels(nil, nil, small))
}

func TestHistoryText(t *testing.T) {
	v := history(t, "mixed")
	steps := insight.History(v.Trials, v.Options)
	o := plot.Options{Objective: "accuracy", Maximize: true}
	for _, blocks := range []bool{false, true} {
		var b strings.Builder
		require.NoError(t, plot.HistoryText(&b, steps, o, 72, blocks))
		ascii := true
		for line := range strings.Lines(b.String()) {
			require.LessOrEqual(t, len([]rune(line)), 73)
			require.Equal(t, strings.TrimRight(line, " \n"), strings.TrimSuffix(line, "\n"))
			for _, r := range line {
				ascii = ascii && r < 128
			}
		}
		require.Equal(t, !blocks, ascii)
		require.Contains(t, b.String(), "7 failed   4 pending")
	}
	var infeasible strings.Builder
	steps = []insight.Step{
		{Trial: 1, State: loop.Complete, Value: 1, Best: insight.Number(math.NaN())},
		{Trial: 2, State: loop.Complete, Value: 3, Best: 3, Feasible: true, Incumbent: true},
	}
	require.NoError(t, plot.HistoryText(&infeasible, steps, plot.Options{}, 60, false))
	require.Contains(t, infeasible.String(), "* evaluation   x infeasible   - best so far")
	require.Equal(t, 2, strings.Count(infeasible.String(), "*"), "a feasible trial, and the legend")
	var b strings.Builder
	require.NoError(t, plot.ImportanceText(&b, []insight.Effect{{Parameter: "rate", Total: 0.5, First: 0.25, Direction: insight.Increases}, {Parameter: "x", Total: insight.Number(math.NaN())}}, 60, false))
	require.Equal(t, `parameter  part of the variance  total  alone  effect
rate       ##########            0.50   0.25  increases
x          undefined: the prediction is constant
`, b.String())
}

// The history draws standard errors, and names them in the legend.
func TestHistoryDrawsStandardErrors(t *testing.T) {
	for se, want := range map[insight.Number]bool{0.5: true, 0: false} {
		steps := []insight.Step{{Trial: 1, State: loop.Complete, Value: 3, StandardError: se}, {Trial: 2, State: loop.Complete, Value: 2}}
		svg := requireDrawn(t, plot.History(steps, plot.Options{}))
		require.Equal(t, want, strings.Contains(svg, "standard error"))
	}
}
