package report_test

import (
	"context"
	"flag"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/internal/browsertest"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

var screenshots = flag.String("screenshots", "", "write pictures of the reports to this folder")

func TestMain(m *testing.M) { browsertest.Main(m) }

// open opens a report in a new tab.
func open(t *testing.T, ctx context.Context, r *report.Report, width, height int64, dark bool) *browsertest.Tab {
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, r.WriteHTML(f))
	require.NoError(t, f.Close())
	return browsertest.Open(t, ctx, "file://"+path, width, height, dark)
}

func built(t *testing.T, u *store.Study) *report.Report {
	r, err := report.Build(t.Context(), u, report.Options{})
	require.NoError(t, err)
	return r
}

var (
	building sync.Mutex
	reports  = map[string]*report.Report{}
)

// reportOf returns the report of a recorded study, which is built once for all tests.
func reportOf(t *testing.T, name string) *report.Report {
	building.Lock()
	defer building.Unlock()
	if reports[name] == nil {
		reports[name] = built(t, insighttest.Study(t, name))
	}
	return reports[name]
}

// TestScreenshots writes pictures of the reports, for people to look at.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("needs -screenshots FOLDER")
	}
	ctx := browsertest.Shared(t)
	write := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name), content, 0o644))
	}
	for _, name := range insighttest.Names {
		if only := os.Getenv("ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		r := reportOf(t, name)
		for _, v := range []struct {
			kind          string
			width, height int64
			dark          bool
		}{{"desktop", 1280, 900, false}, {"dark", 1280, 900, true}, {"phone", 390, 844, false}} {
			write(name+"-"+v.kind+".png", browsertest.Value(open(t, ctx, r, v.width, v.height, v.dark), chromedp.FullScreenshot(100)))
		}
		write(name+".pdf", browsertest.Value(open(t, ctx, r, 1280, 900, false), chromedp.PrintToPDF()))
	}
}

// charts returns the ids of the pictures.
const charts = `[...document.querySelectorAll(".chart")].map((e) => e.id)`

// option is a JavaScript expression for the option of a picture.
func option(id string) string {
	return `echarts.getInstanceByDom(document.getElementById("` + id + `")).getOption()`
}

// names is a JavaScript expression for the names of the series of a picture that have data.
func names(id string) string {
	return option(id) + `.series.filter((s) => s.data.length > 0).map((s) => s.name)`
}

// All reports open without a message of the console, also on a phone and in the dark, with all pictures and
// with descriptions.
func TestReportsOpen(t *testing.T) {
	ctx := browsertest.Shared(t)
	studies := insighttest.Names
	if testing.Short() {
		studies = []string{"mixed", "front"}
	}
	for _, name := range studies {
		r := reportOf(t, name)
		p := open(t, ctx, r, 390, 844, true)
		require.Contains(t, browsertest.Eval[string](p, `getComputedStyle(document.body).backgroundColor`), "22, 27, 34")
		require.LessOrEqual(t, browsertest.Eval[int](p, `document.documentElement.scrollWidth`), 390, "%s: a phone scrolls sideways", name)
		ids := browsertest.Eval[[]string](p, charts)
		want := []string{"history-chart", "next-chart", "slice-chart", "map-chart", "importance-chart", "calibration-chart", "probability-chart", "parallel-chart", "timeline-chart"}
		if name == "front" {
			want = append(want, "front-chart", "hypervolume-chart")
		}
		if name == "curves" {
			want = append(want, "curves-chart")
		}
		require.ElementsMatch(t, want, ids, name)
		require.Zero(t, browsertest.Eval[int](p, `[...document.querySelectorAll(".chart")].filter((e) => !e.getAttribute("aria-label") || !e.querySelector("canvas")).length`))
		require.Zero(t, browsertest.Eval[int](p, `[...document.querySelectorAll("select, input")].filter((e) => e.labels.length === 0).length`), "a control without a label")
		require.Zero(t, browsertest.Eval[int](p, `[...document.querySelectorAll("section")].filter((e) => !e.querySelector("h2")).length`))
	}
}

// Hover and the arrow keys show a tooltip, and a choice of parameters changes the pictures.
func TestPicturesAnswer(t *testing.T) {
	p := open(t, browsertest.Shared(t), reportOf(t, "mixed"), 1280, 900, false)

	// A mouse over the first complete trial of the history.
	at := browsertest.Eval[[]float64](p, `(() => {
		const box = document.getElementById("history-chart");
		box.scrollIntoView({block: "center"});
		const chart = echarts.getInstanceByDom(box);
		const point = chart.getOption().series[0].data[4].value;
		const [x, y] = chart.convertToPixel({seriesIndex: 0}, point);
		const r = box.getBoundingClientRect();
		return [r.x + x, r.y + y];
	})()`)
	p.Do(chromedp.Sleep(200*time.Millisecond), chromedp.MouseEvent("mouseMoved", at[0]-3, at[1]), chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	p.Do(chromedp.WaitVisible(chromedp.CSS("#history-chart .tip")))
	tip := browsertest.Value(p, chromedp.Text(chromedp.CSS("#history-chart .tip")))
	require.Contains(t, tip, "trial ")
	require.Contains(t, tip, "accuracy")
	require.Contains(t, tip, "learning_rate")

	// The keyboard.
	p.Do(chromedp.Focus(chromedp.CSS("#importance-chart")), chromedp.KeyEvent(kb.ArrowRight))
	p.Do(chromedp.WaitVisible(chromedp.CSS("#importance-chart .tip")))
	require.Contains(t, browsertest.Eval[string](p, `document.querySelector("[aria-live].skip").textContent`), "with interactions")

	// The parameter of a slice, by its name, with the names of categories.
	require.Equal(t, "learning_rate", browsertest.Eval[string](p, option("slice-chart")+`.xAxis[1].name`))
	p.Choose("slice-parameter", "3")
	require.Equal(t, "optimizer", browsertest.Eval[string](p, option("slice-chart")+`.xAxis[1].name`))
	require.Equal(t, []string{"adam", "sgd", "rmsprop"}, browsertest.Eval[[]string](p, option("slice-chart")+`.xAxis[1].data`))

	// The category with the largest acquisition function has the highest bar, and all bars have the same base.
	bars := browsertest.Eval[[][2]float64](p, `(() => {
		const chart = echarts.getInstanceByDom(document.getElementById("slice-chart"));
		const {itemStyle, data} = chart.getOption().series.find((s) => s.name === "acquisition");
		const shapes = chart.getZr().storage.getDisplayList().filter((d) => d.type === "rect" && d.style.fill === itemStyle.color && d.shape.height > 0 && d.shape.width <= 24).map((d) => d.shape);
		const base = new Set(shapes.map((b) => Math.round(b.y + b.height)));
		return base.size === 1 ? data.map((d) => [d[1], shapes.find((b) => Math.abs(b.x + b.width / 2 - chart.convertToPixel({xAxisIndex: 1}, d[0])) < 1).height]) : [];
	})()`)
	require.Len(t, bars, 3)
	for i, b := range bars {
		for _, other := range bars[:i] {
			require.Equal(t, b[0] > other[0], b[1] > other[1], "%v", bars)
		}
	}
	p.Choose("slice-parameter", "0")
	require.Equal(t, "log", browsertest.Eval[string](p, option("slice-chart")+`.xAxis[1].type`))
	line := `(() => {
		const chart = echarts.getInstanceByDom(document.getElementById("slice-chart"));
		const x = chart.convertToPixel({xAxisIndex: 0}, JSON.parse(document.getElementById("data").textContent).models[0].slices[0].at);
		return chart.getZr().storage.getDisplayList().some((d) => d.shape && Math.abs(d.shape.x1 - x) < 1.5 && Math.abs(d.shape.x2 - x) < 1.5 && Math.abs(d.shape.y1 - d.shape.y2) > 100);
	})()`
	require.True(t, browsertest.Eval[bool](p, line), "a line at the incumbent")
	p.Choose("slice-through", "next")
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("slice-chart").getAttribute("aria-label")`), "next point")

	// The average over the other parameters has no acquisition function.
	p.Choose("slice-through", "average")
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("slice-chart").getAttribute("aria-label")`), "averaged over the other parameters")
	require.Contains(t, browsertest.Eval[[]string](p, names("slice-chart")), "predicted")
	require.NotContains(t, browsertest.Eval[[]string](p, names("slice-chart")), "acquisition")
	p.Choose("slice-through", "incumbent")
	require.Contains(t, browsertest.Eval[[]string](p, names("slice-chart")), "acquisition")

	// The axes of a map exchange, and the layer changes.
	x, y := browsertest.Eval[string](p, `document.getElementById("map-x").value`), browsertest.Eval[string](p, `document.getElementById("map-y").value`)
	p.Choose("map-x", y)
	require.Equal(t, x, browsertest.Eval[string](p, `document.getElementById("map-y").value`))
	p.Choose("map-layer", "probability")
	require.Equal(t, []float64{0, 1}, browsertest.Eval[[]float64](p, `[`+option("map-chart")+`.visualMap[0].min, `+option("map-chart")+`.visualMap[0].max]`))
}

// Parallel coordinates show all objectives and, of many parameters, the most important ones until others are
// chosen.
func TestParallelAxes(t *testing.T) {
	ctx := browsertest.Shared(t)
	axes := `echarts.getInstanceByDom(document.getElementById("parallel-chart")).getOption().parallelAxis.map((a) => a.name)`
	p := open(t, ctx, reportOf(t, "front"), 1280, 900, false)
	require.Equal(t, []string{"width", "depth", "kernel", "error", "latency"}, browsertest.Eval[[]string](p, axes))

	d, trials := bowl(30)
	for k := range 8 {
		d.Parameters = append(d.Parameters, space.Float(fmt.Sprintf("extra_%d", k), 0, 1))
		for i := range trials {
			trials[i].Params[d.Parameters[6+k].Name] = math.Abs(math.Sin(float64(i*k + i)))
		}
	}
	p = open(t, ctx, built(t, stored(t, d, trials...)), 1280, 900, false)
	before := browsertest.Eval[[]string](p, axes)
	require.Len(t, before, 11)
	require.Equal(t, "Parameters: 10 of 14", browsertest.Eval[string](p, `document.querySelector(".many summary").textContent`))
	hidden := browsertest.Eval[string](p, `[...document.querySelectorAll(".many input")].find((e) => !e.checked).id`)
	p.Choose(hidden, "")
	require.Len(t, browsertest.Eval[[]string](p, axes), 12)
	p.Choose(hidden, "")
	require.Equal(t, before, browsertest.Eval[[]string](p, axes))
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("parallel-chart").getAttribute("aria-label")`), "10 of 14 parameters")
}

// The thick line is the best feasible trial, the first of equal ones. Infeasible trials are dotted. An inactive
// parameter has its own place.
func TestParallelTrials(t *testing.T) {
	ctx := browsertest.Shared(t)
	d := &study.Definition{
		Version: 1, Name: "lines", Objectives: []study.Objective{{Name: "loss"}}, Require: []string{"latency <= 20"},
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Categorical("kind", "a", "b"), space.LogFloat("rate", 1e-3, 1).If(space.Equal("kind", "a")), space.Bool("wide").If(space.Equal("kind", "a"))},
	}
	var trials []store.Evaluated
	for i, numbers := range [][2]float64{{1, 30}, {4, 20}, {2, 10}, {2, 10}} {
		params := map[string]any{"x": 0.2 * float64(i), "kind": "b"}
		if i == 3 {
			params["kind"], params["rate"], params["wide"] = "a", 1e-3, false
		}
		trials = append(trials, store.Evaluated{Params: params, Numbers: map[string]float64{"loss": numbers[0], "latency": numbers[1]}})
	}
	d.Parameters[2].When.Text, d.Parameters[3].When.Text = "kind == 'a'", "kind == 'a'"
	r, err := report.BuildRecords(t.Context(), stored(t, d, trials...))
	require.NoError(t, err)
	require.Equal(t, 3, r.Best)
	require.True(t, strings.HasPrefix(r.Summary[1].Text, "4: 4 complete (1 infeasible);"), r.Summary[1].Text)
	p := open(t, ctx, r, 1280, 900, false)
	lines := func(filter string) []int {
		return browsertest.Eval[[]int](p, option("parallel-chart")+`.series[0].data.filter((d) => `+filter+`).map((d) => d.trial.id)`)
	}
	require.Equal(t, []int{3}, lines("d.lineStyle.width > 3"))
	require.Equal(t, []int{1}, lines(`d.lineStyle.type === "dotted"`))
	require.Equal(t, []int{1, 2, 4, 3}, lines("true"), "the best is on top")
	require.Equal(t, []int{1, 2, 3}, lines("d.value[2] < 1e-3 && d.value[3] === 'inactive'"))
	axis := `echarts.getInstanceByDom(document.getElementById("parallel-chart")).getModel().getComponent("parallelAxis", 2).axis.getViewLabels()[0].formattedLabel`
	require.Equal(t, "inactive", browsertest.Eval[string](p, axis))
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("parallel").innerText`), "the thick line is the best, trial 3. Dotted lines are infeasible trials.")
	require.Equal(t, []string{"3"}, browsertest.Eval[[]string](p, `[...document.querySelectorAll("#trial-table tr.best td:first-child")].map((e) => e.textContent)`))
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("trials").innerText`), "The bold trial, 3, is the best.")
}

// Without failed and stopped trials the learning curves are of complete and running trials.
func TestCurvesOfStoppedTrials(t *testing.T) {
	r, err := report.BuildRecords(t.Context(), insighttest.Study(t, "curves"))
	require.NoError(t, err)
	left := 0
	for _, x := range r.Trials {
		reports := slices.ContainsFunc(r.Curves, func(c report.Curve) bool { return c.Trial == x.ID })
		if reports && (x.State == loop.Complete || x.State == loop.Pending) {
			left++
		}
	}
	p := open(t, browsertest.Shared(t), r, 1280, 900, false)
	label := `document.getElementById("curves-chart").getAttribute("aria-label")`
	require.Contains(t, browsertest.Eval[string](p, label), "dashed curves were stopped early")
	p.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("failed").click()`))
	require.Contains(t, browsertest.Eval[string](p, label), fmt.Sprintf("Learning curves of %d trials.", left))
}

// A prediction far from all values, such as one before a wrong value was corrected, does not set the axis of the history.
func TestHistoryOfAWildPrediction(t *testing.T) {
	d, trials := bowl(20)
	r, err := report.BuildRecords(t.Context(), stored(t, d, trials...))
	require.NoError(t, err)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range r.Trials {
		if v := float64(x.Values[0]); x.State == loop.Complete {
			low, high = min(low, v), max(high, v)
		}
	}
	r.Trials[9].Predicted = []insight.Number{1e6, 9e5, 1.1e6}
	r.Trials[10].Predicted = []insight.Number{0, -1e6, insight.Number(high)}
	p := open(t, browsertest.Shared(t), r, 1280, 900, false)
	axis := browsertest.Eval[[]float64](p, `echarts.getInstanceByDom(document.getElementById("history-chart")).getModel().getComponent("yAxis").axis.scale.getExtent()`)
	reach := high - low
	require.Greater(t, axis[0], low-reach)
	require.Less(t, axis[1], high+reach)
}

// Links to sections scroll in an inline frame, whose links have the address of the page around it as base.
func TestLinksInAFrame(t *testing.T) {
	d, trials := bowl(20)
	r, err := report.BuildRecords(t.Context(), stored(t, d, trials...))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "notebook.html")
	frame := `<!DOCTYPE html><meta charset="utf-8"><title>notebook</title><iframe width="1000" height="700" srcdoc="` + template.HTMLEscapeString(html(t, r)) + `"></iframe>`
	require.NoError(t, os.WriteFile(path, []byte(frame), 0o644))
	p := browsertest.Open(t, browsertest.Shared(t), "file://"+path, 1280, 900, false)
	inside := `document.querySelector("iframe").contentWindow`
	p.Until(inside + `.document.querySelector("#trial-table")`)
	p.Do(chromedp.Evaluate[chromedp.Void](inside + `.document.querySelector('#sections a[href="#trials"]').click()`))
	p.Until(inside + `.scrollY > 300`)
	require.Equal(t, "about:srcdoc", browsertest.Eval[string](p, inside+`.location.href`))
	require.Equal(t, "trials", browsertest.Eval[string](p, inside+`.document.activeElement.id`))
}

// Names of any length do not make the page of a phone wider.
func TestLongNamesOnAPhone(t *testing.T) {
	d := &study.Definition{Version: 1, Name: strings.Repeat("study", 12), Objectives: []study.Objective{{Name: strings.Repeat("loss", 15)}}}
	var trials []store.Evaluated
	for k := range 3 {
		d.Parameters = append(d.Parameters, space.Float(fmt.Sprintf("%s_%d", strings.Repeat("x", 100), k), 0, 1))
	}
	for i := range 8 {
		params := map[string]any{}
		for k, p := range d.Parameters {
			params[p.Name] = math.Mod(0.37*float64(i*(k+1)), 1)
		}
		trials = append(trials, store.Evaluated{Params: params, Numbers: map[string]float64{d.Objectives[0].Name: math.Sin(float64(i))}})
	}
	p := open(t, browsertest.Shared(t), built(t, stored(t, d, trials...)), 390, 844, false)
	require.LessOrEqual(t, browsertest.Eval[int](p, `document.documentElement.scrollWidth`), 390)
}

// Pictures begin with parameters that are active at their points, and maps have two of them.
func TestConditionalParameters(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "conditional", Objectives: []study.Objective{{Name: "loss", NoiseFree: true}},
		Parameters: []space.Parameter{space.Categorical("kind", "a", "b"), space.Float("deep", 0, 1), space.Float("x", 0, 1), space.Float("y", 0, 1)},
	}
	d.Parameters[1].When.Text = "kind == 'b'"
	var trials []store.Evaluated
	for i := range 16 {
		u := math.Mod(0.37*float64(i), 1)
		params := map[string]any{"kind": "a", "x": u, "y": math.Mod(0.61*float64(i), 1)}
		loss := u * u
		if i%2 == 1 {
			params["kind"], params["deep"], loss = "b", u, 2+10*u
		}
		trials = append(trials, store.Evaluated{Params: params, Numbers: map[string]float64{"loss": loss}})
	}
	r := built(t, stored(t, d, trials...))
	for _, m := range r.Models[0].Maps {
		require.NotContains(t, []int{m.X, m.Y}, 1, "deep is inactive at the incumbent")
	}
	p := open(t, browsertest.Shared(t), r, 1280, 900, false)
	require.NotEmpty(t, browsertest.Eval[[]string](p, names("slice-chart")))
	require.NotEmpty(t, browsertest.Eval[[]string](p, names("next-chart")))
	p.Choose("slice-parameter", "1")
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("slice-chart").getAttribute("aria-label")`), "deep is inactive at the best trial")
}

// Labels of an axis differ, at any scale, and names of many categories have room.
func TestLabelsDiffer(t *testing.T) {
	d := &study.Definition{Version: 1, Name: "labels", Objectives: []study.Objective{{Name: "loss"}}, Parameters: []space.Parameter{
		space.Float("far", 1e15, 1e15+100), space.LogFloat("tiny", 1e-300, 1e-290), space.Int("layers", 1, 3), space.Categorical("choice"),
	}}
	for k := range 200 {
		d.Parameters[3].Values = append(d.Parameters[3].Values, fmt.Sprintf("category %d with a name of sixty characters, which has no room", k))
	}
	var trials []store.Evaluated
	for i := range 20 {
		x := float64(5 * i)
		trials = append(trials, store.Evaluated{
			Params:  map[string]any{"far": 1e15 + x, "tiny": 1e-300 * math.Pow(10, float64(i)/2), "layers": 1 + i%3, "choice": d.Parameters[3].Values[10*i]},
			Numbers: map[string]float64{"loss": 1e15 + math.Pow(x/10-4, 2)},
		})
	}
	p := open(t, browsertest.Shared(t), built(t, stored(t, d, trials...)), 1280, 900, false)
	labels := func(id, axis string) []string {
		return browsertest.Eval[[]string](p, fmt.Sprintf(`(() => {
			const model = echarts.getInstanceByDom(document.getElementById(%q)).getModel().getComponent(%q, %q === "xAxis" ? 1 : 0).axis;
			return model.getViewLabels().map((l) => l.formattedLabel);
		})()`, id, axis, axis))
	}
	for i, least := range []int{5, 3, 3, 10} {
		p.Choose("slice-parameter", fmt.Sprint(i))
		for _, axis := range []string{"xAxis", "yAxis"} {
			got := labels("slice-chart", axis)
			seen := map[string]bool{}
			for _, l := range got {
				require.False(t, seen[l], "%s %d: %q", axis, i, got)
				seen[l] = true
			}
			require.GreaterOrEqual(t, len(got), map[string]int{"xAxis": least, "yAxis": 3}[axis], "%s %d: %q", axis, i, got)
			require.LessOrEqual(t, len(got), 60)
		}
	}
	require.Equal(t, "loss − 1e15", browsertest.Eval[string](p, option("history-chart")+`.yAxis[0].name`))
	require.InDelta(t, 1e15+16, browsertest.Eval[float64](p, `JSON.parse(document.getElementById("data").textContent).trials[0].values[0]`), 0.2)
}

// The filter of failed trials and the logarithmic axis act on all pictures, and the table filters and sorts.
func TestSettingsAndTable(t *testing.T) {
	ctx := browsertest.Shared(t)
	p := open(t, ctx, reportOf(t, "mixed"), 1280, 900, false)
	for _, id := range []string{"history-chart", "slice-chart", "map-chart", "timeline-chart"} {
		require.Contains(t, browsertest.Eval[[]string](p, names(id)), "failed", id)
	}
	lines := browsertest.Eval[int](p, option("parallel-chart")+`.series[0].data.length`)
	p.Choose("failed", "")
	for _, id := range []string{"history-chart", "slice-chart", "map-chart", "timeline-chart"} {
		require.NotContains(t, browsertest.Eval[[]string](p, names(id)), "failed", id)
	}
	require.Equal(t, lines-7, browsertest.Eval[int](p, option("parallel-chart")+`.series[0].data.length`))
	require.NotContains(t, browsertest.Eval[string](p, `document.getElementById("trial-table").textContent`), "failed")
	p.Choose("failed", "")

	// A series that a reader hides in the legend stays hidden when the picture is drawn again.
	p.Do(chromedp.Evaluate[chromedp.Void](`echarts.getInstanceByDom(document.getElementById("history-chart")).dispatchAction({type: "legendToggleSelect", name: "complete"})`))
	p.Choose("failed", "")
	require.Equal(t, "false", browsertest.Eval[string](p, `String(`+option("history-chart")+`.legend[0].selected.complete)`))
	p.Choose("failed", "")

	require.Equal(t, "value", browsertest.Eval[string](p, option("history-chart")+`.yAxis[0].type`))
	p.Choose("log", "")
	for _, id := range []string{"history-chart", "slice-chart", "calibration-chart"} {
		require.Equal(t, "log", browsertest.Eval[string](p, option(id)+`.yAxis[0].type`), id)
	}

	rows := `document.querySelectorAll("#trial-table tbody tr").length`
	all := browsertest.Eval[int](p, rows)
	p.Choose("trial-state", "failed")
	require.Equal(t, 7, browsertest.Eval[int](p, rows))
	p.Choose("trial-state", "")
	p.Choose("trial-filter", "rmsprop")
	require.Less(t, browsertest.Eval[int](p, rows), all)
	p.Choose("trial-filter", "")
	p.Do(chromedp.Evaluate[chromedp.Void](`{ const b = [...document.querySelectorAll("#trial-table thead button")][2]; b.click(); b.click(); }`))
	top := browsertest.Eval[float64](p, `Number(document.querySelector("#trial-table tbody tr td:nth-child(3)").textContent)`)
	require.InDelta(t, 0.97181, top, 1e-6, "the largest accuracy is first")
	require.Equal(t, "descending", browsertest.Eval[string](p, `document.querySelectorAll("#trial-table th")[2].getAttribute("aria-sort")`))

	// The table behind a picture.
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#importance details").open = true`), chromedp.WaitVisible(chromedp.CSS("#importance details td")))
	require.Equal(t, 6, browsertest.Eval[int](p, `document.querySelectorAll("#importance details tbody tr").length`))

	// Values that are not positive have no logarithmic axis.
	d, trials := bowl(20)
	trials[3].Numbers["loss"] = -1
	r, err := report.BuildRecords(t.Context(), stored(t, d, trials...))
	require.NoError(t, err)
	p = open(t, ctx, r, 1280, 900, false)
	require.True(t, browsertest.Eval[bool](p, `document.getElementById("log").disabled`))

	// Another objective.
	p = open(t, ctx, reportOf(t, "front"), 1280, 900, false)
	p.Choose("objective", "1")
	require.Equal(t, "latency", browsertest.Eval[string](p, option("history-chart")+`.yAxis[0].name`))
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("importance-chart").getAttribute("aria-label")`), "latency")
	p.Choose("front-x", "1")
	require.Contains(t, browsertest.Eval[string](p, option("front-chart")+`.xAxis[0].name`), "latency")
}
