package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// The operations of Optuna's journal.
const (
	opCreateStudy = iota
	opDeleteStudy
	opStudyUser
	opStudySystem
	opCreateTrial
	opTrialParam
	opTrialState
	opTrialStep
	opTrialUser
	opTrialSystem
	opDiscardTrials
)

// WriteJournal writes a study as a journal that Optuna loads with
// JournalStorage(JournalFileBackend(path)), for its dashboard and its samplers.
func WriteJournal(w io.Writer, s *store.Snapshot) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	goals := s.Definition.Goals()
	directions, metrics := make([]int, len(goals)), make([]string, len(goals))
	for i, o := range goals {
		directions[i], metrics[i] = 1, o.Name
		if o.Goal == study.Maximize {
			directions[i] = 2
		}
	}
	values := make([]map[string]any, len(s.Trials))
	for i := range s.Trials {
		if err := json.Unmarshal(s.Trials[i].Params, &values[i]); err != nil {
			return fmt.Errorf("trial %d: params: %w", i+1, err)
		}
		fixedDefaults(s.Definition, values[i])
	}
	e := journalWriter{
		goals: goals, required: s.Definition.Requirements(),
		joined: definitionParams(s.Definition, values), texts: map[string]string{}, steps: map[int][]store.Step{},
	}
	for name, d := range e.joined {
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		e.texts[name] = string(text)
	}
	for _, step := range s.Steps {
		e.steps[step.Trial] = append(e.steps[step.Trial], step)
	}
	type fields = map[string]any
	lines := []fields{
		{"op_code": opCreateStudy, "worker_id": "bo", "study_name": s.Definition.Name, "directions": directions},
		{"op_code": opStudySystem, "worker_id": "bo", "study_id": 0, "system_attr": fields{attributeMetrics: metrics}},
		{"op_code": opStudySystem, "worker_id": "bo", "study_id": 0, "system_attr": fields{attributeStudy: headerOf(s)}},
	}
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for i := range s.Trials {
		if err := enc.Encode(e.trial(&s.Trials[i], values[i])); err != nil {
			return fmt.Errorf("trial %d: %w", i+1, err)
		}
	}
	return b.Flush()
}

type journalWriter struct {
	goals    []study.Objective
	required []loop.Requirement
	joined   map[string]*distribution
	texts    map[string]string // JSON texts of the distributions
	steps    map[int][]store.Step
}

// trial returns the line of a trial.
func (w *journalWriter) trial(t *store.Trial, point map[string]any) map[string]any {
	state, values := exported(t, w.goals)
	var results []python
	for _, v := range values {
		results = append(results, python(v))
	}
	params, distributions, user := map[string]any{}, map[string]string{}, map[string]any{}
	for name, v := range point {
		if d := w.joined[name]; d == nil {
			user[name] = v // value of a removed parameter
		} else if x, ok := d.internal(v); !ok {
			user[name] = v // value of a parameter whose type has changed
		} else {
			params[name], distributions[name] = python(x), w.texts[name]
		}
	}
	for name, v := range t.Numbers {
		if state != optunaComplete || !slices.ContainsFunc(w.goals, func(o study.Objective) bool { return o.Name == name }) {
			user[name] = python(v)
		}
	}
	if t.Failure != "" {
		user[attributeFailure] = t.Failure
	}
	if t.Message != "" {
		user[attributeMessage] = t.Message
	}
	steps := map[string]python{}
	for _, s := range w.steps[t.Number] {
		if len(w.goals) == 1 && s.Name == w.goals[0].Name && s.Step == math.Trunc(s.Step) && math.Abs(s.Step) <= 1<<53 {
			steps[strconv.FormatInt(int64(s.Step), 10)] = python(s.Value)
		}
	}
	system := map[string]any{attributeTrial: trialRecord{*t, w.steps[t.Number]}}
	for _, r := range w.required {
		if v, ok := t.Numbers[r.Name]; ok {
			system[attributeConstraint+r.String()] = python(violation(r, v))
		}
	}
	line := map[string]any{
		"op_code": opCreateTrial, "worker_id": "bo", "study_id": 0, "state": state, "value": nil, "values": nil,
		"datetime_start": nil, "params": params, "distributions": distributions, "intermediate_values": steps,
		"user_attrs": user, "system_attrs": system,
	}
	if len(results) == 1 {
		line["value"] = results[0]
	} else if len(results) > 1 {
		line["values"] = results
	}
	if state != optunaWaiting {
		line["datetime_start"] = isoTime(t.Started, t.Created)
	}
	if state.finished() {
		line["datetime_complete"] = isoTime(t.Finished, t.Started, t.Created)
	}
	return line
}

// isoTime writes the first time that is not zero in the format of Optuna.
func isoTime(times ...time.Time) string {
	at := times[len(times)-1]
	for _, t := range slices.Backward(times) {
		if !t.IsZero() {
			at = t
		}
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}

// python is a number that Python reads as float.
type python float64

func (v python) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(float64(v))
	if err == nil && !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, err
}

// ReadJournal reads a study from a journal of Optuna. The name may be empty if the journal
// holds one study. Like Optuna, ReadJournal ignores an incomplete last line and operations on
// finished trials. Errors wrap ErrFormat or ErrTooLarge and name the line.
func ReadJournal(r io.Reader, name string) (*Import, error) {
	b := bufio.NewReaderSize(&limited{r: r, left: MaxSize}, 1<<16)
	j := journal{studies: map[int]*optunaStudy{}, distributions: map[string]*distribution{}}
	for n := 1; ; n++ {
		if start, err := b.Peek(1); err == nil && start[0] != '{' {
			return nil, fmt.Errorf("%w: line %d: not a journal of Optuna: want an object {…}", ErrFormat, n)
		}
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // the last line is incomplete: another process is writing it
		}
		if err != nil {
			return nil, err
		}
		if err := j.apply(line); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
		}
	}
	var studies []*optunaStudy
	for _, id := range slices.Sorted(maps.Keys(j.studies)) {
		studies = append(studies, j.studies[id])
	}
	s, err := choose(studies, name)
	if err != nil {
		return nil, unreadable(err)
	}
	in, err := s.study()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return in, nil
}

// journal is the state after the lines of a journal. Studies and trials are numbered in the
// order of their creation.
type journal struct {
	studies       map[int]*optunaStudy
	next          int
	trials        []*optunaTrial
	distributions map[string]*distribution // distributions by JSON text
}

// journalLine has the fields of all operations.
type journalLine struct {
	Op           *int                       `json:"op_code"`
	StudyName    string                     `json:"study_name"`
	Directions   []int                      `json:"directions"`
	Study        int                        `json:"study_id"`
	Trial        int                        `json:"trial_id"`
	UserAttr     map[string]json.RawMessage `json:"user_attr"`
	SystemAttr   map[string]json.RawMessage `json:"system_attr"`
	UserAttrs    map[string]json.RawMessage `json:"user_attrs"`
	SystemAttrs  map[string]json.RawMessage `json:"system_attrs"`
	Start        *string                    `json:"datetime_start"`
	Complete     *string                    `json:"datetime_complete"`
	State        *optunaState               `json:"state"`
	Value        *number                    `json:"value"`
	Values       []number                   `json:"values"`
	Steps        map[string]number          `json:"intermediate_values"`
	Params       json.RawMessage            `json:"params"`
	Dists        map[string]string          `json:"distributions"`
	ParamName    string                     `json:"param_name"`
	Internal     number                     `json:"param_value_internal"`
	Distribution string                     `json:"distribution"`
	Step         int64                      `json:"step"`
	StepValue    number                     `json:"intermediate_value"`
}

func (j *journal) apply(text []byte) error {
	var l journalLine
	if err := json.Unmarshal(pythonJSON(text), &l); err != nil {
		return cut(err)
	}
	if l.Op == nil {
		return errors.New("key op_code is missing")
	}
	if l.State != nil && (*l.State < optunaRunning || *l.State > optunaWaiting) {
		return fmt.Errorf("state %d is not one of Optuna's", *l.State)
	}
	switch s := j.studies[l.Study]; *l.Op {
	case opCreateStudy:
		for _, s := range j.studies {
			if s.name == l.StudyName {
				return nil // created by two processes at once
			}
		}
		j.studies[j.next] = &optunaStudy{name: l.StudyName, directions: l.Directions, system: map[string]json.RawMessage{}}
		j.next++
	case opDeleteStudy:
		delete(j.studies, l.Study)
	case opStudySystem:
		if s != nil {
			maps.Copy(s.system, l.SystemAttr)
		}
	case opCreateTrial:
		if s != nil {
			return j.create(s, &l)
		}
	case opStudyUser, opDiscardTrials:
	case opTrialParam, opTrialState, opTrialStep, opTrialUser, opTrialSystem:
		if l.Trial < 0 || l.Trial >= len(j.trials) {
			return nil
		}
		if t := j.trials[l.Trial]; !t.state.finished() {
			return j.change(t, &l)
		}
	default:
		return fmt.Errorf("op_code %d is not known", *l.Op)
	}
	return nil
}

// create adds a trial.
func (j *journal) create(s *optunaStudy, l *journalLine) (err error) {
	t := &optunaTrial{intermediate: map[int64]float64{}, user: map[string]json.RawMessage{}, system: map[string]json.RawMessage{}}
	maps.Copy(t.user, l.UserAttrs)
	maps.Copy(t.system, l.SystemAttrs)
	if l.State != nil {
		t.state = *l.State
	}
	if l.Value != nil {
		l.Values = []number{*l.Value}
	}
	t.setValues(l.Values)
	for step, v := range l.Steps {
		k, err := strconv.ParseInt(step, 10, 64)
		if err != nil {
			return fmt.Errorf("intermediate_values: step %q is not a whole number", step)
		}
		t.intermediate[k] = float64(v)
	}
	if t.start, err = optunaTime(l.Start); err != nil {
		return err
	}
	if t.complete, err = optunaTime(l.Complete); err != nil {
		return err
	}
	if l.Params != nil {
		var params map[string]number
		if err := json.Unmarshal(l.Params, &params); err != nil {
			return fmt.Errorf("params: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(params)) {
			text, ok := l.Dists[name]
			if !ok {
				return fmt.Errorf("parameter %q has no distribution", name)
			}
			if err := j.param(t, name, float64(params[name]), text); err != nil {
				return err
			}
		}
	}
	j.trials, s.trials = append(j.trials, t), append(s.trials, t)
	return nil
}

// param sets a parameter of a trial.
func (j *journal) param(t *optunaTrial, name string, internal float64, text string) error {
	d := j.distributions[text]
	if d == nil {
		var err error
		if d, err = parseDistribution(text); err != nil {
			return fmt.Errorf("parameter %q: %w", name, err)
		}
		j.distributions[text] = d
	}
	t.params = slices.DeleteFunc(t.params, func(p optunaParam) bool { return p.name == name })
	t.params = append(t.params, optunaParam{name, internal, d})
	return nil
}

// change applies an operation to a trial that is not finished.
func (j *journal) change(t *optunaTrial, l *journalLine) (err error) {
	switch *l.Op {
	case opTrialParam:
		return j.param(t, l.ParamName, float64(l.Internal), l.Distribution)
	case opTrialStep:
		t.intermediate[l.Step] = float64(l.StepValue)
	case opTrialUser:
		maps.Copy(t.user, l.UserAttr)
	case opTrialSystem:
		maps.Copy(t.system, l.SystemAttr)
	case opTrialState:
		if l.State == nil {
			return errors.New("key state is missing")
		}
		if *l.State == optunaRunning && t.state == optunaRunning {
			return nil // taken by another process before
		}
		t.state = *l.State
		if t.state == optunaRunning {
			t.start, err = optunaTime(l.Start)
		} else if t.state.finished() {
			t.complete, err = optunaTime(l.Complete)
		}
		if l.Values != nil {
			t.setValues(l.Values)
		}
	}
	return err
}

func (t *optunaTrial) setValues(values []number) {
	t.values = nil
	for _, v := range values {
		t.values = append(t.values, float64(v))
	}
}

// optunaTime reads a time of a journal or, in local time, of a database.
func optunaTime(text *string) (time.Time, error) {
	if text == nil || *text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999"} {
		if t, err := time.ParseInLocation(layout, *text, time.Local); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is not a time", excerpt(strconv.Quote(strings.TrimSpace(*text))))
}
