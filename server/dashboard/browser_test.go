package dashboard_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/internal/browsertest"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/store"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages to this folder")

func TestMain(m *testing.M) { browsertest.Main(m) }

// restored adds recorded studies to a server.
func restored(t *testing.T, s *running, names ...string) {
	for _, name := range names {
		_, err := s.Store().Restore(t.Context(), name, insighttest.Snapshot(t, name))
		require.NoError(t, err)
	}
}

// drawn is true when the pictures of a page are drawn.
const drawn = `document.querySelectorAll(".chart canvas").length > 0`

// TestScreenshots writes pictures of the pages, for people to look at.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("needs -screenshots FOLDER")
	}
	s := start(t, store.NewMemory(), server.Options{})
	restored(t, s, insighttest.Names...)
	u := s.create(t, bowl("bowl", 20))
	trials, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	_, err = u.Tell(t.Context(), store.Report{
		Trial: 1, Token: trials[0].Token, Failure: store.FailedByProgram, Message: `exit status 1; stderr ends "MemoryError: 12.4 GiB"`, Seconds: 3.5,
		Output: "{\"step\": 1, \"value\": 0.41}\nTraceback (most recent call last):\n  File \"train.py\", line 31, in <module>\n    model.fit(x, y)\nMemoryError: 12.4 GiB\n",
	})
	require.NoError(t, err)
	ctx := browsertest.New(t)
	pages := []struct{ name, path, ready string }{
		{"studies", "/", "true"}, {"study", "/studies/mixed?sort=-n.accuracy", drawn}, {"front", "/studies/front", drawn},
		{"pictures", "/studies/mixed/pictures", drawn}, {"trial", "/studies/curves/trials/12", drawn}, {"failed", "/studies/mixed/trials/15", "true"}, {"output", "/studies/bowl/trials/1", "true"},
	}
	for _, page := range pages {
		if only := os.Getenv("ONLY"); only != "" && only != page.name {
			continue
		}
		for _, v := range []struct {
			kind          string
			width, height int64
			dark          bool
		}{{"desktop", 1280, 900, false}, {"dark", 1280, 900, true}, {"phone", 390, 844, false}} {
			p := browsertest.Open(t, ctx, s.URL+page.path, v.width, v.height, v.dark)
			p.Until(page.ready)
			if page.name == "pictures" && v.kind != "dark" {
				p.Do(chromedp.Click(chromedp.CSS("#fit")))
				p.Until(`document.getElementById("slice-chart")`)
			}
			if page.name == "trial" {
				p.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("why-form").requestSubmit()`))
				p.Until(`document.querySelectorAll("#reasons li").length > 1`)
			}
			time.Sleep(300 * time.Millisecond)
			text := browsertest.Value(p, chromedp.FullScreenshot(100))
			require.NoError(t, os.WriteFile(filepath.Join(*screenshots, page.name+"-"+v.kind+".png"), text, 0o644))
			p.Close() // browsers open six connections to a server, and each page has one
		}
	}
}

// A reader watches a run: trials and the best value appear without a reload, and the filter stays.
func TestWatchARun(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 20))
	ctx := browsertest.New(t)
	list := browsertest.Open(t, ctx, s.URL+"/", 1280, 900, false)
	require.Equal(t, "new", browsertest.Eval[string](list, `document.querySelector("tbody .state").textContent`))
	p := browsertest.Open(t, ctx, s.URL+"/studies/bowl", 1280, 900, false)
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("count").textContent`), "no trials yet")
	require.Equal(t, "bowl · bo", browsertest.Eval[string](p, "document.title"))

	add(t, u, 4, 3, 2)
	p.Until(`document.querySelectorAll("#trial-table tbody tr").length === 3`)
	p.Until(drawn)
	list.Until(`document.body.textContent.includes("3 of 20") || document.querySelector("td.number").textContent === "3"`)
	add(t, u, 1)
	best := `[...document.querySelectorAll("#summary dl div")].find((e) => e.firstChild.textContent === "Best").lastChild.textContent`
	p.Until(best + ` === "1"`)
	p.Until(`echarts.getInstanceByDom(document.getElementById("history-chart")).getOption().series[0].data.length === 4`)
	require.Equal(t, "4", browsertest.Eval[string](p, `document.querySelector("tr.best th").textContent`))

	// A running trial, and its end.
	trials, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	p.Until(`document.querySelector("#summary .state.running")`)
	_, err = u.Tell(t.Context(), store.Report{Trial: trials[0].Number, Token: trials[0].Token, Numbers: map[string]float64{"loss": 0.5}})
	require.NoError(t, err)
	p.Until(best + ` === "0.5"`)

	// The logarithmic axis.
	p.Choose("log", "")
	require.Equal(t, "log", browsertest.Eval[string](p, `echarts.getInstanceByDom(document.getElementById("history-chart")).getOption().yAxis[0].type`))

	// A filter stays while results arrive.
	p.Choose("state", "failed")
	p.Until(`document.getElementById("count").textContent.startsWith("None of the 5")`)
	add(t, u, 7)
	p.Until(`document.getElementById("count").textContent.startsWith("None of the 6")`)
	require.Equal(t, "failed", browsertest.Eval[string](p, `document.getElementById("state").value`))
}

// Filters, sorting and pages change the table without another page, and the address holds them.
func TestFilter(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	restored(t, s, "mixed")
	p := browsertest.Open(t, browsertest.New(t), s.URL+"/studies/mixed", 1280, 900, false)
	rows := `document.querySelectorAll("#trial-table tbody tr").length`
	require.Equal(t, 50, browsertest.Eval[int](p, rows))
	p.Do(chromedp.Evaluate[chromedp.Void]("window.kept = true"), chromedp.Click(chromedp.CSS("#next")))
	p.Until(rows + " === 14")
	p.Choose("state", "failed")
	p.Until(rows + " === 7")
	p.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("ranges").open = true`), chromedp.SendKeys(chromedp.CSS(`[name="min.p.layers"]`), "7\r"))
	p.Until(`location.search.includes("min.p.layers=7") && ` + rows + " < 7")
	require.GreaterOrEqual(t, browsertest.Eval[int](p, `Math.min(...[...document.querySelectorAll("#trial-table tbody tr")].map((r) => Number(r.cells[4].textContent)))`), 7)
	p.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.Until(rows + " === 7")
	require.Equal(t, "", browsertest.Eval[string](p, `document.querySelector('[name="min.p.layers"]').value`))
	p.Choose("state", "")
	p.Until(rows + " === 50")
	p.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#trial-table thead a")].find((a) => a.textContent === "accuracy").click()`))
	p.Until(`document.querySelectorAll("#trial-table th")[2].getAttribute("aria-sort") === "ascending"`)
	p.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#trial-table thead a")].find((a) => a.textContent === "accuracy").click()`))
	p.Until(`document.querySelectorAll("#trial-table th")[2].getAttribute("aria-sort") === "descending"`)
	require.Equal(t, "0.971809", browsertest.Eval[string](p, `document.querySelector("#trial-table tbody tr").cells[2].textContent`))
	p.Do(chromedp.SendKeys(chromedp.CSS("#top"), "5\r"))
	p.Until(rows + " === 5")
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[name="max.n.accuracy"]').value = "abc"; document.querySelector("form.filter").requestSubmit()`))
	p.Until(`(document.querySelector("#table .error") || {}).textContent === 'the largest accuracy is "abc", want a number'`)
	require.True(t, browsertest.Eval[bool](p, "window.kept"), "the page was loaded again")
}

// While a reader types, the last query counts, whatever the order of the answers, and the history has one
// entry. Sorting by the keyboard keeps the focus.
func TestSearch(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	for _, name := range []string{"alpha", "alto", "beta"} {
		s.create(t, bowl(name, 20))
	}
	p := browsertest.Open(t, browsertest.New(t), s.URL+"/", 1280, 900, false)
	// The answer to the first letter comes last.
	p.Do(chromedp.Evaluate[chromedp.Void](`{
		const real = window.fetch;
		window.answered = 0;
		window.fetch = async (url, o) => {
			const answer = await real(url, o);
			if (String(url).endsWith("find=a")) await new Promise((done) => setTimeout(done, 800));
			window.answered++;
			return answer;
		};
		window.entries = history.length;
	}`))
	for _, text := range []string{"a", "al", "alt"} {
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const e = document.getElementById("find"); e.value = %q; e.dispatchEvent(new Event("input")); }`, text)))
	}
	p.Until(`window.answered >= 3 && location.search.includes("find=alt")`)
	time.Sleep(200 * time.Millisecond)
	require.Equal(t, []string{"alto"}, browsertest.Eval[[]string](p, `[...document.querySelectorAll("tbody th")].map((e) => e.textContent)`))
	require.Contains(t, browsertest.Eval[string](p, "location.search"), "find=alt")
	require.True(t, browsertest.Eval[bool](p, "history.length === window.entries"))

	p.Do(chromedp.Evaluate[chromedp.Void](`{ const link = document.querySelector("thead th a"); link.focus(); link.click(); }`))
	p.Until(`location.search.includes("sort=")`)
	require.Equal(t, "study", browsertest.Eval[string](p, "document.activeElement.textContent"))
}

// The pictures of the records come at once, and the pictures of the model after a fit.
func TestPictures(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	restored(t, s, "branin")
	ctx := browsertest.New(t)
	p := browsertest.Open(t, ctx, s.URL+"/studies/branin/pictures", 390, 844, true)
	p.Until(`document.getElementById("parallel-chart")`)
	require.True(t, browsertest.Eval[bool](p, `document.getElementById("slice-chart") === null`))
	p.Do(chromedp.Click(chromedp.CSS("#fit")))
	p.Until(`document.getElementById("slice-chart")`)
	for _, id := range []string{"history-chart", "next-chart", "map-chart", "importance-chart", "calibration-chart", "parallel-chart", "timeline-chart"} {
		require.True(t, browsertest.Eval[bool](p, fmt.Sprintf("document.querySelector('#%s canvas') !== null", id)), id)
	}
	require.LessOrEqual(t, browsertest.Eval[int](p, `document.documentElement.scrollWidth`), 390, "a phone scrolls sideways")
	// A change of the study is announced, and does not remove the pictures.
	u, err := s.Store().Study(t.Context(), "branin")
	require.NoError(t, err)
	_, err = u.Ask(t.Context(), 1)
	require.NoError(t, err)
	p.Until(`!document.getElementById("changed").hidden`)
	require.True(t, browsertest.Eval[bool](p, `document.getElementById("slice-chart") !== null`))

	// The page of a trial explains it.
	p = browsertest.Open(t, ctx, s.URL+"/studies/branin/trials/20", 1280, 900, false)
	p.Do(chromedp.Click(chromedp.CSS("#why")))
	p.Until(`document.getElementById("reasons").textContent.includes("nearest trial")`)
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("reasons").textContent`), "19 complete trials")
}

// A wrong token gives one line, and the right one opens the page.
func TestSignIn(t *testing.T) {
	s, tokens := protected(t, "127.0.0.1:0")
	s.create(t, bowl("bowl", 20))
	ctx := browsertest.New(t)
	p := browsertest.Open(t, ctx, s.URL+"/studies/bowl", 390, 844, false, "401")
	require.Equal(t, "Sign in", browsertest.Eval[string](p, `document.querySelector("h1").textContent`))
	p.Do(chromedp.SendKeys(chromedp.CSS("#token"), "bo_wrong\r"))
	p.Until(`document.querySelector("#login-error")`)
	require.Equal(t, "The token is not valid.", browsertest.Eval[string](p, `document.querySelector("#login-error").textContent`))
	require.NotContains(t, browsertest.Eval[string](p, "location.href"), "bo_wrong")
	p.Do(chromedp.SendKeys(chromedp.CSS("#token"), tokens[server.Read]+"\r"))
	p.Until(`document.querySelector("h1").textContent === "bowl"`)
	require.Equal(t, "/studies/bowl", browsertest.Eval[string](p, "location.pathname + location.search"))
	require.Equal(t, "", browsertest.Eval[string](p, "document.cookie"), "scripts read the session")
	p.Do(chromedp.Click(chromedp.CSS(".bar form button")))
	p.Until(`document.querySelector("#token")`)
}

// The page says that the connection is lost, and recovers when the server is back. With tokens it asks to
// sign in again, because sessions end with the process.
func TestReconnect(t *testing.T) {
	backend := keptOpen{store.NewMemory()}
	s := start(t, backend, server.Options{})
	u := s.create(t, bowl("bowl", 20))
	add(t, u, 3)
	ctx := browsertest.New(t)
	p := browsertest.Open(t, ctx, s.URL+"/studies/bowl", 1280, 900, false, "Failed to load resource", "ERR_")
	p.Until(drawn)
	time.Sleep(time.Second) // the stream of events is open
	address := s.Address
	require.NoError(t, s.Stop())
	p.Until(`document.getElementById("connection").textContent.includes("Reconnecting")`)
	s = startAt(t, backend, server.Options{}, address)
	u, err := s.Store().Study(t.Context(), "bowl")
	require.NoError(t, err)
	add(t, u, 1)
	p.Until(`document.getElementById("connection").textContent === "" && document.querySelectorAll("#trial-table tbody tr").length === 2`)

	require.NoError(t, s.Stop())
	_, options := tokenOptions(t)
	startAt(t, backend, options, address)
	p.Until(`document.getElementById("connection").textContent.includes("Sign in again")`)
}

// Hidden pages hold no connection, of which a browser opens six to a server, and catch up when they are shown.
func TestHiddenPages(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 20))
	ctx := browsertest.New(t)
	streams := func() string {
		_, _, text := s.get(t, "/metrics")
		return regexp.MustCompile(`(?m)^bo_watchers (.*)$`).FindStringSubmatch(text)[1]
	}
	show := func(p *browsertest.Tab, hidden bool) {
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %v, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`, hidden)))
	}
	var tabs []*browsertest.Tab
	for range 8 {
		p := browsertest.Open(t, ctx, s.URL+"/studies/bowl", 1280, 900, false)
		require.Eventually(t, func() bool { return streams() == "1" }, 20*time.Second, 50*time.Millisecond)
		show(p, true)
		require.Eventually(t, func() bool { return streams() == "0" }, 20*time.Second, 50*time.Millisecond)
		tabs = append(tabs, p)
	}
	add(t, u, 4, 3)
	for _, p := range tabs[:3] {
		show(p, false)
		p.Until(`document.querySelectorAll("#trial-table tbody tr").length === 2`)
	}
	require.Equal(t, "3", streams())
}

// A page of 10 000 trials opens within two seconds, and has one page of the table.
func TestManyTrials(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 2000
	}
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", n))
	values := make([]float64, n)
	for i := range values {
		values[i] = float64((i*7919)%n) + 1
	}
	add(t, u, values...)
	p := browsertest.Open(t, browsertest.New(t), s.URL+"/studies/bowl", 1280, 900, false)
	p.Until(drawn)
	opened := browsertest.Eval[float64](p, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	t.Logf("%d trials: open after %.0f ms, history after less than %.0f ms", n, opened, browsertest.Eval[float64](p, "performance.now()"))
	require.Less(t, opened, 2000.0)
	require.Equal(t, 50, browsertest.Eval[int](p, `document.querySelectorAll("#trial-table tbody tr").length`))
	require.Less(t, browsertest.Eval[int](p, `document.documentElement.outerHTML.length`), 100_000)
	begun := time.Now()
	p.Choose("state", "complete")
	p.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#trial-table thead a")].find((a) => a.textContent === "loss").click()`))
	p.Until(`document.querySelector("#trial-table tbody tr").cells[2].textContent === "1"`)
	t.Logf("filtered and sorted after %v", time.Since(begun).Round(time.Millisecond))
}

// keptOpen is a backend that a second server uses after the first.
type keptOpen struct{ store.Backend }

func (keptOpen) Close() error { return nil }
