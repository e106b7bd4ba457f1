package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// progress reports a run on stderr: a line for each trial, and on a terminal a live line below
// them that is rewritten in place.
type progress struct {
	out    io.Writer
	width  func() int // width of the terminal; nil elsewhere
	now    func() time.Time
	budget int
	quit   chan struct{}
	gone   sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	finished   int
	best       string
	phase      string // phase of the current suggestion, or ""
	detail     surrogate.Progress
	phaseStart time.Time
	evaluating int
	evalStart  time.Time
	ends       []time.Time // start of the run and ends of trials, the last few
	shown      int         // runes of the live line on the screen
	warnings   *warnings
	spent      map[string]float64 // seconds in each phase
}

// window is the number of trials from which the remaining time is estimated.
const window = 8

func newProgress(out io.Writer, budget, finished int) *progress {
	p := &progress{out: out, width: terminal(out), now: time.Now, budget: budget, finished: finished, quit: make(chan struct{}), spent: map[string]float64{}}
	p.warnings = newWarnings(p.note)
	p.phaseStart = p.now()
	p.ends = []time.Time{p.phaseStart}
	if p.width != nil {
		p.gone.Go(p.animate)
	}
	return p
}

// terminal returns a function for the width of out, or nil if out is no terminal.
func terminal(out io.Writer) func() int {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w < 20 {
			return 80
		}
		return w
	}
}

func (p *progress) animate() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// close removes the live line, ends the current phase and prints repeated warnings.
func (p *progress) close() {
	close(p.quit)
	p.gone.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.enter("")
	p.warnings.repeated()
	p.closed = true
}

func (p *progress) handle(e loop.Event, best *loop.Trial) {
	p.report(e, "value "+short(e.Trial.Value), best)
}

// report is handle with the text of the numbers of a complete trial.
func (p *progress) report(e loop.Event, numbers string, best *loop.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if best != nil {
		p.best = short(best.Value)
	}
	switch e.Kind {
	case loop.FitStarted:
		p.enter("fit")
	case loop.Working:
		if e.Progress.Phase == "acquisition" && p.phase == "fit" {
			p.enter("suggest")
		}
		p.detail = e.Progress
	case loop.TrialAsked:
		p.enter("")
	case loop.TrialStarted:
		if p.evaluating == 0 {
			p.evalStart = p.now()
		}
		p.evaluating++
	case loop.TrialFinished, loop.TrialFailed, loop.TrialStopped:
		p.evaluating--
		p.spent["evaluate"] += e.Trial.EvaluateSeconds
		p.finished++
		p.ends = append(p.ends, p.now())
		if len(p.ends) > window {
			p.ends = p.ends[1:]
		}
		p.tell(e, numbers)
	}
	switch e.Kind {
	case loop.TrialAsked:
		p.warnings.add(e.Trial.ID, e.Trial.Warnings)
	case loop.Warned:
		p.warnings.add(0, e.Warnings)
	}
	if p.width != nil {
		p.draw()
	}
}

func (p *progress) enter(phase string) {
	if p.phase != "" {
		p.spent[p.phase] += p.now().Sub(p.phaseStart).Seconds()
	}
	p.phase, p.detail, p.phaseStart = phase, surrogate.Progress{}, p.now()
}

// tell prints the line of a finished trial: its numbers or its failure. A new best has a
// second line with its parameters.
func (p *progress) tell(e loop.Event, numbers string) {
	t := e.Trial
	line := fmt.Sprintf("trial %*d/%d", len(fmt.Sprint(p.budget)), t.ID, p.budget)
	if e.Kind == loop.TrialFailed {
		p.print(line + "  failed: " + oneLine(t.Error))
		return
	}
	if e.Kind == loop.TrialStopped {
		p.print(line + "  stopped: " + oneLine(t.Error))
		return
	}
	p.note(fmt.Sprintf("%s  %-17s  %s", line, numbers, duration(t.EvaluateSeconds)))
	if e.Improved {
		p.print("  best: " + display(t.Point))
	}
}

// print writes a line that stays, above the live line, cut to the width of the terminal.
func (p *progress) print(line string) {
	if p.width != nil {
		line = clip(line, p.width()-1)
	}
	p.note(line)
}

// note writes a whole line that stays, above the live line.
func (p *progress) note(line string) {
	p.clear()
	fmt.Fprintln(p.out, strings.TrimRight(line, " "))
}

func (p *progress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.shown))
		p.shown = 0
	}
}

func (p *progress) draw() {
	line := clip(p.line(), p.width()-1)
	n := len([]rune(line))
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.shown-n)))
	p.shown = n
}

// line returns the live line.
func (p *progress) line() string {
	parts := []string{fmt.Sprintf("%d/%d trials", p.finished, p.budget)}
	if p.best != "" {
		parts = append(parts, "best "+p.best)
	}
	switch now := p.now(); {
	case p.phase != "":
		parts = append(parts, p.phase+" "+duration(now.Sub(p.phaseStart).Seconds())+detail(p.detail))
	case p.evaluating > 0:
		s := "evaluate " + duration(now.Sub(p.evalStart).Seconds())
		if p.evaluating > 1 {
			s += fmt.Sprintf(" (%d at once)", p.evaluating)
		}
		parts = append(parts, s)
	}
	if left, ok := p.left(); ok {
		parts = append(parts, "about "+duration(left)+" left")
	}
	return strings.Join(parts, "   ")
}

func detail(d surrogate.Progress) string {
	switch {
	case d.Total > 0:
		return fmt.Sprintf(" (%s %d/%d)", d.Phase, d.Done, d.Total)
	case d.Phase != "":
		return fmt.Sprintf(" (%s)", d.Phase)
	}
	return ""
}

// left estimates the remaining seconds from the pace of the last trials.
func (p *progress) left() (float64, bool) {
	n := len(p.ends) - 1
	if n < 2 || p.finished >= p.budget {
		return 0, false
	}
	last := p.ends[n]
	pace := last.Sub(p.ends[0]).Seconds() / float64(n)
	// A trial that takes longer than the others slows the pace.
	since := p.now().Sub(last).Seconds()
	pace = max(pace, (last.Sub(p.ends[0]).Seconds()+since)/float64(n+1))
	return max(0, pace*float64(p.budget-p.finished)-since), true
}

// duration formats seconds for display.
func duration(s float64) string {
	switch {
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 59.5:
		return fmt.Sprintf("%.0f s", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d min", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d:%02d h", int(s)/3600, int(s)%3600/60)
}

func short(x float64) string { return string(appendShort(nil, x)) }

// shortDigits is the number of significant digits of numbers for display.
const shortDigits = 6

func appendShort(text []byte, x float64) []byte {
	return strconv.AppendFloat(text, x, 'g', shortDigits, 64)
}

func clip(line string, width int) string {
	if r := []rune(line); len(r) > width {
		return string(r[:max(0, width-1)]) + "…"
	}
	return line
}

// display formats the parameters of p with six digits.
func display(p space.Point) string {
	if p.Space() == nil {
		return "a point outside the present space"
	}
	var parts []string
	for _, q := range p.Space().Parameters() {
		if !p.Active(q.Name) {
			continue
		}
		text := p.Text(q.Name)
		if x, ok := p.Value(q.Name).(float64); ok {
			text = short(x)
		}
		parts = append(parts, q.Name+"="+text)
	}
	return printable(strings.Join(parts, " "))
}
