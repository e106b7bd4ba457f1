package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// Attributes with the parts of a study that have no counterpart in Optuna.
const (
	attributeStudy   = "bo:study"   // system attribute of a study: a header
	attributeTrial   = "bo:trial"   // system attribute of a trial: a trialRecord
	attributeFailure = "bo:failure" // user attributes of a failed trial
	attributeMessage = "bo:message"

	// Optuna's own.
	attributeMetrics     = "study:metric_names" // names of the values
	attributeConstraints = "constraints"        // the constraints of a trial without names
	attributeConstraint  = "constraints:"       // before the name of a constraint
	attributeFixed       = "fixed_params"       // the values of enqueue_trial
)

// trialRecord is a trial with its steps.
type trialRecord struct {
	store.Trial
	Steps []store.Step `json:"steps,omitempty"`
}

// optunaState is the state of an Optuna trial, with Optuna's numbers.
type optunaState int

const (
	optunaRunning optunaState = iota
	optunaComplete
	optunaPruned
	optunaFailed
	optunaWaiting
)

func (s optunaState) finished() bool { return s != optunaRunning && s != optunaWaiting }

// optunaStudy is a study of Optuna as its files hold it.
type optunaStudy struct {
	name       string
	directions []int // 1 is minimize, 2 maximize
	system     map[string]json.RawMessage
	trials     []*optunaTrial
}

type optunaTrial struct {
	state           optunaState
	params          []optunaParam // parameters in the order of their suggestion
	values          []float64
	intermediate    map[int64]float64
	user, system    map[string]json.RawMessage
	start, complete time.Time
}

type optunaParam struct {
	name         string
	internal     float64
	distribution *distribution
}

// choose returns the study of a name, or the only study if the name is empty.
func choose(studies []*optunaStudy, name string) (*optunaStudy, error) {
	var names []string
	for _, s := range studies {
		if s.name == name || name == "" && len(studies) == 1 {
			return s, nil
		}
		names = append(names, s.name)
	}
	if len(studies) == 0 {
		return nil, errors.New("it holds no study")
	}
	return nil, &ChoiceError{name, names}
}

// study turns a study of Optuna into an Import.
func (s *optunaStudy) study() (*Import, error) {
	if len(s.directions) == 0 {
		return nil, fmt.Errorf("study %q has no objective", s.name)
	}
	in := &Import{Snapshot: &store.Snapshot{}, Name: s.name}
	var err error
	if raw, ok := s.system[attributeStudy]; ok {
		err = in.restore(s, raw)
	} else {
		err = in.foreign(s)
	}
	if err != nil {
		return nil, fmt.Errorf("study %q: %w", s.name, err)
	}
	return in, nil
}

// foreign reads a study that Optuna made.
func (in *Import) foreign(s *optunaStudy) error {
	d := &study.Definition{Version: study.Version, Name: plainName(s.name), Objectives: s.objectives()}
	joined, err := in.space(s, d)
	if err != nil {
		return err
	}
	in.require(s, d)
	in.Snapshot.Definition = d
	return in.addTrials(s.trials, 0, joined)
}

// objectives returns the objectives with Optuna's metric names. Without these names one objective is
// "value", and several are "objective_0", "objective_1", ….
func (s *optunaStudy) objectives() []study.Objective {
	var metrics []string
	_ = json.Unmarshal(s.system[attributeMetrics], &metrics)
	distinct := slices.Compact(slices.Sorted(slices.Values(metrics)))
	named := len(metrics) == len(s.directions) && len(distinct) == len(metrics) && !slices.Contains(metrics, "")
	out := make([]study.Objective, len(s.directions))
	for i, direction := range s.directions {
		switch {
		case named:
			out[i].Name = metrics[i]
		case len(out) == 1:
			out[i].Name = "value"
		default:
			out[i].Name = fmt.Sprintf("objective_%d", i)
		}
		if direction == 2 {
			out[i].Goal = study.Maximize
		}
	}
	return out
}

// constraint is a number of a trial that Optuna requires to be at most 0.
type constraint struct {
	key   string
	value float64
}

// constraints returns the constraints of a trial: the list with the keys "0", "1", …, and then the
// constraints with a name, sorted.
func (t *optunaTrial) constraints() (out []constraint) {
	var list []number
	_ = json.Unmarshal(t.system[attributeConstraints], &list)
	for i, v := range list {
		out = append(out, constraint{strconv.Itoa(i), float64(v)})
	}
	for _, name := range slices.Sorted(maps.Keys(t.system)) {
		var v number
		if key, ok := strings.CutPrefix(name, attributeConstraint); ok && json.Unmarshal(t.system[name], &v) == nil {
			out = append(out, constraint{key, float64(v)})
		}
	}
	return out
}

// require sets the requirements of d to the constraints of the complete trials. Their numbers have the
// names of the constraints, or "constraint_NAME" if the name is a number or belongs to something else.
func (in *Import) require(s *optunaStudy, d *study.Definition) {
	taken := map[string]bool{}
	for i := range d.Parameters {
		taken[d.Parameters[i].Name] = true
	}
	for i := range d.Objectives {
		taken[d.Objectives[i].Name] = true
	}
	for _, t := range s.trials {
		for name := range t.user {
			taken[name] = true
		}
	}
	in.required = map[string]loop.Requirement{}
	for _, t := range s.trials {
		if t.state != optunaComplete {
			continue
		}
		for _, c := range t.constraints() {
			if _, ok := in.required[c.key]; ok {
				continue
			}
			name := strings.TrimSpace(strings.Map(func(r rune) rune {
				if strings.ContainsRune("<>=!", r) {
					return '_'
				}
				return r
			}, c.key))
			if _, err := strconv.ParseFloat(name, 64); err == nil || name == "" {
				name = "constraint_" + name
			}
			for taken[name] {
				name = "constraint_" + name
			}
			taken[name] = true
			if name != c.key {
				in.note("the constraint %q has the name %q", c.key, name)
			}
			r := loop.Requirement{Name: name}
			in.required[c.key] = r
			d.Require = append(d.Require, r.String())
		}
	}
}

// plainName converts the name of a study to a name that store accepts.
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if study.CheckName("a"+string(r)) != nil {
			return '-'
		}
		return r
	}, name)
	plain = strings.TrimLeft(plain[:min(len(plain), 100)], "-.")
	if plain == "" {
		return "optuna"
	}
	return plain
}

// space sets the parameters of d to the parameters of every complete trial, and to others whose condition
// conditions finds. It returns their distributions by name, widened to all ranges that occur.
func (in *Import) space(s *optunaStudy, d *study.Definition) (map[string]*distribution, error) {
	joined := map[string]*distribution{}
	counts := map[string]int{}
	var order []string
	broken, widened := map[string]bool{}, map[string]bool{}
	var based []*optunaTrial
	incomplete := !slices.ContainsFunc(s.trials, func(t *optunaTrial) bool { return t.state == optunaComplete })
	for _, t := range s.trials {
		counts := counts
		if t.state == optunaComplete || incomplete && len(t.params) > 0 {
			based = append(based, t)
		} else {
			counts = map[string]int{} // this trial widens ranges only
		}
		for _, p := range t.params {
			counts[p.name]++
			have := joined[p.name]
			if have == nil {
				joined[p.name] = p.distribution.clone()
				order = append(order, p.name)
				continue
			}
			ok, changed := have.join(p.distribution)
			broken[p.name] = broken[p.name] || !ok
			widened[p.name] = widened[p.name] || changed
		}
	}
	var everywhere, sometimes []string
	for _, name := range order {
		switch {
		case broken[name]:
		case counts[name] < len(based):
			sometimes = append(sometimes, name)
		default:
			everywhere = append(everywhere, name)
		}
	}
	found := conditions(based, joined, everywhere, sometimes)
	for _, name := range order {
		when, conditional := found[name]
		switch {
		case broken[name]:
			in.note("parameter %q has distributions that do not agree: it is left out of the search space, its values stay with the trials", name)
			delete(joined, name)
			continue
		case conditional:
			in.note("parameter %q occurs in %d of %d complete trials, exactly where %s: this is its condition in the search space", name, counts[name], len(based), when.Text)
		case counts[name] < len(based):
			in.note("parameter %q occurs in %d of %d complete trials: it is left out of the search space, its values stay with the trials", name, counts[name], len(based))
			delete(joined, name)
			continue
		}
		if widened[name] {
			in.note("parameter %q has several ranges: the search space holds all of them", name)
		}
		p := joined[name].parameter(name, in)
		if conditional {
			p.When = space.Condition{Text: when.Text}
		}
		d.Parameters = append(d.Parameters, p)
	}
	if len(d.Parameters) == 0 {
		return nil, errors.New("no parameter occurs in all complete trials, so there is no search space")
	}
	if _, err := d.Space(); err != nil {
		return nil, err
	}
	return joined, nil
}

// maxCounter is the largest number of values of an int of which conditions are inferred.
const maxCounter = 50

// conditions infers the conditions of the parameters that only some trials have. A parameter has a
// condition if its trials are exactly the trials with certain values of one other parameter: any values of
// a categorical, or the values on one side of an int, such as a number of layers. Two such parameters
// leave the condition open. Parameters of all trials come first, then parameters whose condition is found.
func conditions(trials []*optunaTrial, joined map[string]*distribution, everywhere, sometimes []string) map[string]space.Condition {
	rows := make([]map[string]any, len(trials))
	for i, t := range trials {
		rows[i] = map[string]any{}
		for _, p := range t.params {
			if v, err := p.distribution.value(p.internal); err == nil {
				rows[i][p.name] = v
			}
		}
	}
	found := map[string]space.Condition{}
	for controls := everywhere; len(controls) > 0; {
		var next []string
		for _, name := range sometimes {
			if _, ok := found[name]; ok {
				continue
			}
			var fit []space.Condition
			for _, control := range controls {
				if values := separating(rows, name, control, joined[control]); values != nil {
					fit = append(fit, space.Equal(control, values...))
				}
			}
			if len(fit) == 1 {
				found[name] = fit[0]
				next = append(next, name)
			}
		}
		controls = next
	}
	return found
}

// separating returns the values of a parameter control that exactly the rows with the parameter name have;
// nil if there are none, or if all rows with control have the parameter name.
func separating(rows []map[string]any, name, control string, d *distribution) []any {
	counter := d.kind == space.KindInt && !d.log && d.high-d.low < maxCounter && max(-d.low, d.high) < 1<<53
	if d.kind != space.KindCategorical && !counter {
		return nil
	}
	with, without := map[any]bool{}, map[any]bool{}
	for _, row := range rows {
		v, controlled := row[control]
		_, has := row[name]
		switch {
		case has && !controlled:
			return nil
		case has:
			with[v] = true
		case controlled:
			without[v] = true
		}
	}
	if len(with) == 0 || len(without) == 0 {
		return nil
	}
	var values []any
	if d.kind == space.KindCategorical {
		for _, v := range d.values {
			if with[v] && without[v] {
				return nil
			}
			if with[v] {
				values = append(values, v)
			}
		}
		return values
	}
	low, high := math.Inf(1), math.Inf(-1)
	for v := range with {
		low, high = min(low, v.(float64)), max(high, v.(float64))
	}
	above, below := true, true
	for v := range without {
		above, below = above && v.(float64) < low, below && v.(float64) > high
	}
	switch {
	case above:
		high = d.high
	case below:
		low = d.low
	default:
		return nil
	}
	for v := d.low; v <= d.high; v += max(d.step, 1) {
		if v >= low && v <= high {
			values = append(values, v)
		}
	}
	return values
}

// addTrials appends the finished trials from a number on as trials added from elsewhere, and the waiting trials of
// enqueue_trial as enqueued ones.
func (in *Import) addTrials(trials []*optunaTrial, from int, joined map[string]*distribution) error {
	sp, err := in.Snapshot.Definition.Space()
	if err != nil {
		return err
	}
	unfinished, partial, outside, attributes := 0, 0, []string(nil), map[string]bool{}
	for i := from; i < len(trials); i++ {
		t := trials[i]
		if t.state == optunaRunning {
			unfinished++
			continue
		}
		row := store.Trial{Number: len(in.Snapshot.Trials) + 1, Source: loop.Added, Created: t.start, Started: t.start}
		values := map[string]any{}
		for _, p := range t.params {
			v, err := p.distribution.value(p.internal)
			if err != nil {
				return fmt.Errorf("trial %d: parameter %q: %w", i, p.name, err)
			}
			if x, ok := v.(float64); ok && joined[p.name] != nil {
				v = joined[p.name].snap(x)
			}
			values[p.name] = v
		}
		if t.state == optunaWaiting {
			p, whole, err := in.enqueued(sp, t, values, joined)
			if err != nil {
				outside = append(outside, fmt.Sprintf("trial %d: %v", i, err))
				continue
			}
			if !whole {
				partial++
			}
			for name := range t.user {
				attributes[name] = true
			}
			row.Source, row.State = loop.Enqueued, store.Pending
			if row.Params, err = json.Marshal(p); err != nil {
				return err
			}
			in.Snapshot.Trials = append(in.Snapshot.Trials, row)
			continue
		}
		if row.Params, err = json.Marshal(values); err != nil {
			return err
		}
		in.result(&row, t, i)
		in.Snapshot.Steps = append(in.Snapshot.Steps, in.reported(&row, t)...)
		in.Snapshot.Trials = append(in.Snapshot.Trials, row)
	}
	if unfinished > 0 {
		in.note("trials that Optuna has not finished are left out: %d", unfinished)
	}
	if partial > 0 {
		in.note("enqueued trials with values of some parameters: %d; their other values are drawn at random in a new study", partial)
	}
	if n := len(outside); n > 0 {
		in.note("enqueued trials outside of the search space are left out: %d; the first is %s", n, outside[0])
	}
	if len(attributes) > 0 {
		in.note("user attributes of enqueued trials are left out: %s", strings.Join(slices.Sorted(maps.Keys(attributes)), ", "))
	}
	if n := len(in.unusable); n > 0 {
		in.note("%d complete trials with a number beyond ±1e300 are imported as failed; the first is %s", n, in.unusable[0])
	}
	if len(in.lost) > 0 {
		in.note("user attributes that are neither numbers nor texts are left out: %s", strings.Join(slices.Sorted(maps.Keys(in.lost)), ", "))
	}
	if in.inexact > 0 {
		in.note("%d intermediate values that are not finite are left out", in.inexact)
	}
	return nil
}

// reported sets the numbers and the message of a row to the user attributes of a finished trial of Optuna, and returns its
// intermediate values.
func (in *Import) reported(row *store.Trial, t *optunaTrial) (steps []store.Step) {
	goals := in.Snapshot.Definition.Goals()
	texts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.user)) {
		var v number
		var text string
		switch {
		case strings.HasPrefix(name, "bo:"):
		case json.Unmarshal(t.user[name], &text) == nil:
			texts[name] = text
		case json.Unmarshal(t.user[name], &v) != nil || !recordable(float64(v)):
			if in.lost == nil {
				in.lost = map[string]bool{}
			}
			in.lost[name] = true
		case !slices.ContainsFunc(goals, func(o study.Objective) bool { return o.Name == name }):
			setNumber(row, name, float64(v))
		}
	}
	if row.State == store.Complete && row.Message == "" {
		row.Message = plaintext.Named(texts)
	}
	for _, step := range slices.Sorted(maps.Keys(t.intermediate)) {
		v := t.intermediate[step]
		if !recordable(v) {
			in.inexact++
			continue
		}
		steps = append(steps, store.Step{Trial: row.Number, Attempt: row.Attempt, Step: float64(step), Name: goals[0].Name, Value: v})
	}
	return steps
}

// enqueued returns the point of a waiting trial, and whether it has the values of all active parameters. Values of
// parameters that the space does not have are left out, as Optuna does.
func (in *Import) enqueued(sp *space.Space, t *optunaTrial, values map[string]any, joined map[string]*distribution) (p space.Point, whole bool, err error) {
	var fixed map[string]json.RawMessage
	_ = json.Unmarshal(t.system[attributeFixed], &fixed)
	for name, raw := range fixed {
		v, renamed, err := scalar(raw)
		if err != nil {
			return space.Point{}, false, err
		}
		if renamed && joined[name] != nil {
			v = joined[name].label(v.(string))
		}
		if x, ok := v.(float64); ok && joined[name] != nil {
			v = joined[name].snap(x)
		}
		values[name] = v
	}
	maps.DeleteFunc(values, func(name string, _ any) bool { return joined[name] == nil })
	if p, err = sp.PointOf(values); err == nil {
		return p, true, nil
	}
	p, err = in.Snapshot.Definition.Complete(sp, values, len(in.Snapshot.Trials))
	return p, false, err
}

// recordable reports whether v is a number that a trial can have.
func recordable(v float64) bool { return math.Abs(v) <= loop.MaxValue }

// setNumber sets a number of a row.
func setNumber(row *store.Trial, name string, v float64) {
	if row.Numbers == nil {
		row.Numbers = map[string]float64{}
	}
	row.Numbers[name] = v
}

// result sets the state, the times, the values and the failure of a row from finished
// trial i of Optuna.
func (in *Import) result(row *store.Trial, t *optunaTrial, i int) {
	row.Finished = t.complete
	if !t.start.IsZero() && t.complete.After(t.start) {
		row.Seconds = t.complete.Sub(t.start).Seconds()
	}
	_ = json.Unmarshal(t.user[attributeMessage], &row.Message)
	goals := in.Snapshot.Definition.Goals()
	switch {
	case t.state == optunaPruned:
		row.State = store.Stopped
	case t.state == optunaComplete && len(t.values) == len(goals) && !slices.ContainsFunc(t.values, func(v float64) bool { return !recordable(v) }):
		row.State = store.Complete
		for i, o := range goals {
			setNumber(row, o.Name, t.values[i])
		}
		in.setConstraints(row, t)
	case t.state == optunaComplete:
		row.State, row.Failure, row.Message = store.Failed, store.NotFinite, fmt.Sprintf("the value is %v", t.values)
	default:
		row.State, row.Failure = store.Failed, store.FailedByProgram
	}
	if t.state == optunaComplete && row.State == store.Failed {
		in.unusable = append(in.unusable, fmt.Sprintf("trial %d: %s", i, row.Message))
	}
}

// violation returns the value of an Optuna constraint: at most 0 if v meets the requirement.
func violation(r loop.Requirement, v float64) float64 {
	if r.AtLeast {
		return r.Bound - v
	}
	return v - r.Bound
}

// setConstraints sets the numbers of the constraints of a complete trial. If one is not finite, the trial has
// failed.
func (in *Import) setConstraints(row *store.Trial, t *optunaTrial) {
	for _, c := range t.constraints() {
		r, ok := in.required[c.key]
		_, known := row.Numbers[r.Name] // an objective, or the number of another requirement
		switch {
		case !ok || known:
		case recordable(c.value):
			v := r.Bound + c.value
			if r.AtLeast {
				v = r.Bound - c.value
			}
			setNumber(row, r.Name, v)
		default:
			row.State, row.Failure, row.Message = store.Failed, store.NotFinite, fmt.Sprintf("the constraint %q is %v", c.key, c.value)
		}
	}
}

// restore reads a study that bo exported and Optuna may have continued.
func (in *Import) restore(s *optunaStudy, raw json.RawMessage) error {
	var h struct {
		header
		Definition json.RawMessage `json:"definition"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return fmt.Errorf("attribute %s: %w", attributeStudy, err)
	}
	d, err := study.Parse(h.Definition)
	if err != nil {
		return fmt.Errorf("attribute %s: %w", attributeStudy, err)
	}
	in.Snapshot = &store.Snapshot{Definition: d, Created: h.Created, Warm: h.Warm, Fits: h.Fits, Events: h.Events}
	in.required = map[string]loop.Requirement{}
	for _, r := range d.Requirements() {
		in.required[r.String()] = r
	}
	own := len(s.trials)
	for i, t := range s.trials {
		raw, ok := t.system[attributeTrial]
		if !ok {
			own = i
			break
		}
		var r trialRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("trial %d: attribute %s: %w", i, attributeTrial, err)
		}
		if err := in.agree(&r, t, i); err != nil {
			return fmt.Errorf("trial %d: %w", i, err)
		}
		if r.Params, err = respelt(r.Params); err != nil {
			return fmt.Errorf("trial %d: attribute %s: params: %w", i, attributeTrial, err)
		}
		in.Snapshot.Trials = append(in.Snapshot.Trials, r.Trial)
		in.Snapshot.Steps = append(in.Snapshot.Steps, r.Steps...)
	}
	for i := range h.Fits {
		if f := &h.Fits[i]; f.Warm != nil {
			var state surrogate.State
			if err := json.Unmarshal(f.Warm, &state); err != nil {
				return fmt.Errorf("attribute %s: fit %d: warm: %w", attributeStudy, f.Number, err)
			}
			if f.Warm, err = json.Marshal(state); err != nil { // numbers in the form of Go
				return err
			}
		}
	}
	for i := own; i < len(s.trials); i++ {
		if _, ok := s.trials[i].system[attributeTrial]; ok {
			return fmt.Errorf("trial %d: a trial of bo follows one of Optuna", i)
		}
	}
	joined := map[string]*distribution{}
	for _, p := range d.Parameters {
		joined[p.Name] = distributionOf(p)
	}
	if err := in.addTrials(s.trials, own, joined); err != nil {
		return err
	}
	for i := own; i < len(in.Snapshot.Trials); i++ {
		t := &in.Snapshot.Trials[i]
		t.Asked = in.event(store.Event{Time: t.Created, Kind: store.TrialCreated, Trial: t.Number, Detail: string(t.Source)})
		t.Revision = t.Asked
		if t.State != store.Pending {
			t.Told = t.Asked
		}
	}
	return nil
}

// respelt writes the numbers of a trial's parameters in the form of Go instead of
// Python. The order of keys stays.
func respelt(params json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(params))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want an object {…}")
	}
	out := []byte("{")
	for dec.More() {
		name, err := dec.Token()
		var v any
		if err = errors.Join(err, dec.Decode(&v)); err != nil {
			return nil, err
		}
		key, err := json.Marshal(name)
		text, err2 := json.Marshal(v)
		if err = errors.Join(err, err2); err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), text...)
	}
	return append(out, '}'), nil
}

// event appends an event with the next revision, which it returns.
func (in *Import) event(e store.Event) int64 {
	e.Revision = int64(len(in.Snapshot.Events) + 1)
	in.Snapshot.Events = append(in.Snapshot.Events, e)
	return e.Revision
}

// agree compares the record of a trial with the trial of Optuna. If the trial was pending
// when it was exported, the record takes the result of Optuna.
func (in *Import) agree(r *trialRecord, t *optunaTrial, i int) error {
	if r.Number != i+1 {
		return fmt.Errorf("attribute %s is of trial %d, want %d: trials are missing", attributeTrial, r.Number, i+1)
	}
	if r.State == store.Pending {
		if t.state.finished() {
			return in.finish(r, t, i)
		}
		return nil
	}
	state, values := exported(&r.Trial, in.Snapshot.Definition.Goals())
	if state != t.state || state == optunaComplete && !slices.Equal(t.values, values) {
		return fmt.Errorf("its result differs from its attribute %s", attributeTrial)
	}
	return nil
}

// finish gives a record of a pending trial the result of Optuna. Steps and values of removed parameters that the export wrote
// are in the record.
func (in *Import) finish(r *trialRecord, t *optunaTrial, i int) error {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return fmt.Errorf("attribute %s: params: %w", attributeTrial, err)
	}
	maps.DeleteFunc(t.user, func(name string, _ json.RawMessage) bool { return params[name] != nil })
	for _, s := range r.Steps {
		if s.Step == math.Trunc(s.Step) {
			delete(t.intermediate, int64(s.Step))
		}
	}
	in.result(&r.Trial, t, i)
	r.Steps = append(r.Steps, in.reported(&r.Trial, t)...)
	r.Told = in.event(store.Event{Time: t.complete, Kind: store.TrialFinished, Trial: r.Number, Attempt: r.Attempt, Detail: string(r.State)})
	r.Revision = r.Told
	return nil
}

// exported returns the state and the values of a trial in an export to Optuna.
func exported(t *store.Trial, goals []study.Objective) (optunaState, []float64) {
	switch {
	case t.State == store.Pending && t.Lease.IsZero() && t.Owner.Name == "":
		return optunaWaiting, nil
	case t.State == store.Pending:
		return optunaRunning, nil
	case t.State == store.Stopped:
		return optunaPruned, nil
	case t.State != store.Complete:
		return optunaFailed, nil
	}
	values := make([]float64, len(goals))
	for i, o := range goals {
		var ok bool
		if values[i], ok = t.Numbers[o.Name]; !ok {
			return optunaFailed, nil
		}
	}
	return optunaComplete, values
}

// definitionParams returns the distributions of a study's parameters, widened to hold the values
// of all trials.
func definitionParams(d *study.Definition, values []map[string]any) map[string]*distribution {
	joined := map[string]*distribution{}
	for _, p := range d.Parameters {
		joined[p.Name] = distributionOf(p)
	}
	for _, v := range values {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if d := joined[name]; d != nil {
				d.internal(v[name])
			}
		}
	}
	return joined
}

// fixedDefaults adds the values of fixed parameters that a trial does not name.
func fixedDefaults(d *study.Definition, values map[string]any) {
	for _, p := range d.Parameters {
		if _, ok := values[p.Name]; !ok && p.Kind == space.KindFixed && p.When.Text == "" {
			values[p.Name] = p.Value
		}
	}
}
