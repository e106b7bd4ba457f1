package report_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

var screenshots = flag.String("screenshots", "", "write pictures of the reports to this folder")

// browser returns a context of a headless Chromium. Without Chromium the test is skipped, and fails with
// CI=true.
func browser(t *testing.T) context.Context {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		require.NotEqual(t, "true", os.Getenv("CI"), "Chromium is missing: .ci/packages installs it")
		t.Skip("Chromium is missing")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}

// tab is a page of the browser with the messages of its console.
type tab struct {
	*testing.T
	ctx      context.Context
	mu       sync.Mutex
	messages []string
}

// open opens a report in a new tab. At the end of the test, a message of the console, or a violation of the
// policy, fails it.
func open(t *testing.T, ctx context.Context, r *report.Report, width, height int64, dark bool) *tab {
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, r.WriteHTML(f))
	require.NoError(t, f.Close())
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	p := &tab{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err = chromedp.Call(ctx, log.Enable, struct{}{})
	require.NoError(t, err)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
	require.NoError(t, err)
	p.do(chromedp.EmulateViewport(width, height), chromedp.Navigate("file://"+path))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.messages)
	})
	return p
}

// listen records the messages of the console.
func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note := func(format string, args ...any) { p.messages = append(p.messages, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		note("exception: %s at line %d: %+v", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			note("console %s: %s %s", e.Type, a.Value, a.Description)
		}
	case *log.EventEntryAdded:
		note("log %s: %s", e.Entry.Level, e.Entry.Text)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, 2*time.Minute)
	defer stop()
	require.NoError(p, chromedp.Do(ctx, actions...))
}

// eval returns the value of a JavaScript expression.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	return value(p, chromedp.Evaluate[T](expression))
}

func value[T any](p *tab, a chromedp.Action[T]) T {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, 2*time.Minute)
	defer stop()
	out, err := chromedp.Run(ctx, a)
	require.NoError(p, err)
	return out
}

func built(t *testing.T, u *store.Study) *report.Report {
	r, err := report.Build(t.Context(), u, report.Options{})
	require.NoError(t, err)
	return r
}

// TestScreenshots writes pictures of the reports, for people to look at.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("needs -screenshots FOLDER")
	}
	ctx := browser(t)
	write := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name), content, 0o644))
	}
	for _, name := range insighttest.Names {
		if only := os.Getenv("ONLY"); only != "" && !strings.Contains(only, name) {
			continue
		}
		r := built(t, insighttest.Study(t, name))
		for _, v := range []struct {
			kind          string
			width, height int64
			dark          bool
		}{{"desktop", 1280, 900, false}, {"dark", 1280, 900, true}, {"phone", 390, 844, false}} {
			write(name+"-"+v.kind+".png", value(open(t, ctx, r, v.width, v.height, v.dark), chromedp.FullScreenshot(100)))
		}
		write(name+".pdf", value(open(t, ctx, r, 1280, 900, false), chromedp.PrintToPDF()))
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

// choose sets a control as a user does.
func (p *tab) choose(id, value string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const e = document.getElementById(%q);
		if (e.type === "checkbox") e.click();
		else { e.value = %q; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input", {bubbles: true})); }
	}`, id, value)))
}

// All reports open without a message of the console, also on a phone and in the dark, with all pictures and
// with descriptions.
func TestReportsOpen(t *testing.T) {
	ctx := browser(t)
	studies := insighttest.Names
	if testing.Short() {
		studies = []string{"mixed", "front"}
	}
	for _, name := range studies {
		r := built(t, insighttest.Study(t, name))
		p := open(t, ctx, r, 390, 844, true)
		require.Contains(t, eval[string](p, `getComputedStyle(document.body).backgroundColor`), "22, 27, 34")
		require.LessOrEqual(t, eval[int](p, `document.documentElement.scrollWidth`), 390, "%s: a phone scrolls sideways", name)
		ids := eval[[]string](p, charts)
		want := []string{"history-chart", "next-chart", "slice-chart", "map-chart", "importance-chart", "calibration-chart", "probability-chart", "parallel-chart", "timeline-chart"}
		if name == "front" {
			want = append(want, "front-chart", "hypervolume-chart")
		}
		if name == "curves" {
			want = append(want, "curves-chart")
		}
		require.ElementsMatch(t, want, ids, name)
		require.Zero(t, eval[int](p, `[...document.querySelectorAll(".chart")].filter((e) => !e.getAttribute("aria-label") || !e.querySelector("canvas")).length`))
		require.Zero(t, eval[int](p, `[...document.querySelectorAll("select, input")].filter((e) => e.labels.length === 0).length`), "a control without a label")
		require.Zero(t, eval[int](p, `[...document.querySelectorAll("section")].filter((e) => !e.querySelector("h2")).length`))
	}
}

// Hover and the arrow keys show a tooltip, and a choice of parameters changes the pictures.
func TestPicturesAnswer(t *testing.T) {
	p := open(t, browser(t), built(t, insighttest.Study(t, "mixed")), 1280, 900, false)

	// A mouse over the first complete trial of the history.
	at := eval[[]float64](p, `(() => {
		const box = document.getElementById("history-chart");
		box.scrollIntoView({block: "center"});
		const chart = echarts.getInstanceByDom(box);
		const point = chart.getOption().series[0].data[4].value;
		const [x, y] = chart.convertToPixel({seriesIndex: 0}, point);
		const r = box.getBoundingClientRect();
		return [r.x + x, r.y + y];
	})()`)
	p.do(chromedp.Sleep(200*time.Millisecond), chromedp.MouseEvent("mouseMoved", at[0]-3, at[1]), chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	p.do(chromedp.WaitVisible(chromedp.CSS("#history-chart .tip")))
	tip := value(p, chromedp.Text(chromedp.CSS("#history-chart .tip")))
	require.Contains(t, tip, "trial ")
	require.Contains(t, tip, "accuracy")
	require.Contains(t, tip, "learning_rate")

	// The keyboard.
	p.do(chromedp.Focus(chromedp.CSS("#importance-chart")), chromedp.KeyEvent(kb.ArrowRight))
	p.do(chromedp.WaitVisible(chromedp.CSS("#importance-chart .tip")))
	require.Contains(t, eval[string](p, `document.querySelector("[aria-live].skip").textContent`), "with interactions")

	// The parameter of a slice, by its name, with the names of categories.
	require.Equal(t, "learning_rate", eval[string](p, option("slice-chart")+`.xAxis[1].name`))
	p.choose("slice-parameter", "3")
	require.Equal(t, "optimizer", eval[string](p, option("slice-chart")+`.xAxis[1].name`))
	require.Equal(t, []string{"adam", "sgd", "rmsprop"}, eval[[]string](p, option("slice-chart")+`.xAxis[1].data`))
	p.choose("slice-parameter", "0")
	require.Equal(t, "log", eval[string](p, option("slice-chart")+`.xAxis[1].type`))
	line := `(() => {
		const chart = echarts.getInstanceByDom(document.getElementById("slice-chart"));
		const x = chart.convertToPixel({xAxisIndex: 0}, JSON.parse(document.getElementById("data").textContent).models[0].slices[0].at);
		return chart.getZr().storage.getDisplayList().some((d) => d.shape && Math.abs(d.shape.x1 - x) < 1.5 && Math.abs(d.shape.x2 - x) < 1.5 && Math.abs(d.shape.y1 - d.shape.y2) > 100);
	})()`
	require.True(t, eval[bool](p, line), "a line at the incumbent")
	p.choose("slice-through", "next")
	require.Contains(t, eval[string](p, `document.getElementById("slice-chart").getAttribute("aria-label")`), "next point")

	// The average over the other parameters has no acquisition function.
	p.choose("slice-through", "average")
	require.Contains(t, eval[string](p, `document.getElementById("slice-chart").getAttribute("aria-label")`), "averaged over the other parameters")
	require.Contains(t, eval[[]string](p, names("slice-chart")), "predicted")
	require.NotContains(t, eval[[]string](p, names("slice-chart")), "acquisition")
	p.choose("slice-through", "incumbent")
	require.Contains(t, eval[[]string](p, names("slice-chart")), "acquisition")

	// The axes of a map exchange, and the layer changes.
	x, y := eval[string](p, `document.getElementById("map-x").value`), eval[string](p, `document.getElementById("map-y").value`)
	p.choose("map-x", y)
	require.Equal(t, x, eval[string](p, `document.getElementById("map-y").value`))
	p.choose("map-layer", "probability")
	require.Equal(t, []float64{0, 1}, eval[[]float64](p, `[`+option("map-chart")+`.visualMap[0].min, `+option("map-chart")+`.visualMap[0].max]`))
}

// Parallel coordinates show all objectives and, of many parameters, the most important ones until others are
// chosen.
func TestParallelAxes(t *testing.T) {
	ctx := browser(t)
	axes := `echarts.getInstanceByDom(document.getElementById("parallel-chart")).getOption().parallelAxis.map((a) => a.name)`
	p := open(t, ctx, built(t, insighttest.Study(t, "front")), 1280, 900, false)
	require.Equal(t, []string{"width", "depth", "kernel", "error", "latency"}, eval[[]string](p, axes))

	d, trials := bowl(30)
	for k := range 24 {
		d.Parameters = append(d.Parameters, space.Float(fmt.Sprintf("extra_%d", k), 0, 1))
		for i := range trials {
			trials[i].Params[d.Parameters[6+k].Name] = math.Abs(math.Sin(float64(i*k + i)))
		}
	}
	p = open(t, ctx, built(t, stored(t, d, trials...)), 1280, 900, false)
	before := eval[[]string](p, axes)
	require.Len(t, before, 11)
	require.Equal(t, "Parameters: 10 of 30", eval[string](p, `document.querySelector(".many summary").textContent`))
	hidden := eval[string](p, `[...document.querySelectorAll(".many input")].find((e) => !e.checked).id`)
	p.choose(hidden, "")
	require.Len(t, eval[[]string](p, axes), 12)
	p.choose(hidden, "")
	require.Equal(t, before, eval[[]string](p, axes))
	require.Contains(t, eval[string](p, `document.getElementById("parallel-chart").getAttribute("aria-label")`), "10 of 30 parameters")
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
	p := open(t, browser(t), built(t, stored(t, d, trials...)), 1280, 900, false)
	labels := func(id, axis string) []string {
		return eval[[]string](p, fmt.Sprintf(`(() => {
			const model = echarts.getInstanceByDom(document.getElementById(%q)).getModel().getComponent(%q, %q === "xAxis" ? 1 : 0).axis;
			return model.getViewLabels().map((l) => l.formattedLabel);
		})()`, id, axis, axis))
	}
	for i, least := range []int{5, 3, 3, 10} {
		p.choose("slice-parameter", fmt.Sprint(i))
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
	require.Equal(t, "loss − 1e15", eval[string](p, option("history-chart")+`.yAxis[0].name`))
	require.InDelta(t, 1e15+16, eval[float64](p, `JSON.parse(document.getElementById("data").textContent).trials[0].values[0]`), 0.2)
}

// The filter of failed trials and the logarithmic axis act on all pictures, and the table filters and sorts.
func TestSettingsAndTable(t *testing.T) {
	ctx := browser(t)
	p := open(t, ctx, built(t, insighttest.Study(t, "mixed")), 1280, 900, false)
	for _, id := range []string{"history-chart", "slice-chart", "map-chart", "timeline-chart"} {
		require.Contains(t, eval[[]string](p, names(id)), "failed", id)
	}
	lines := eval[int](p, option("parallel-chart")+`.series[0].data.length`)
	p.choose("failed", "")
	for _, id := range []string{"history-chart", "slice-chart", "map-chart", "timeline-chart"} {
		require.NotContains(t, eval[[]string](p, names(id)), "failed", id)
	}
	require.Equal(t, lines-7, eval[int](p, option("parallel-chart")+`.series[0].data.length`))
	require.NotContains(t, eval[string](p, `document.getElementById("trial-table").textContent`), "failed")
	p.choose("failed", "")

	require.Equal(t, "value", eval[string](p, option("history-chart")+`.yAxis[0].type`))
	p.choose("log", "")
	for _, id := range []string{"history-chart", "slice-chart", "calibration-chart"} {
		require.Equal(t, "log", eval[string](p, option(id)+`.yAxis[0].type`), id)
	}

	rows := `document.querySelectorAll("#trial-table tbody tr").length`
	all := eval[int](p, rows)
	p.choose("trial-state", "failed")
	require.Equal(t, 7, eval[int](p, rows))
	p.choose("trial-state", "")
	p.choose("trial-filter", "rmsprop")
	require.Less(t, eval[int](p, rows), all)
	p.choose("trial-filter", "")
	p.do(chromedp.Evaluate[chromedp.Void](`{ const b = [...document.querySelectorAll("#trial-table thead button")][2]; b.click(); b.click(); }`))
	top := eval[float64](p, `Number(document.querySelector("#trial-table tbody tr td:nth-child(3)").textContent)`)
	require.InDelta(t, 0.97181, top, 1e-6, "the largest accuracy is first")
	require.Equal(t, "descending", eval[string](p, `document.querySelectorAll("#trial-table th")[2].getAttribute("aria-sort")`))

	// The table behind a picture.
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#importance details").open = true`), chromedp.WaitVisible(chromedp.CSS("#importance details td")))
	require.Equal(t, 6, eval[int](p, `document.querySelectorAll("#importance details tbody tr").length`))

	// Values that are not positive have no logarithmic axis.
	d, trials := bowl(20)
	trials[3].Numbers["loss"] = -1
	p = open(t, ctx, built(t, stored(t, d, trials...)), 1280, 900, false)
	require.True(t, eval[bool](p, `document.getElementById("log").disabled`))

	// Another objective.
	p = open(t, ctx, built(t, insighttest.Study(t, "front")), 1280, 900, false)
	p.choose("objective", "1")
	require.Equal(t, "latency", eval[string](p, option("history-chart")+`.yAxis[0].name`))
	require.Contains(t, eval[string](p, `document.getElementById("importance-chart").getAttribute("aria-label")`), "latency")
	p.choose("front-x", "1")
	require.Contains(t, eval[string](p, option("front-chart")+`.xAxis[0].name`), "latency")
}
