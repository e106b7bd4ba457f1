package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

const (
	pageStudies = 50
	maxFacts    = 1000 // studies whose facts are held in memory
	maxPending  = 10_000
)

// facts are what a list shows about a study beside its summary. They depend on the revision alone.
type facts struct {
	version uint64
	best    string
	link    string // to the best trial
	changed time.Time
	pending int
	ended   string // reason why no further trial is issued, "" for none
}

// factCache holds the facts of studies by name.
type factCache struct {
	mu sync.Mutex
	by map[string]facts
}

func (c *factCache) get(name string, version uint64) (facts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.by[name]
	return f, ok && f.version == version
}

func (c *factCache) put(name string, f facts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) >= maxFacts || c.by == nil {
		c.by = map[string]facts{}
	}
	c.by[name] = f
}

// line is a study of the list.
type line struct {
	Name, Link string
	State      state
	Trials     int
	Finished   int
	Budget     int // 0 is none
	Counted    int // trials that count against the budget
	Best       string
	BestLink   string
	Created    time.Time
	Changed    time.Time
}

// state is the state of a study in words, and the class of its mark.
type state struct{ Text, Class string }

// studyList is the data of the list of studies.
type studyList struct {
	Version  string
	Lines    []line
	Total    int
	Matching int
	Find     string
	Sort     string
	Previous string
	Next     string
	Heads    []head
}

// studies serves the list of studies.
func (d *Dashboard) studies(w http.ResponseWriter, r *http.Request) error {
	list, err := d.list(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	out := studyList{Version: fmt.Sprintf("%x", versionOf(list)), Total: len(list), Find: query.Get("find"), Sort: cmp.Or(query.Get("sort"), "-created")}
	list = slices.DeleteFunc(list, func(s store.Summary) bool {
		return !strings.Contains(strings.ToLower(s.Name), strings.ToLower(strings.TrimSpace(out.Find)))
	})
	out.Matching = len(list)
	sortStudies(list, out.Sort)
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		page = 1
	}
	last := max(0, (len(list)-1)/pageStudies)
	page = min(max(0, page-1), last)
	link := func(key, value string) string {
		q := url.Values{}
		for _, k := range []string{"find", "sort"} {
			if v := query.Get(k); v != "" {
				q.Set(k, v)
			}
		}
		q.Set(key, value)
		return d.at("/?" + q.Encode())
	}
	if page > 0 {
		out.Previous = link("page", strconv.Itoa(page))
	}
	if page < last {
		out.Next = link("page", strconv.Itoa(page+2))
	}
	for _, h := range []head{{Text: "study", Link: "name"}, {Text: "state"}, {Text: "progress"}, {Text: "trials", Link: "trials"}, {Text: "best"}, {Text: "last change"}, {Text: "created", Link: "created"}} {
		if h.Sorted = "none"; h.Link != "" {
			key := h.Link
			switch out.Sort {
			case key:
				h.Sorted, key = "ascending", "-"+key
			case "-" + key:
				h.Sorted = "descending"
			}
			h.Link = link("sort", key)
		}
		out.Heads = append(out.Heads, h)
	}
	for i := range list[page*pageStudies : min((page+1)*pageStudies, len(list))] {
		l, err := d.line(r.Context(), &list[page*pageStudies+i])
		if err != nil {
			return err
		}
		if l != nil {
			out.Lines = append(out.Lines, *l)
		}
	}
	return d.render(w, r, http.StatusOK, "studies", frame{Title: "Studies"}, out)
}

// sortStudies orders studies by a key, after - from the largest to the smallest.
func sortStudies(list []store.Summary, key string) {
	name, down := strings.CutPrefix(key, "-")
	slices.SortStableFunc(list, func(a, b store.Summary) int {
		var order int
		switch name {
		case "trials":
			order = cmp.Compare(a.Trials, b.Trials)
		case "created":
			order = a.Created.Compare(b.Created)
		default:
			order = cmp.Compare(a.Name, b.Name)
		}
		if down {
			return -order
		}
		return order
	})
}

// line returns a line of the list; nil for a study that was deleted meanwhile.
func (d *Dashboard) line(ctx context.Context, s *store.Summary) (*line, error) {
	if s.Fault != "" {
		return &line{Name: s.Name, State: state{s.Fault, "failed fault"}, Trials: s.Trials, Finished: s.Finished, Counted: s.Finished - s.Added, Created: s.Created}, nil
	}
	u, _, err := d.Study(ctx, s.Name)
	if isNoStudy(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, ok := d.facts.get(s.Name, version(s))
	if !ok {
		if f, err = factsOf(ctx, u, s); err != nil {
			return nil, err
		}
		d.facts.put(s.Name, f)
	}
	l := &line{
		Name: s.Name, Link: d.at(studyPath(s.Name)), Trials: s.Trials, Finished: s.Finished, Budget: s.Budget, Counted: s.Finished - s.Added,
		Best: f.best, Created: s.Created, Changed: f.changed,
	}
	if f.link != "" {
		l.BestLink = d.at(f.link)
	}
	running := 0
	if f.pending > 0 {
		p, err := u.Page(ctx, 0, maxPending, func(t *store.Trial) bool { return t.State == store.Pending })
		if err != nil {
			return nil, err
		}
		for i := range p.Trials {
			if p.Trials[i].Running(p.Now) {
				running++
			}
		}
	}
	l.State = stateOfStudy(s, running, f.pending-running, f.ended, "")
	return l, nil
}

// factsOf reads the facts of a study.
func factsOf(ctx context.Context, u *store.Study, s *store.Summary) (f facts, err error) {
	f.version, f.changed = version(s), s.Created
	v, err := u.Brief(ctx)
	if err != nil {
		return f, err
	}
	for i := range v.Trials {
		if v.Trials[i].State == store.Pending {
			f.pending++
		}
	}
	f.best, f.link = bestOf(v, s.Name)
	if f.pending == 0 {
		ended, err := u.Ended(ctx)
		if err != nil {
			return f, err
		}
		if ended != nil {
			f.ended = strings.TrimPrefix(ended.Error(), "study "+s.Name+": ")
		}
	}
	events, err := u.Events(ctx, s.Revision-1, 1)
	if err == nil && len(events) > 0 {
		f.changed = events[0].Time
	}
	return f, err
}

// bestOf describes the best trial, or the Pareto front of several objectives.
func bestOf(v *store.View, name string) (text, link string) {
	if v.Definition.Several() {
		if n := len(v.Pareto().Front); n > 0 {
			return fmt.Sprintf("%d on the Pareto front", n), studyPath(name) + "?state=front#trials"
		}
		return "", ""
	}
	t := v.Best()
	if t == nil {
		return "", ""
	}
	text = figure(t.Numbers[v.Definition.Objective().Name])
	if !v.Feasible(t) {
		text += " (infeasible)"
	}
	return text, studyPath(name, "trials", strconv.Itoa(t.Number))
}

// stateOfStudy describes a study. Fitting is the name of the process that computes suggestions.
func stateOfStudy(s *store.Summary, running, waiting int, ended, fitting string) state {
	left := s.Budget - (s.Trials - s.Added)
	switch {
	case running > 0:
		return state{fmt.Sprintf("%d running", running), "running"}
	case fitting != "":
		return state{"computes suggestions", "running"}
	case ended != "":
		return state{"ended: " + ended, "complete"}
	case waiting > 0:
		return state{fmt.Sprintf("%d waiting for a worker", waiting), "waiting"}
	case s.Budget > 0 && left <= 0:
		return state{"budget used up", "complete"}
	case s.Trials == 0:
		return state{"new", "idle"}
	}
	return state{"idle", "idle"}
}

// fact is a line of the summary of a study or a trial.
type fact struct {
	Name, Text, Link string
	Time             time.Time // instead of Text
	Class            string
}

// studyPage is the data of the page of a study.
type studyPage struct {
	Name    string
	Version string
	Line    *line
	Facts   []fact
	Table   *table
	Empty   bool
}

// study serves the page of a study: its state, the picture of its history, and its trials.
func (d *Dashboard) study(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("study")
	u, s, err := d.open(r)
	if err != nil {
		return err
	}
	v, err := u.Brief(ctx)
	if err != nil {
		return err
	}
	l, err := d.line(ctx, s)
	if err != nil {
		return err
	}
	if l == nil {
		return store.ErrNoStudy
	}
	running := 0
	for i := range v.Trials {
		if v.Trials[i].Running(v.Now) {
			running++
		}
	}
	if running == 0 && v.Fitting != "" {
		l.State = stateOfStudy(s, 0, 0, "", v.Fitting)
	}
	page := studyPage{Name: name, Version: fmt.Sprintf("%x", version(s)), Line: l, Facts: studyFacts(v, l), Table: newTable(v, d.at(studyPath(name)), r.URL.Query()), Empty: len(v.Trials) == 0}
	return d.render(w, r, http.StatusOK, "study", frame{Title: name, Study: name, Tab: "study"}, page)
}

// open returns the study of a request and its summary.
func (d *Dashboard) open(r *http.Request) (*store.Study, *store.Summary, error) {
	u, _, err := d.Study(r.Context(), r.PathValue("study"))
	if err != nil {
		return nil, nil, err
	}
	s, err := u.Summary(r.Context())
	return u, s, err
}

// studyFacts describes a study.
func studyFacts(v *store.View, l *line) []fact {
	var goals []string
	for _, g := range v.Definition.Goals() {
		word := "minimise "
		if g.Goal == study.Maximize {
			word = "maximise "
		}
		goals = append(goals, word+g.Name)
	}
	out := []fact{{Name: "Objective", Text: strings.Join(append(goals, v.Definition.Require...), ", ")}}
	out = append(out, fact{Name: "State", Text: l.State.Text, Class: "state " + l.State.Class})
	counts, order := map[string]int{}, []string{"complete", "infeasible", "failed", "stopped", "running", "waiting"}
	for i := range v.Trials {
		counts[stateOf(v, &v.Trials[i])]++
	}
	parts := []string{}
	for _, s := range order {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none yet"}
	}
	out = append(out, fact{Name: "Trials", Text: strings.Join(parts, ", ")})
	if l.Best != "" {
		out = append(out, fact{Name: "Best", Text: l.Best, Link: l.BestLink})
	}
	left := v.LeftOut()
	if n := v.Unfit - left; n > 0 {
		out = append(out, fact{Name: "Never best", Text: fmt.Sprintf("trials that violate the present constraints, and count in fits: %d", n)})
	}
	if left > 0 {
		out = append(out, fact{Name: "Left out", Text: fmt.Sprintf("trials that do not fit the present definition of the study: %d", left)})
	}
	out = append(out,
		fact{Name: "Surrogate model", Text: v.Definition.SurrogateName()},
		fact{Name: "Last change", Time: l.Changed}, fact{Name: "Created", Time: l.Created})
	return out
}

// history serves the data of the picture of the history.
func (d *Dashboard) history(w http.ResponseWriter, r *http.Request) error {
	u, _, err := d.Study(r.Context(), r.PathValue("study"))
	if err != nil {
		return err
	}
	out, err := report.BuildHistory(r.Context(), u)
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}
