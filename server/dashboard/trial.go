package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

const (
	maxSteps  = 500    // rows of the table of steps
	maxEvents = 10_000 // events that are read for one trial
	maxPoints = 2000   // points of the picture of the steps
)

// trialPage is the data of the page of a trial.
type trialPage struct {
	Name     string
	Number   int
	Version  string
	Previous string // links
	Next     string
	Facts    []fact
	Message  string
	Output   string // end of the output of the program
	Params   []pair
	Numbers  []pair
	Steps    []step
	Left     int // steps that the table leaves out
	Curve    json.RawMessage
	Events   []event
	More     bool // events are left out
	Why      bool // a fit can explain the trial
	Ready    bool // the explanation is in memory
}

type pair struct{ Name, Text, Remark string }

type step struct {
	Attempt          int
	Step, Name, Text string
}

type event struct {
	Time         time.Time
	Kind, Detail string
	Attempt      int
}

// trialNumber returns the number of the trial of a request.
func trialNumber(r *http.Request) (int, error) {
	n, err := strconv.Atoi(r.PathValue("trial"))
	if err != nil {
		return 0, fmt.Errorf("%w: %s", store.ErrNoTrial, plaintext.Clip(r.PathValue("trial"), 20))
	}
	return n, nil
}

// trial serves the page of a trial.
func (d *Dashboard) trial(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("study")
	n, err := trialNumber(r)
	if err != nil {
		return err
	}
	u, s, err := d.open(r)
	if err != nil {
		return err
	}
	t, now, err := u.Trial(ctx, n)
	if err != nil {
		return err
	}
	definition, sp, err := u.Definition(ctx)
	if err != nil {
		return err
	}
	page := &trialPage{
		Name: name, Number: n, Version: fmt.Sprintf("%x", version(s)), Message: t.Message, Facts: trialFacts(&t, now, definition),
		Why: t.Source != loop.Added, Ready: d.jobs.finished(whyKey(s, n)),
	}
	if n > 1 {
		page.Previous = d.at(studyPath(name, "trials", strconv.Itoa(n-1)))
	}
	if n < s.Trials {
		page.Next = d.at(studyPath(name, "trials", strconv.Itoa(n+1)))
	}
	if page.Params, err = paramsOf(&t, sp); err != nil {
		return err
	}
	page.Numbers = numbersOf(&t, definition)
	if page.Output, err = u.Output(ctx, &t); err != nil {
		return err
	}
	steps, err := u.Steps(ctx, n)
	if err != nil {
		return err
	}
	if err := page.addSteps(&t, steps, definition); err != nil {
		return err
	}
	if err := page.addEvents(ctx, u, &t); err != nil {
		return err
	}
	return d.render(w, r, http.StatusOK, "trial", frame{Title: fmt.Sprintf("Trial %d of %s", n, name), Study: name, Tab: "trial"}, page)
}

// trialFacts describes a trial.
func trialFacts(t *store.Trial, now time.Time, d *study.Definition) []fact {
	s := stateOf(&store.View{Definition: d, Now: now}, t)
	out := []fact{{Name: "State", Text: s, Class: "state " + s}}
	add := func(name, text string, present bool) {
		if present {
			out = append(out, fact{Name: name, Text: text})
		}
	}
	at := func(name string, time time.Time) {
		if !time.IsZero() {
			out = append(out, fact{Name: name, Time: time})
		}
	}
	add("Failure", string(t.Failure), t.Failure != "")
	add("Source", sourceText(t), true)
	if p := t.Prediction; p != nil && p.Mean != nil {
		text := figure(*p.Mean)
		if p.SD != nil {
			low, high := (&loop.Prediction{Mean: *p.Mean, SD: *p.SD, Interval: p.Interval}).Interval95()
			text += fmt.Sprintf(" (95 %% interval %s to %s)", figure(low), figure(high))
		}
		add("Predicted before", text, true)
	}
	add("Warnings", strings.Join(t.Warnings, "; "), len(t.Warnings) > 0)
	add("Worker", t.Owner.Name, t.Owner.Name != "")
	add("Attempts", strconv.Itoa(t.Attempt)+lostText(t.Lost), t.Attempt > 0)
	add("Evaluation", figure(t.Seconds)+" seconds", t.Seconds > 0)
	at("Created", t.Created)
	at("Started", t.Started)
	at("Finished", t.Finished)
	if t.Running(now) {
		at("Lease until", t.Lease)
	}
	return out
}

func lostText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d lost their worker", n)
}

// sourceText describes how a trial came about.
func sourceText(t *store.Trial) string {
	switch t.Source {
	case loop.Design:
		return "initial design"
	case loop.First:
		return "point to try first, from the definition"
	case loop.Enqueued:
		return "enqueued"
	case loop.Added:
		return "evaluated elsewhere and added"
	}
	if t.Fit > 0 {
		return fmt.Sprintf("%s, by fit %d", t.Source, t.Fit)
	}
	return string(t.Source)
}

// paramsOf lists the parameters in the order of the definition, and then others.
func paramsOf(t *store.Trial, sp *space.Space) ([]pair, error) {
	values := map[string]any{}
	if err := json.Unmarshal(t.Params, &values); err != nil {
		return nil, err
	}
	var out []pair
	for _, p := range sp.Parameters() {
		v, ok := values[p.Name]
		one := pair{Name: p.Name, Text: exact(v)}
		if !ok {
			one.Text = "inactive"
		}
		delete(values, p.Name)
		out = append(out, one)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, pair{name, exact(values[name]), "not in the present definition"})
	}
	return out, nil
}

// exact writes a value with all digits.
func exact(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return text(v)
}

// numbersOf lists the reported numbers: the objectives, and then others.
func numbersOf(t *store.Trial, d *study.Definition) []pair {
	var out []pair
	left := maps.Clone(t.Measured())
	for _, g := range d.Goals() {
		if x, ok := left[g.Name]; ok {
			goal := "objective to minimise"
			if g.Goal == study.Maximize {
				goal = "objective to maximise"
			}
			out = append(out, pair{g.Name, exact(x), goal})
			delete(left, g.Name)
		}
	}
	requirements := d.Requirements()
	for _, name := range slices.Sorted(maps.Keys(left)) {
		one := pair{Name: name, Text: exact(left[name])}
		for i, q := range requirements {
			if q.Name == name {
				one.Remark = "meets " + d.Require[i]
				if q.AtLeast && left[name] < q.Bound || !q.AtLeast && left[name] > q.Bound {
					one.Remark = "misses " + d.Require[i]
				}
			}
		}
		out = append(out, one)
	}
	return out
}

// addSteps adds the last steps, and the data of their picture.
func (p *trialPage) addSteps(t *store.Trial, steps []store.Step, d *study.Definition) error {
	slices.SortStableFunc(steps, func(a, b store.Step) int {
		switch {
		case a.Attempt != b.Attempt:
			return a.Attempt - b.Attempt
		case a.Step < b.Step:
			return -1
		case a.Step > b.Step:
			return 1
		}
		return 0
	})
	objective := d.Objective()
	last := 0
	for i := range steps {
		last = max(last, steps[i].Attempt)
		if !steps[i].Usable() {
			steps[i].Value = math.NaN()
		}
	}
	var curve [][2]insight.Number
	for _, s := range steps {
		if s.Name == objective.Name && s.Attempt == last {
			curve = append(curve, [2]insight.Number{insight.Number(s.Step), insight.Number(s.Value)})
		}
	}
	if len(curve) > maxPoints {
		curve = curve[len(curve)-maxPoints:]
	}
	p.Left = max(0, len(steps)-maxSteps)
	for _, s := range steps[p.Left:] {
		p.Steps = append(p.Steps, step{s.Attempt, figure(s.Step), s.Name, exact(s.Value)})
	}
	if len(curve) == 0 {
		return nil
	}
	state := string(t.State)
	var err error
	p.Curve, err = json.Marshal(map[string]any{
		"study":  map[string]any{"objectives": []map[string]any{{"name": objective.Name, "maximize": objective.Goal == study.Maximize}}},
		"axes":   []any{},
		"models": []any{}, "timeline": map[string]any{"lanes": []any{}},
		"trials": []map[string]any{{"id": t.Number, "state": state, "params": []any{}, "values": []any{nil}}},
		"curves": []map[string]any{{"trial": t.Number, "steps": curve}},
	})
	return err
}

// addEvents adds the events of the trial, except its output.
func (p *trialPage) addEvents(ctx context.Context, u *store.Study, t *store.Trial) error {
	since, read := t.Asked-1, 0
	for since < t.Revision && read < maxEvents {
		list, err := u.Events(ctx, since, 1000)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
		for _, e := range list {
			since = e.Revision
			if e.Trial == t.Number && e.Kind != store.TrialOutput {
				p.Events = append(p.Events, event{e.Time, string(e.Kind), e.Detail, e.Attempt})
			}
		}
		read += len(list)
	}
	p.More = since < t.Revision
	return nil
}

func whyKey(s *store.Summary, n int) string {
	return fmt.Sprintf("reasons for trial %d of %s of %d", n, s.Name, s.Created.UnixNano())
}

// why sends the reasons for a trial, after a fit to the results before it.
func (d *Dashboard) why(w http.ResponseWriter, r *http.Request) error {
	n, err := trialNumber(r)
	if err != nil {
		return err
	}
	u, err := d.handleOf(r)
	if err != nil {
		return err
	}
	s, err := u.Summary(r.Context())
	if err != nil {
		return err
	}
	if _, _, err := u.Trial(r.Context(), n); err != nil {
		return err
	}
	return d.followJob(w, r, whyKey(s, n), func(ctx context.Context) (any, error) {
		out, err := report.Why(ctx, u, n)
		if err != nil && ctx.Err() == nil {
			err = plainError{fmt.Errorf("the fit failed: %w", err)}
		}
		return out, err
	})
}
