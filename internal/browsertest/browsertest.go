// Package browsertest opens pages in a headless Chromium, for tests.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser starts the browser that all tests of a package share. Main stops it. The headless shell has the same
// engine as Chromium without its windows and services, and a page costs it half the processor time.
var browser = sync.OnceValues(func() (context.Context, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stopBrowser := chromedp.NewContext(allocator)
		shutdown = func() { stopBrowser(); stopAllocator() }
		return ctx, chromedp.Do(ctx)
	}
	return nil, exec.ErrNotFound
})

var shutdown = func() {}

// Main runs the tests of a package, stops the browser and ends the program. The TestMain of a package that calls
// New calls it.
func Main(m *testing.M) {
	started = true
	code := m.Run()
	shutdown()
	os.Exit(code)
}

var started bool

// Shared returns the context of a headless Chromium whose process, cookies and storage all tests of a package
// share. Without Chromium the test is skipped, and fails with CI=true.
func Shared(t *testing.T) context.Context {
	require.True(t, started, "TestMain does not call browsertest.Main")
	ctx, err := browser()
	if errors.Is(err, exec.ErrNotFound) {
		require.NotEqual(t, "true", os.Getenv("CI"), "Chromium is missing: .ci/packages installs it")
		t.Skip("Chromium is missing")
	}
	require.NoError(t, err)
	return ctx
}

// New is Shared with cookies and storage of its own, which cost about a second of processor time.
func New(t *testing.T) context.Context {
	ctx, stop := chromedp.NewContext(Shared(t), chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}

// Tab is a page of the browser with the messages of its console.
type Tab struct {
	*testing.T
	Close    func() // closes the tab before the end of the test
	ctx      context.Context
	mu       sync.Mutex
	messages []string
	expected []string
}

// Open opens an address in a new tab. At the end of the test, a message of the console, or a violation of the
// policy of the page, fails it. Messages that contain one of the expected texts are no fault.
func Open(t *testing.T, ctx context.Context, address string, width, height int64, dark bool, expected ...string) *Tab {
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	p := &Tab{T: t, Close: stop, ctx: ctx, expected: expected}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, log.Enable, struct{}{})
	require.NoError(t, err)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
	require.NoError(t, err)
	p.Do(chromedp.EmulateViewport(width, height))
	p.navigate(address)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.messages)
	})
	return p
}

// navigate opens an address. A busy browser may abort the first attempts, while it opens the empty page of the tab.
func (p *Tab) navigate(address string) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	var err error
	for range 3 {
		if err = chromedp.Do(ctx, chromedp.Navigate(address)); err == nil || !strings.Contains(err.Error(), "ERR_ABORTED") {
			break
		}
	}
	require.NoError(p, err)
}

// listen records the messages of the console.
func (p *Tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note := func(format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		for _, text := range p.expected {
			if strings.Contains(message, text) {
				return
			}
		}
		p.messages = append(p.messages, message)
	}
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

const limit = 2 * time.Minute // of an action

// Do runs actions.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	require.NoError(p, chromedp.Do(ctx, actions...))
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](p *Tab, expression string) T {
	p.Helper()
	return Value(p, chromedp.Evaluate[T](expression))
}

// Value runs an action and returns its value.
func Value[T any](p *Tab, a chromedp.Action[T]) T {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	out, err := chromedp.Run(ctx, a)
	require.NoError(p, err)
	return out
}

// Until waits until a JavaScript expression is true. While the browser changes pages, the expression
// may throw or have no page.
func (p *Tab) Until(expression string) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	for ctx.Err() == nil {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(() => { try { return Boolean("+expression+") } catch { return false } })()")); err == nil && ok {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Fail(p, "the condition was not met", expression)
}

// Choose sets a control as a user does.
func (p *Tab) Choose(id, value string) {
	p.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const e = document.getElementById(%q);
		if (e.type === "checkbox") e.click();
		else { e.value = %q; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input", {bubbles: true})); }
	}`, id, value)))
}
