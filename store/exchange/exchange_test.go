package exchange_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

var ctx = context.Background()

func memory(t testing.TB) *store.Store {
	s := store.New(store.NewMemory(), store.Options{Version: "test"})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// cheap makes the maximisation of the acquisition function short.
var cheap = map[string]any{"raw": 16, "starts": 1}

// tenDefinitions have every kind of parameter, both goals and several methods.
func tenDefinitions() []*study.Definition {
	loss := []study.Objective{{Name: "loss"}}
	score := []study.Objective{{Name: "score", Goal: study.Maximize, NoiseFree: true}}
	x := space.Float("x", -1, 1)
	all := [][]space.Parameter{
		{x},
		{space.LogFloat("lr", 1e-5, 0.1), space.Int("layers", 1, 8), space.Categorical("opt", "adam", "sgd", "lion")},
		{space.LogInt("batch", 1, 1024), x},
		{space.Ordinal("width", 16, 32, 64.5), x},
		{space.Categorical("flag", true, false), x, space.Fixed("data", "mnist")},
		{space.Categorical("mixed", "1", 1, 2.5, true, "None", ""), x},
		{space.Fixed("n", 3), space.Fixed("on", true), space.Fixed("v", 0.1), x},
		{space.Float("a b", 0, 1e-300), space.Float("ü\"\\", -1e300, 1e300)},
		{space.Int("i", -1<<53, -1<<53+1000), x},
		{space.Ordinal("size", "s", "m", "l"), space.Int("k", 0, 1), space.Float("trial", 0.1, 0.7)},
	}
	var out []*study.Definition
	for i, parameters := range all {
		d := &study.Definition{
			Version: 1, Name: fmt.Sprintf("study-%d", i), Parameters: parameters, Objectives: loss, Budget: 9, Initial: 4, Seed: uint64(i), Maximizer: cheap,
		}
		if i%2 == 1 {
			d.Objectives = score
		}
		out = append(out, d)
	}
	out[2].Surrogate = study.Component{Name: "rff"}
	out[3].Surrogate = study.Component{Name: "gp", Settings: map[string]any{"kernel": "rbf"}}
	out[4].Command, out[4].Timeout = "train --flag {flag} 'a<b'", study.Duration(time.Minute)
	out[5].Objectives, out[5].Batch = nil, 2
	return out
}

// made is a study of eight asked trials: complete, failed, stopped by hand and pending trials,
// with extra numbers and steps.
func made(t testing.TB, s *store.Store, d *study.Definition) *store.Study {
	u, err := s.Create(ctx, d)
	require.NoError(t, err)
	objective := d.Objective().Name
	for i := 1; i <= 7; i++ {
		trials, err := u.Ask(ctx, 1)
		if errors.Is(err, store.ErrExhausted) {
			break
		}
		require.NoError(t, err)
		tr := trials[0]
		value := objectiveAt(tr.Params)
		require.NoError(t, u.AddSteps(ctx,
			store.Step{Trial: tr.Number, Attempt: 1, Step: 1, Name: objective, Value: value * 2},
			store.Step{Trial: tr.Number, Attempt: 1, Step: 1.5, Name: "accuracy", Value: 0.25}))
		r := store.Report{Trial: tr.Number, Token: tr.Token, Numbers: map[string]float64{objective: value, "latency": float64(i)}, Seconds: 0.5}
		switch i {
		case 3:
			r.Failure, r.Message, r.Numbers = store.FailedByProgram, "line 1\nü \"quoted\" \x1b", nil
		case 5:
			r.Failure, r.Message = store.TimedOut, "after 1m"
		}
		_, err = u.Tell(ctx, r)
		require.NoError(t, err)
	}
	return u
}

func objectiveAt(params json.RawMessage) float64 {
	var values map[string]any
	if err := json.Unmarshal(params, &values); err != nil {
		panic(err)
	}
	sum := 0.1
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if x, ok := values[name].(float64); ok {
			sum += math.Sin(x) + 1/3.0
		}
	}
	return sum
}

// ten returns the snapshots of ten studies.
func ten(t testing.TB) []*store.Snapshot {
	s := memory(t)
	var out []*store.Snapshot
	for i, d := range tenDefinitions() {
		u := made(t, s, d)
		switch i {
		case 0: // one trial waits, one was added, one is stopped
			_, err := u.Enqueue(ctx, "", map[string]any{"x": 0.5})
			require.NoError(t, err)
			_, err = u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": -1}, Numbers: map[string]float64{"loss": 1e300}})
			require.NoError(t, err)
		case 1: // trials that do not fit the edited space, and one that runs
			require.NoError(t, u.Edit(ctx, func(d study.Definition) (*study.Definition, error) {
				d.Parameters = []space.Parameter{space.LogFloat("lr", 1e-3, 0.01), space.Categorical("opt", "adam", "adagrad"), space.Categorical("layers", "few", "many"), space.Float("new", 0, 1)}
				d.Defaults = map[string]any{"new": 0.5, "layers": "few"}
				return &d, nil
			}))
			_, err := u.Ask(ctx, 1)
			require.NoError(t, err)
		}
		snapshot, err := u.Snapshot(ctx)
		require.NoError(t, err)
		if i == 0 {
			snapshot.Trials[1].State, snapshot.Trials[1].Numbers = store.Stopped, nil
		}
		out = append(out, snapshot)
	}
	return out
}

// same compares two snapshots by their export.
func same(t testing.TB, want, got *store.Snapshot) {
	t.Helper()
	require.Equal(t, text(t, want), text(t, got))
}

func text(t testing.TB, s *store.Snapshot) string {
	var b bytes.Buffer
	require.NoError(t, exchange.Write(&b, s))
	return b.String()
}

func TestDocumentComesBackUnchanged(t *testing.T) {
	for _, want := range ten(t) {
		in, err := exchange.Read(strings.NewReader(text(t, want)))
		require.NoError(t, err)
		require.Empty(t, in.Notes)
		same(t, want, in.Snapshot)

		u, err := memory(t).Restore(ctx, "", in.Snapshot)
		require.NoError(t, err, want.Definition.Name)
		got, err := u.Snapshot(ctx)
		require.NoError(t, err)
		same(t, want, got)
	}
}

// A restored study makes the suggestions of the original study, and earlier suggestions replay.
func TestRestoredStudyContinues(t *testing.T) {
	for _, d := range tenDefinitions()[:5] {
		original := made(t, memory(t), d)
		snapshot, err := original.Snapshot(ctx)
		require.NoError(t, err)
		in, err := exchange.Read(strings.NewReader(text(t, snapshot)))
		require.NoError(t, err)
		u, err := memory(t).Restore(ctx, "copy", in.Snapshot)
		require.NoError(t, err)
		require.Equal(t, "copy", u.Name())

		for i := range snapshot.Trials {
			params, err := u.Replay(ctx, i+1)
			require.NoError(t, err)
			require.JSONEq(t, string(snapshot.Trials[i].Params), string(params), "trial %d of %s", i+1, d.Name)
		}
		for range 2 {
			want, err := original.Ask(ctx, 1)
			require.NoError(t, err)
			got, err := u.Ask(ctx, 1)
			require.NoError(t, err)
			require.Equal(t, string(want[0].Params), string(got[0].Params), d.Name)
			require.Equal(t, want[0].Prediction, got[0].Prediction)
			for i, u := range []*store.Study{original, u} {
				tr := [][]store.Trial{want, got}[i][0]
				_, err := u.Tell(ctx, store.Report{Trial: tr.Number, Token: tr.Token, Numbers: map[string]float64{d.Objective().Name: objectiveAt(tr.Params)}})
				require.NoError(t, err)
			}
		}
		_, err = u.Ask(ctx, 1)
		require.ErrorIs(t, err, store.ErrBudget)
	}
}

func TestReadReportsFaults(t *testing.T) {
	const definition = `"definition":{"version":1,"name":"s","parameters":[{"name":"x","type":"float","min":0,"max":1}]}`
	const start = `{"format":"bo-export","version":1,` + definition
	for text, want := range map[string]string{
		"":                                   "not an export of bo",
		"[]":                                 "not an export of bo",
		"\x00\x00":                           "not an export of bo",
		"hello":                              "not an export of bo",
		"{":                                  "ends in the middle",
		"{}":                                 `key "format" is missing`,
		`{"format":"x"}`:                     `format: "x", want "bo-export"`,
		`{"format":"bo-export","version":2`:  "version: 2 is newer than 1",
		`{"format":"bo-export","version":0`:  "version: 0, want 1 to 1",
		`{"format":"bo-export","version":1}`: `key "definition" is missing`,
		start + `}`:                          `key "trials" is missing`,
		start + `,"trials":{}}`:              "trials: want a list",
		start + `,"trials":[],"trials":[]}`:  `key "trials" occurs twice`,
		start + `,"trails":[]}`:              `unknown key "trails": did you mean trials?`,
		start + `,"trials":[{"trial":"a"}]}`: `line 1, trials, entry 1, trial: "a" is text, want a whole number`,
		start + `,"trials":[{"trial":1},{"lr":1}]}`:                     `line 1, trials, entry 2: unknown key "lr"`,
		start + `,"trials":[{"trial":1}`:                                "the file ends in the middle",
		start + `,"trials":[]} x`:                                       "text follows the document",
		`{"format":"bo-export","version":1,"definition":{"budget":-1}}`: "definition: invalid study: ",
		`{"format":"bo-run","version":2}`:                               "a state of version 2",
		`{"format":"bo-run","version":1,"study":{}}`:                    "invalid search space",
		`{"format":"bo-study","version":1`:                              "unexpected end",
	} {
		_, err := exchange.Read(strings.NewReader(text))
		require.ErrorIs(t, err, exchange.ErrFormat, text)
		require.ErrorContains(t, err, want, text)
	}
}

// Messages about a trial name line, trial, key and value, and what is accepted.
func TestReadPlacesFaultsOfTrials(t *testing.T) {
	const start = `{"format":"bo-export","version":1,
"definition":{"version":1,"name":"s","parameters":[{"name":"x","type":"float","min":0,"max":1}]},
"trials":[
{"trial":1,"params":{"x":0.5},"source":"added","state":"complete","numbers":{"y":1}},
`
	const end = "\n]}"
	for trial, want := range map[string]string{
		`{"trial":2,"params":{"x":0.5},"numbers":{"y":60,5}}`:          "line 5, trial 2, y: 60,5 has a decimal comma, want a decimal point: 60.5",
		"{\n \"trial\": 2,\n \"numbers\": {\n  \"y\": \"60.5\"\n }\n}": `line 8, trial 2, y: "60.5" is text, want a number such as 60.5`,
		`{"trial":2,"numbers":{"y":null}}`:                             "line 5, trial 2, y: null is no value, want a number such as 60.5",
		`{"trial":2,"numbers":{"y":NaN}}`:                              "line 5, trial 2, y: NaN is no value of JSON, want a number such as 60.5",
		`{"trial":2,"numbers":{"y":nan}}`:                              "line 5, trial 2, y: nan is no value of JSON",
		`{"trial":2,"numbers":{"y":060}}`:                              "line 5, trial 2, y: 060 is no value of JSON",
		`{"trial":2,"numbers":{"y":60%}}`:                              "line 5, trial 2, y: 60% is no value of JSON",
		`{"trial":2,"numbers":{"y":1e999}}`:                            "line 5, trial 2, y: 1e999 is too large a number",
		`{"trial":2,"numbers":{"y":60,}}`:                              "line 5, trial 2: a comma stands before }: delete the comma",
		`{"trial":2,"numbers":{"y":60,"y":61}}`:                        `line 5, trial 2: key "y" occurs twice`,
		`{"trial":2,"params":{"x":0},"params":{"x":1}}`:                `line 5, trial 2: key "params" occurs twice`,
		`{"trial":2,"numbers":{"y":60}},`:                              "line 6, trials, entry 3: a comma stands before ]: delete the comma",
		"{\"trial\":2,\"numbers\":{\"y\":60}}\n{\"trial\":3}":          "line 6, trial 3: a comma is missing",
		`{"trial":2,"numbers":{"y" 60}}`:                               `line 5, trial 2: no JSON near`,
		`{"trial":2,"state":5}`:                                        "line 5, trial 2, state: 5 is a number, want text in double quotes",
		`{"trial":2,"stat":"failed"}`:                                  `line 5, trial 2: unknown key "stat": did you mean state?`,
		`{"trial":2,"created":"today"}`:                                "line 5, trial 2: ",
		`7`:                                                            "line 5, trials, entry 2: 7 is a number, want an object",
	} {
		_, err := exchange.Read(strings.NewReader(start + trial + end))
		require.ErrorIs(t, err, exchange.ErrFormat, trial)
		require.ErrorContains(t, err, want, trial)
	}
}

// endless is a reader of blanks without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestReadersEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 320 MB")
	}
	_, err := exchange.Read(endless{})
	require.ErrorIs(t, err, exchange.ErrTooLarge)
	_, _, err = exchange.ReadCSV("a.csv", endless{}, tenDefinitions()[0])
	require.ErrorIs(t, err, exchange.ErrTooLarge)
}

func TestRestoreChecks(t *testing.T) {
	base := ten(t)[2]
	for want, change := range map[string]func(*store.Snapshot){
		"trial 1: its number is 1, want 2":                                            func(s *store.Snapshot) { s.Trials[1].Number = 1 },
		`trial 1: state is "failed" and there is no failure: add "failure":"program"`: func(s *store.Snapshot) { s.Trials[0].State = store.Failed },
		"trial 7: trials 2 to 6 are missing before it":                                func(s *store.Snapshot) { s.Trials[1].Number = 7 },
		`trial 1: source is "luck"`:                                                   func(s *store.Snapshot) { s.Trials[0].Source = "luck" },
		`trial 1: state is "done"`:                                                    func(s *store.Snapshot) { s.Trials[0].State = "done" },
		`trial 1: failure is "x"`:                                                     func(s *store.Snapshot) { s.Trials[0].Failure = "x" },
		`trial 1: state is "complete" and failure is "timeout": delete the keys "failure" and "message"`: func(s *store.Snapshot) { s.Trials[0].Failure = store.TimedOut },
		"trial 1: params is not an object":           func(s *store.Snapshot) { s.Trials[0].Params = json.RawMessage("null") },
		`trial 1: parameter "x" is not text`:         func(s *store.Snapshot) { s.Trials[0].Params = json.RawMessage(`{"x":[1]}`) },
		"loss is +Inf":                               func(s *store.Snapshot) { s.Trials[0].Numbers["loss"] = math.Inf(1) },
		"trial 4: asked 99":                          func(s *store.Snapshot) { s.Trials[3].Asked = 99 },
		"trial 4: it is pending and was told":        func(s *store.Snapshot) { s.Trials[3].State = store.Pending },
		"trial 4: fit is 99":                         func(s *store.Snapshot) { s.Trials[3].Fit = 99 },
		"trial 4: 2 of 1 attempts were lost":         func(s *store.Snapshot) { s.Trials[3].Lost = 2 },
		"fit 1: start is 1, which is no earlier fit": func(s *store.Snapshot) { s.Fits[0].Start = 1 },
		"fit 1: warm is not a list of numbers":       func(s *store.Snapshot) { s.Fits[0].Warm = json.RawMessage(`"a"`) },
		"warm is 99, which is no fit":                func(s *store.Snapshot) { s.Warm = 99 },
		"step 1 of the list: no such trial: 0":       func(s *store.Snapshot) { s.Steps[0].Trial = 0 },
		"has another value of loss at step":          func(s *store.Snapshot) { s.Steps = append(s.Steps, s.Steps[0]) },
		"event 2 of the list has revision 7, want 2": func(s *store.Snapshot) { s.Events[1].Revision = 7 },
		"there is no definition":                     func(s *store.Snapshot) { s.Definition = nil },
	} {
		in, err := exchange.Read(strings.NewReader(text(t, base)))
		require.NoError(t, err)
		change(in.Snapshot)
		s := memory(t)
		_, err = s.Restore(ctx, "", in.Snapshot)
		require.ErrorIs(t, err, store.ErrSnapshot, want)
		require.ErrorContains(t, err, want)
		list, err := s.List(ctx)
		require.NoError(t, err)
		require.Empty(t, list)
	}
	s := memory(t)
	_, err := s.Restore(ctx, "a", base)
	require.NoError(t, err)
	_, err = s.Restore(ctx, "a", base)
	require.ErrorIs(t, err, store.ErrExists)
	_, err = s.Restore(ctx, "a b", base)
	require.ErrorIs(t, err, study.ErrInvalid)
}

// testdata/bo-run.json was written by bo run --objective branin --budget 9 --seed 3
// --set kernel=matern32 --state.
func TestReadStateOfRun(t *testing.T) {
	file, err := os.ReadFile("testdata/bo-run.json")
	require.NoError(t, err)
	in, err := exchange.Read(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, []string{"the file does not hold the run's budget: it is 50 trials"}, in.Notes)
	d := in.Snapshot.Definition
	require.Equal(t, "branin", d.Builtin)
	require.Equal(t, uint64(3), d.Seed)
	require.Equal(t, study.Component{Name: "gp", Settings: map[string]any{"kernel": "matern32"}}, d.Surrogate)
	require.Equal(t, []study.Objective{{Name: "value", NoiseFree: true}}, d.Objectives)
	require.Len(t, in.Snapshot.Trials, 9)

	u, err := memory(t).Restore(ctx, "branin", in.Snapshot)
	require.NoError(t, err)
	continues(t, u, file)
}

// continues compares the next suggestions of a study with the suggestions of package loop.
func continues(t *testing.T, u *store.Study, state []byte) {
	v, err := u.View(ctx)
	require.NoError(t, err)
	o, err := v.Definition.Method()
	require.NoError(t, err)
	var f struct{ Study json.RawMessage }
	require.NoError(t, json.Unmarshal(state, &f))
	if f.Study == nil {
		f.Study = state
	}
	l, err := loop.ResumeIn(bytes.NewReader(f.Study), v.Space, o)
	require.NoError(t, err)
	told := map[string]float64{}
	for _, name := range v.Definition.Declared() {
		told[name] = 3
	}
	for range 2 {
		want, err := l.Ask(ctx, 1)
		require.NoError(t, err)
		got, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		params, err := json.Marshal(want[0].Point)
		require.NoError(t, err)
		require.Equal(t, string(params), string(got[0].Params))
		require.NoError(t, l.TellOutcome(want[0].ID, loop.Outcome{Value: 3, Numbers: told}))
		_, err = u.Tell(ctx, store.Report{Trial: got[0].Number, Token: got[0].Token, Numbers: told})
		require.NoError(t, err)
	}
}

func TestReadStudyOfLoop(t *testing.T) {
	d := &study.Definition{Version: 1, Name: "l", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Initial: 3, Seed: 4}
	s, err := d.Space()
	require.NoError(t, err)
	o, err := d.Method()
	require.NoError(t, err)
	l, err := loop.New(s, o)
	require.NoError(t, err)
	for i := range 5 {
		trials, err := l.Ask(ctx, 1)
		require.NoError(t, err)
		if i == 2 {
			require.NoError(t, l.Fail(trials[0].ID, "broken"))
		} else {
			require.NoError(t, l.TellOutcome(trials[0].ID, loop.Outcome{Value: float64(i), Numbers: map[string]float64{"cost": 7}}))
		}
	}
	var b bytes.Buffer
	require.NoError(t, l.Save(&b))
	in, err := exchange.Read(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	require.Len(t, in.Notes, 2)
	require.Equal(t, store.FailedByProgram, in.Snapshot.Trials[2].Failure)
	require.Equal(t, map[string]float64{"value": 4, "cost": 7}, in.Snapshot.Trials[4].Numbers)
	u, err := memory(t).Restore(ctx, "l", in.Snapshot)
	require.NoError(t, err)
	continues(t, u, b.Bytes())
}

// A saved study keeps its objectives with their standard errors, requirements, constraints, beliefs, first points and maximizer.
func TestReadOutcomesAndBeliefsOfLoop(t *testing.T) {
	noise, reference := 0.1, 9.0
	params := []space.Parameter{space.Float("x", 0, 1), space.Int("n", 1, 4)}
	for _, d := range []*study.Definition{
		{
			Parameters: params, Objectives: []study.Objective{
				{Name: "loss", NoiseSD: &noise, StandardError: "latency", Reference: &reference}, {Name: "gain", Goal: study.Maximize, NoiseFree: true},
			},
		},
		{
			Parameters: params, Constraints: []string{"x * n <= 3"}, Objectives: []study.Objective{{Name: "value", Goal: study.Maximize, StandardError: "share"}},
			Require: []string{"latency <= 20.5", "share >= 1e-07"}, Optimum: map[string]loop.Belief{"x": {Around: 0.3, Within: 0.1}},
			PriorMean: "2 * x + n", First: []map[string]any{{"n": 2.0}, {"x": 0.5}}, Maximizer: map[string]any{"raw": json.Number("200")},
		},
	} {
		d.Version, d.Name, d.Initial, d.Seed = 1, "l", 4, 4
		s, err := d.Space()
		require.NoError(t, err)
		o, err := d.Method()
		require.NoError(t, err)
		l, err := loop.New(s, o)
		require.NoError(t, err)
		for i := range 5 {
			trials, err := l.Ask(ctx, 1)
			require.NoError(t, err)
			v := float64(i)
			require.NoError(t, l.TellOutcome(trials[0].ID, loop.Outcome{
				Value: v, Numbers: map[string]float64{"loss": v, "gain": v * v, "latency": 22 - v, "share": 0.1},
			}))
		}
		var b bytes.Buffer
		require.NoError(t, l.Save(&b))
		in, err := exchange.Read(bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		got := in.Snapshot.Definition
		require.Equal(t, d.Objectives, got.Objectives)
		require.Equal(t, d.Require, got.Require)
		require.Equal(t, d.Constraints, got.Constraints)
		require.Equal(t, d.Optimum, got.Optimum)
		require.Equal(t, d.PriorMean, got.PriorMean)
		require.Equal(t, d.First, got.First)
		require.Equal(t, d.Maximizer, got.Maximizer)
		u, err := memory(t).Restore(ctx, "l", in.Snapshot)
		require.NoError(t, err)
		continues(t, u, b.Bytes())
	}
}

// Stopped trials keep the steps on which their expected values depend, and lost trials stay lost.
func TestReadStoppedAndLostTrialsOfLoop(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		d := &study.Definition{Version: 1, Name: "l", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Initial: 4}
		if maximize {
			d.Objectives = []study.Objective{{Name: "value", Goal: study.Maximize}}
		}
		s, err := d.Space()
		require.NoError(t, err)
		o, err := d.Method()
		require.NoError(t, err)
		o.Stop = loop.Stop{Rule: loop.ASHA, Eta: 2}
		l, err := loop.New(s, o)
		require.NoError(t, err)
		sign := 1.0
		if maximize {
			sign = -1
		}
		trials, err := l.Ask(ctx, 4)
		require.NoError(t, err)
		for i, v := range []float64{1, 3, math.NaN()} {
			stop, err := l.Report(trials[i].ID, 1, sign*v)
			require.NoError(t, err)
			require.Equal(t, i > 0, stop)
		}
		require.NoError(t, l.Tell(trials[0].ID, sign*0.5))
		require.NoError(t, l.Lose(trials[3].ID, "no power"))
		var b bytes.Buffer
		require.NoError(t, l.Save(&b))
		in, err := exchange.Read(bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		u, err := memory(t).Restore(ctx, "l", in.Snapshot)
		require.NoError(t, err)
		_, _, h, err := u.History(ctx)
		require.NoError(t, err)
		worst := sign * loop.MaxValue
		var states []loop.State
		var steps [][]loop.Step
		for _, k := range h.Trials {
			states, steps = append(states, k.State), append(steps, k.Steps)
		}
		require.Equal(t, []loop.State{loop.Complete, loop.Stopped, loop.Stopped, loop.Lost}, states)
		require.Equal(t, [][]loop.Step{{{Step: 1, Value: sign}}, {{Step: 1, Value: 3 * sign}}, {{Step: 1, Value: worst}}, nil}, steps)
		require.Equal(t, 3*sign, h.Trials[1].Value)
		require.Equal(t, "no power", h.Trials[3].Error)
	}
}

func FuzzRead(f *testing.F) {
	file, err := os.ReadFile("testdata/bo-run.json")
	require.NoError(f, err)
	f.Add(file)
	f.Add([]byte(text(f, ten(f)[0])))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := exchange.Read(bytes.NewReader(text))
		if err == nil {
			_, _ = memory(t).Restore(ctx, "s", in.Snapshot)
		}
	})
}

// failing is a backend that stores no steps once.
type failing struct {
	store.Backend
	fault error
}

func (b *failing) Update(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.Update(ctx, func(tx store.Tx) error { return f(failingTx{tx, b}) })
}

type failingTx struct {
	store.Tx
	b *failing
}

func (tx failingTx) PutSteps(study int64, steps []store.Step) error {
	if fault := tx.b.fault; fault != nil {
		tx.b.fault = nil
		return fault
	}
	return tx.Tx.PutSteps(study, steps)
}

// A stopped trial is no failure of its point: with steps it stays stopped, and without it is lost.
func TestAddStoppedTrials(t *testing.T) {
	journal := `{"op_code":0,"study_name":"a","directions":[1]}` + "\n"
	for _, trial := range []string{`"state":1,"value":1,"intermediate_values":{"1":3,"2":2}`, `"state":2,"intermediate_values":{"1":7}`, `"state":2,"intermediate_values":{}`} {
		journal += `{"op_code":4,"study_id":0,"params":{"x":1},"datetime_start":null,"distributions":{` +
			`"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0,\"high\":2}}"},` + trial + "}\n"
	}
	in, err := exchange.ReadJournal(strings.NewReader(journal), "")
	require.NoError(t, err)
	u, err := memory(t).Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 2)}, Objectives: []study.Objective{{Name: "loss"}}})
	require.NoError(t, err)
	_, err = exchange.Add(ctx, u, "k", in)
	require.NoError(t, err)
	_, _, h, err := u.History(ctx)
	require.NoError(t, err)
	var states []loop.State
	for _, trial := range h.Trials {
		states = append(states, trial.State)
	}
	require.Equal(t, []loop.State{loop.Complete, loop.Stopped, loop.Lost}, states)
	require.Equal(t, []loop.Step{{Step: 1, Value: 7}}, h.Trials[1].Steps)
}

// The added trials of an export have the steps of the last attempts of its trials.
func TestAddKeepsStepsOfTheLastAttempt(t *testing.T) {
	d := &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 2)}, Objectives: []study.Objective{{Name: "loss"}}, Stop: loop.Stop{Rule: "median", Startup: 1}}
	u, err := memory(t).Create(ctx, d)
	require.NoError(t, err)
	trials, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	report := func(i int, step, value float64) {
		_, err := u.ReportSteps(ctx, store.Attempt{Trial: i + 1, Token: trials[i].Token}, loop.Step{Step: step, Value: value})
		require.NoError(t, err)
	}
	report(0, 1, 3)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"loss": 2}})
	require.NoError(t, err)
	report(1, 1, 1)
	require.NoError(t, u.Release(ctx, store.Attempt{Trial: 2, Token: trials[1].Token}))
	again, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, 2, again[0].Number)
	trials[1] = again[0]
	report(1, 1, 8)
	snapshot, err := u.Snapshot(ctx)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, exchange.Write(&b, snapshot))
	in, err := exchange.Read(&b)
	require.NoError(t, err)
	other, err := memory(t).Create(ctx, d)
	require.NoError(t, err)
	_, err = exchange.Add(ctx, other, "k", in)
	require.NoError(t, err)
	_, _, h, err := other.History(ctx)
	require.NoError(t, err)
	require.Equal(t, []loop.Step{{Step: 1, Value: 3}}, h.Trials[0].Steps)
	require.Equal(t, loop.Stopped, h.Trials[1].State)
	require.Equal(t, []loop.Step{{Step: 1, Value: 8}}, h.Trials[1].Steps)
}

// An import that fails adds no trial without its steps, so that a repeated import adds both.
func TestAddIsWhole(t *testing.T) {
	in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1]}`+"\n"+
		`{"op_code":4,"study_id":0,"state":1,"value":1,"params":{"x":1},"datetime_start":null,"intermediate_values":{"1":3,"2":2},"distributions":{`+
		`"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0,\"high\":2}}"}}`+"\n"), "")
	require.NoError(t, err)
	full := errors.New("no space left")
	s := store.New(&failing{store.NewMemory(), full}, store.Options{})
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 2)}, Objectives: []study.Objective{{Name: "loss"}}})
	require.NoError(t, err)
	_, err = exchange.Add(ctx, u, "k", in)
	require.ErrorIs(t, err, full)
	for range 2 {
		added, err := exchange.Add(ctx, u, "k", in)
		require.NoError(t, err)
		require.Len(t, added, 1)
		require.Equal(t, 1, added[0].Number)
		steps, err := u.Steps(ctx, 0)
		require.NoError(t, err)
		require.Equal(t, []store.Step{{Trial: 1, Step: 1, Name: "loss", Value: 3}, {Trial: 1, Step: 2, Name: "loss", Value: 2}}, steps)
	}
}
