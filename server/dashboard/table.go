package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

const (
	pageRows   = 50
	maxColumns = 12 // of parameters, unless all are wanted
	maxOthers  = 8  // columns of numbers beside the objectives
	maxCell    = 80 // characters
)

// pageSizes are the numbers of rows of a page that a reader may choose.
var pageSizes = []int{25, pageRows, 100, 200}

// states are the states of the filter, in the order of its choices.
var states = []string{"complete", "running", "waiting", "failed", "stopped", "infeasible", "front"}

// table is a page of the trials of a study.
type table struct {
	Heads    []head
	Rows     []row
	Faults   []string // of the query
	Total    int      // trials of the study
	Matching int      // trials that pass the filter
	First    int      // numbers of the rows among the matching trials, from 1
	Last     int
	Previous string // links, "" for none
	Next     string
	Hidden   int // parameters without a column
	All      string
	Form     form
}

// head is the head of a column: a link that sorts.
type head struct{ Text, Link, Sorted string }

type row struct {
	Number int
	Link   string
	Best   bool
	Cells  []cell
}

type cell struct {
	Text  string
	Class string
}

// form holds the fields of the filter.
type form struct {
	State    string
	States   []string
	Top      string
	By       string
	Bys      []string // objectives, if there are several
	Size     int
	Sizes    []int
	Sort     string
	Ranges   []field
	Filtered bool // at least one field of Ranges is set
}

// field is the range, or the value, of a parameter or a number.
type field struct {
	Name    string
	Kind    string // "number" or "parameter"
	Key     string // of the query, after min. and max. or is.
	Min     string
	Max     string
	Choices []string // of a parameter with values
	Is      string
}

// column is a column of the table of trials.
type column struct {
	key, text string
	value     func(i int) any // of the trial with index i; nil is empty
}

// tabler computes a table.
type tabler struct {
	query   url.Values
	path    string
	view    *store.View
	goals   []study.Objective
	others  []string // names of numbers beside the objectives
	params  []space.Parameter
	front   map[int]bool // numbers of the trials on the Pareto front
	columns []column
	out     *table
}

// newTable returns the page of the table that a query selects.
func newTable(v *store.View, path string, query url.Values) *table {
	t := &tabler{query: query, path: path, view: v, goals: v.Definition.Goals(), out: &table{Total: len(v.Trials)}}
	for _, p := range v.Space.Parameters() {
		if p.Kind != space.KindFixed {
			t.params = append(t.params, p)
		}
	}
	names := map[string]bool{}
	for i := range v.Trials {
		for name := range v.Trials[i].Numbers {
			names[name] = true
		}
	}
	for _, g := range t.goals {
		delete(names, g.Name)
	}
	t.others = slices.Sorted(maps.Keys(names))
	if v.Definition.Several() {
		t.front = map[int]bool{}
		for _, f := range v.Pareto().Front {
			t.front[f.ID] = true
		}
	}
	t.addColumns()
	rows := t.filter()
	t.sort(rows)
	t.page(rows)
	return t.out
}

// stateOf returns the state of a trial for people.
func stateOf(v *store.View, t *store.Trial) string {
	switch {
	case t.Running(v.Now):
		return "running"
	case t.State == store.Pending:
		return "waiting"
	case t.State == store.Complete && !v.Feasible(t):
		return "infeasible"
	}
	return string(t.State)
}

func (t *tabler) addColumns() {
	trials := t.view.Trials
	add := func(key, text string, value func(i int) any) {
		t.columns = append(t.columns, column{key, text, value})
	}
	add("trial", "trial", func(i int) any { return trials[i].Number })
	add("state", "state", func(i int) any { return stateOf(t.view, &trials[i]) })
	number := func(name string) {
		add("n."+name, name, func(i int) any {
			if x, ok := trials[i].Measured()[name]; ok {
				return x
			}
			return nil
		})
	}
	for _, g := range t.goals {
		number(g.Name)
	}
	all := t.query.Get("columns") == "all"
	for k, name := range t.others {
		if all || k < maxOthers {
			number(name)
		}
	}
	for k, p := range t.params {
		if !all && k >= maxColumns {
			t.out.Hidden++
			continue
		}
		add("p."+p.Name, p.Name, func(i int) any { return t.param(i, p.Name) })
	}
	if t.out.Hidden > 0 {
		t.out.All = t.link("columns", "all")
	}
	add("seconds", "seconds", func(i int) any {
		if s := trials[i].Seconds; s > 0 {
			return s
		}
		return nil
	})
	add("source", "source", func(i int) any { return string(trials[i].Source) })
	if slices.ContainsFunc(trials, func(t store.Trial) bool { return t.Message != "" }) {
		add("message", "message", func(i int) any {
			if m := trials[i].Message; m != "" {
				return plaintext.Clip(m, maxCell)
			}
			return nil
		})
	}
}

// param returns the value of a parameter of a trial; nil if it is inactive or the trial does not fit the
// space.
func (t *tabler) param(i int, name string) any {
	if t.view.Points[i].Space() == nil {
		return nil
	}
	return t.view.Points[i].Value(name)
}

// filter returns the indices of the trials that pass the filter, and fills the form.
func (t *tabler) filter() []int {
	f := form{States: states, Sizes: pageSizes, Size: pageRows, State: t.query.Get("state"), Sort: t.query.Get("sort")}
	if !t.view.Definition.Several() {
		f.States = slices.DeleteFunc(slices.Clone(states), func(s string) bool { return s == "front" })
	}
	if f.State != "" && !slices.Contains(f.States, f.State) {
		t.fault("the state is %q, want %s", f.State, strings.Join(f.States, ", "))
		f.State = ""
	}
	if text := t.query.Get("size"); text != "" {
		if n, err := strconv.Atoi(text); err == nil && slices.Contains(pageSizes, n) {
			f.Size = n
		}
	}
	tests := t.ranges(&f)
	var rows []int
	for i := range t.view.Trials {
		trial := &t.view.Trials[i]
		state := stateOf(t.view, trial)
		ok := f.State == "" || state == f.State || f.State == "front" && t.front[trial.Number]
		for _, test := range tests {
			ok = ok && test(i)
		}
		if ok {
			rows = append(rows, i)
		}
	}
	rows = t.top(&f, rows)
	t.out.Form = f
	return rows
}

// ranges adds the fields of numbers and parameters to a form, and returns the tests of those that are set.
func (t *tabler) ranges(f *form) (tests []func(i int) bool) {
	add := func(one field, value func(i int) any) {
		if len(one.Choices) > 0 {
			if one.Is = t.query.Get("is." + one.Key); one.Is != "" {
				f.Filtered = true
				tests = append(tests, func(i int) bool { return text(value(i)) == one.Is })
			}
			f.Ranges = append(f.Ranges, one)
			return
		}
		one.Min, one.Max = strings.TrimSpace(t.query.Get("min."+one.Key)), strings.TrimSpace(t.query.Get("max."+one.Key))
		low, high := t.bound("smallest", one.Name, one.Min, math.Inf(-1)), t.bound("largest", one.Name, one.Max, math.Inf(1))
		if low > high {
			t.fault("no %s is at least %s and at most %s", one.Name, one.Min, one.Max)
		}
		if one.Min != "" || one.Max != "" {
			f.Filtered = true
			tests = append(tests, func(i int) bool {
				x, ok := number(value(i))
				return ok && x >= low && x <= high
			})
		}
		f.Ranges = append(f.Ranges, one)
	}
	var names []string
	for _, g := range t.goals {
		names = append(names, g.Name)
	}
	for _, name := range append(names, t.others...) {
		add(field{Name: name, Kind: "number", Key: "n." + name}, func(i int) any {
			if x, ok := t.view.Trials[i].Measured()[name]; ok {
				return x
			}
			return nil
		})
	}
	for _, p := range t.params {
		one := field{Name: p.Name, Kind: "parameter", Key: "p." + p.Name}
		switch p.Kind {
		case space.KindBool:
			one.Choices = []string{"false", "true"}
		case space.KindCategorical, space.KindOrdinal:
			for _, v := range p.Values {
				one.Choices = append(one.Choices, text(v))
			}
		}
		add(one, func(i int) any { return t.param(i, p.Name) })
	}
	return tests
}

// bound returns the number of a field, or otherwise if it is empty.
func (t *tabler) bound(which, name, text string, otherwise float64) float64 {
	if text == "" {
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		t.fault("the %s %s is %q, want a number", which, name, plaintext.Clip(text, maxCell))
		return otherwise
	}
	return x
}

func (t *tabler) fault(format string, args ...any) {
	t.out.Faults = append(t.out.Faults, fmt.Sprintf(format, args...))
}

// top returns the best k of the rows, the best first, if the query has k.
func (t *tabler) top(f *form, rows []int) []int {
	f.By = t.goals[0].Name
	if len(t.goals) > 1 {
		for _, g := range t.goals {
			f.Bys = append(f.Bys, g.Name)
			if g.Name == t.query.Get("by") {
				f.By = g.Name
			}
		}
	}
	f.Top = strings.TrimSpace(t.query.Get("top"))
	if f.Top == "" {
		return rows
	}
	k, err := strconv.Atoi(f.Top)
	if err != nil || k < 1 {
		t.fault("the number of best trials is %q, want a whole number above 0", plaintext.Clip(f.Top, maxCell))
		return rows
	}
	goal := t.goals[slices.IndexFunc(t.goals, func(g study.Objective) bool { return g.Name == f.By })]
	rows = slices.DeleteFunc(rows, func(i int) bool { return !t.view.Feasible(&t.view.Trials[i]) || t.view.Points[i].Space() == nil })
	slices.SortStableFunc(rows, func(i, j int) int {
		order := cmp.Compare(t.view.Trials[i].Numbers[goal.Name], t.view.Trials[j].Numbers[goal.Name])
		if goal.Goal == study.Maximize {
			return -order
		}
		return order
	})
	return rows[:min(k, len(rows))]
}

// sort orders the rows by a column. Empty cells are last.
func (t *tabler) sort(rows []int) {
	key, down := t.query.Get("sort"), false
	if rest, ok := strings.CutPrefix(key, "-"); ok {
		key, down = rest, true
	}
	at := slices.IndexFunc(t.columns, func(c column) bool { return c.key == key })
	for _, c := range t.columns {
		h := head{Text: c.text, Sorted: "none", Link: t.link("sort", c.key)}
		if at >= 0 && c.key == key {
			h.Sorted = "ascending"
			if down {
				h.Sorted = "descending"
			} else {
				h.Link = t.link("sort", "-"+c.key)
			}
		}
		t.out.Heads = append(t.out.Heads, h)
	}
	if at < 0 {
		return
	}
	keys := make([]any, len(t.view.Trials))
	for _, i := range rows {
		keys[i] = t.columns[at].value(i)
	}
	slices.SortStableFunc(rows, func(i, j int) int { return compare(keys[i], keys[j], down) })
}

// compare orders cells: numbers, then texts, then empty cells.
func compare(a, b any, down bool) int {
	rank := func(v any) int {
		if v == nil {
			return 2
		}
		if _, ok := number(v); ok {
			return 0
		}
		return 1
	}
	if r := cmp.Compare(rank(a), rank(b)); r != 0 {
		return r
	}
	x, ok := number(a)
	y, _ := number(b)
	order := cmp.Compare(x, y)
	if !ok {
		order = cmp.Compare(text(a), text(b))
	}
	if down {
		return -order
	}
	return order
}

// page adds the rows of the page of the query.
func (t *tabler) page(rows []int) {
	size := t.out.Form.Size
	last := max(0, (len(rows)-1)/size)
	at, err := strconv.Atoi(t.query.Get("page"))
	if err != nil {
		at = 1
	}
	at = min(max(0, at-1), last)
	t.out.Matching = len(rows)
	if at > 0 {
		t.out.Previous = t.link("page", strconv.Itoa(at))
	}
	if at < last {
		t.out.Next = t.link("page", strconv.Itoa(at+2))
	}
	rows = rows[at*size : min((at+1)*size, len(rows))]
	if len(rows) > 0 {
		t.out.First, t.out.Last = at*size+1, at*size+len(rows)
	}
	best := 0
	if b := t.view.Best(); b != nil {
		best = b.Number
	}
	for _, i := range rows {
		trial := &t.view.Trials[i]
		r := row{Number: trial.Number, Link: t.path + "/trials/" + strconv.Itoa(trial.Number), Best: trial.Number == best || t.front[trial.Number]}
		for _, c := range t.columns[1:] {
			v := c.value(i)
			one := cell{Text: text(v)}
			switch _, isNumber := number(v); {
			case isNumber:
				one.Class = "number"
			case c.key == "state":
				one.Class = "state " + one.Text
			case c.key == "message":
				one.Class = "note"
			}
			r.Cells = append(r.Cells, one)
		}
		t.out.Rows = append(t.out.Rows, r)
	}
}

// link returns the address of the page with another value of a key of its query.
func (t *tabler) link(key, value string) string {
	q := url.Values{}
	for k, v := range t.query {
		if k != "page" && len(v) > 0 && v[0] != "" {
			q[k] = v[:1]
		}
	}
	q.Set(key, value)
	return t.path + "?" + q.Encode() + "#trials"
}

// number returns the number of a cell.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// text writes a value for people. Numbers have six significant digits.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return figure(v)
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprint(v)
}

// figure writes a number with six significant digits.
func figure(x float64) string {
	if math.Abs(x) < 1e15 && x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
