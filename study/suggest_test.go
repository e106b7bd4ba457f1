package study

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
)

const request = `{"version": 1, "n": 2, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [{"name": "loss"}], "initial": 3},
	"trials": [{"params": {"x": 0.1}, "value": 3}, {"params": {"x": 0.5}, "numbers": {"loss": 1, "time": 7}}, {"params": {"x": 0.9}, "state": "failed"}, {"params": {"x": 0.7}}]}`

// Suggestions of a request equal the suggestions of package loop.
func TestSuggest(t *testing.T) {
	ctx := context.Background()
	r, err := ParseRequest([]byte(request))
	require.NoError(t, err)
	got, err := Suggest(ctx, r)
	require.NoError(t, err)
	st, err := (&state{}).with(r)
	require.NoError(t, err)
	want, err := loop.Propose(ctx, st.space, st.options, st.history, 2)
	require.NoError(t, err)
	require.Len(t, got.Points, 2)
	for i := range got.Points {
		require.Equal(t, want.Points[i].Point.Key(), got.Points[i].Params.Key())
		require.NotNil(t, got.Points[i].Prediction.Mean)
	}
	require.Equal(t, 3, got.Fit.Observations)

	r.Warm = got.Warm // unchanged by a second round trip
	_, err = Suggest(ctx, r)
	require.NoError(t, err)
}

func TestRequestFaults(t *testing.T) {
	for _, c := range []struct{ replace, by, text string }{
		{`"version": 1`, `"version": 2`, "version is 2, want 1"},
		{`"n": 2`, `"n": -1`, "n is -1"},
		{`"n": 2`, `"n": 100000`, "want 1 to 10000"},
		{`"n": 2`, `"n": "two"`, "n: string found, want a whole number"},
		{`"n": 2`, `"count": 2`, "unknown field"},
		{`"n": 2`, `"action": "stop"`, `action is "stop", want suggest, check, recommend, pareto, report or complete`},
		{`"n": 2`, `"queue": [{"x": 3}]`, `queued point 1 of 1: invalid point`},
		{`"n": 2`, `"given": {"x": 3}`, `given: invalid point: parameter "x": 3 is outside [0, 1]`},
		{`"n": 2`, `"given": {"x": 1}, "action": "complete"`, "given is for the actions suggest and recommend, not complete"},
		{`"study"`, `"studi"`, "unknown field"},
		{`"x": 0.1`, `"x": 2`, `trial 1 of 4: invalid point: parameter "x"`},
		{`"value": 3`, `"state": "complete"`, `without a value or a number named "loss"`},
		{`"value": 3`, `"state": "done"`, `want complete, failed, stopped, lost or pending`},
		{`"value": 3`, `"numbers": {"loss": null}`, `trial 1 of 4: loss is null, want a number`},
		{`"value": 3`, `"value": 1e301`, `invalid request: trial 1 of 4: no usable number: 1e+301 is beyond`},
		{`"value": 3`, `"numbers": {"loss": "3"}`, `invalid request: trials.numbers: string found, want a number`},
		{`"value": 3`, `"value": null`, `trial 1 of 4: value is null, want a number, or state pending or failed`},
		{`"value": 3`, `"value": null, "state": "complete"`, `without a value or a number named "loss"`},
		{`"value": 3`, `"trial": -3`, "its number -3 is not above 0"},
		{`"max": 1`, `"max": 0`, "invalid study"},
		{`"n": 2`, `"warm": "x"`, "warm is not the warm start"},
		{`"n": 2`, `"action": "pareto"`, "the action pareto is for several objectives"},
		{`"n": 2`, `"action": "report"`, `"report" is missing`},
		{`"n": 2`, `"action": "report", "report": {"trial": 9}`, "no such trial: 9"},
		{`"n": 2`, `"action": "report", "report": {"trial": 1}`, "trial 1 is complete"},
		{`"n": 2`, `"action": "report", "report": {"trial": 4, "steps": [{"step": 1e301, "value": 1}]}`, "step is 1e+301, want a finite number"},
	} {
		var out bytes.Buffer
		text := strings.Replace(request, c.replace, c.by, 1)
		require.NoError(t, ServeSuggest(context.Background(), strings.NewReader(text), &out))
		require.Contains(t, out.String(), `{"error":`, c.by)
		var reply struct{ Error string }
		require.NoError(t, json.Unmarshal(out.Bytes(), &reply))
		require.Contains(t, reply.Error, c.text, c.by)
	}
}

// A trial that no fit accepts is refused, so that it does not fail the later requests of a stream.
func TestRefusedTrial(t *testing.T) {
	in := `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "require": ["cost <= 3"]}, "action": "check"}
{"trials": [{"params": {"x": 0.5}, "numbers": {"value": 1, "cost": 1e301}}], "action": "check"}
{"trials": [{"params": {"x": 0.5}, "numbers": {"value": 1, "cost": 2}}]}`
	var out bytes.Buffer
	require.NoError(t, ServeSuggest(context.Background(), strings.NewReader(in), &out))
	lines := strings.Split(out.String(), "\n")
	require.Contains(t, lines[1], `trial 1 of 1: no usable number: 1e+301 is beyond ±1e+300 (cost)","kind":"request"`)
	require.Contains(t, lines[2], `"source":"design"`)
}

// A client may write an absent value as null beside the state or the numbers of the trial.
func TestNullBesideAState(t *testing.T) {
	for rest, name := range map[string]loop.State{
		`"state": "pending"`: loop.Pending, `"state": "failed"`: loop.Failed, `"numbers": {"loss": 2}`: loop.Complete,
	} {
		r, err := ParseRequest([]byte(strings.Replace(request, `"value": 3`, `"value": null, `+rest, 1)))
		require.NoError(t, err)
		st, err := (&state{}).with(r)
		require.NoError(t, err)
		require.Equal(t, name, st.history.Trials[0].State)
	}
}

// A pipe answers line by line; a bad request does not end it, a bad text ends it.
func TestServeSuggest(t *testing.T) {
	var out bytes.Buffer
	compact := strings.ReplaceAll(request, "\n", "")
	err := ServeSuggest(context.Background(), strings.NewReader("{}\n"+compact+"\n"+request+"\nnonsense"), &out)
	require.ErrorIs(t, err, ErrRequest)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], `"study\" is missing`)
	require.Equal(t, lines[1], lines[2])
}

// converse returns the answers to requests of one stream.
func converse(t *testing.T, requests ...string) (answers []Response, lines []string) {
	var out bytes.Buffer
	require.NoError(t, ServeSuggest(context.Background(), strings.NewReader(strings.Join(requests, "\n")), &out))
	lines = strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, len(requests))
	for _, line := range lines {
		var a struct {
			Response
			Points []struct{ Params map[string]any }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		answers = append(answers, a.Response)
	}
	return answers, lines
}

// Requests that continue one another have the answer of one request with all data.
func TestContinue(t *testing.T) {
	answers, lines := converse(t, request,
		`{"trials": [{"trial": 4, "value": 2}, {"params": {"x": 0.3}, "value": 1.5}]}`,
		`{"trials": [{"trial": 5, "value": 2.5}, {"params": {"x": 7}}]}`, // a fault: nothing is kept
		`{"trials": [{"params": {"x": 0.55}, "value": 0.9}], "n": 2}`)
	require.Contains(t, lines[2], `"kind":"request"`)
	whole := `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [{"name": "loss"}], "initial": 3},
		"trials": [{"params": {"x": 0.1}, "value": 3}, {"params": {"x": 0.5}, "value": 1}, {"params": {"x": 0.9}, "state": "failed"},
			{"params": {"x": 0.7}, "value": 2}, {"params": {"x": 0.3}, "value": 1.5}, {"params": {"x": 0.55}, "value": 0.9}],
		"n": 2, "warm": ` + string(answers[1].Warm) + `}`
	_, want := converse(t, whole)
	require.Equal(t, want[0], lines[3])
}

func TestActions(t *testing.T) {
	_, lines := converse(t,
		`{"action": "check"}`,
		`{"action": "check", "study": {"parameters": [{"name": "x", "type": "int", "min": 1, "max": 2}], "objectives": [{"name": "y", "noise_free": true}]}}`,
		`{"action": "recommend"}`,
		`{"queue": [{"x": 2}], "n": 2}`,
		`{"action": "recommend", "trials": [{"params": {"x": 2}, "value": 5}, {"params": {"x": 1}, "value": 4}]}`,
		`{}`,
		`{"study": {}}`,
		`{"study": {"parameters": [{"name": "x", "type": "int", "min": 1, "max": 9}], "objectives": [{"name": "y", "noise_free": true}], "require": ["c <= 1"]},
			"trials": [{"params": {"x": 2}, "numbers": {"y": 5, "c": 1}}, {"params": {"x": 1}, "numbers": {"y": 4, "c": 2}}], "action": "recommend"}`)
	for i, want := range []string{
		`"kind":"request"`,
		`{"version":1,"points":[],"initial":2}`,
		`"kind":"no-value"`,
		`"points":[{"params":{"x":2},"source":"enqueued"},{"params":{"x":1},"source":"design"}]`,
		`"recommendation":{"observed":{"trial":2,"mean":4,"sd":0},"model":{"trial":2,"mean":4,"sd":0}}`,
		`"kind":"exhausted"`,
		`"kind":"study"`,
		`"recommendation":{"observed":{"trial":1,"mean":5,"sd":0,"feasible":1},"model":{"trial":1,"mean":5,"sd":0,"feasible":1}}`,
	} {
		require.Contains(t, lines[i], want)
	}
}

// The points of a request have its given values, in the design, after it and from the queue. The next request has none.
func TestGiven(t *testing.T) {
	_, lines := converse(t,
		`{"given": {"c": 0.25}, "n": 2, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "c", "type": "float", "min": 0, "max": 1}], "initial": 4},
			"queue": [{"x": 0.125, "c": 0.5}]}`,
		`{"given": {"c": 0.75}, "trials": [{"params": {"x": 0.1, "c": 0.25}, "value": 3}, {"params": {"x": 0.9, "c": 0.25}, "value": 1}]}`,
		`{"given": {"c": 0.75}, "trials": [{"params": {"x": 0.4, "c": 0.5}, "value": 3}, {"params": {"x": 0.6, "c": 0.1}, "value": 2}]}`,
		`{"given": {"c": 0.5}, "queue": [{"x": 0.125, "c": 0.5}]}`,
		`{}`)
	require.NotContains(t, lines[0], "enqueued")
	for i, want := range []string{`"c":0.25}`, `"c":0.75}`, `"c":0.75}`, `"c":0.5}`} {
		require.Equal(t, strings.Count(lines[i], `"params"`), strings.Count(lines[i], want), lines[i])
	}
	require.Contains(t, lines[2], `"suggested"`)
	require.Contains(t, lines[3], `"params":{"x":0.125,"c":0.5},"source":"enqueued"`)
	require.NotContains(t, lines[4], `"c":0.5}`)
}

// Each request states the value of a parameter that is given, and a queued point is not completed with one.
func TestGivenParameter(t *testing.T) {
	const (
		head    = `"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "c", "type": "int", "min": 0, "max": 9, "given": true}]`
		missing = `parameter \"c\": its value is given, never suggested: state it (bo ask: --given c=VALUE, bo enqueue: c=VALUE)","kind":`
	)
	_, lines := converse(t,
		`{`+head+`}, "action": "check"}`, `{"n": 2}`, `{"given": {"x": 1}}`, `{"given": {"c": 3}, "n": 2}`,
		`{"action": "complete", "queue": [{"x": 1}]}`, `{"action": "complete", "queue": [{"c": 1}]}`,
		`{`+head+`, "first": [{"x": 1}]}}`, `{`+head+`, "batch": 2}}`)
	for _, i := range []int{1, 2} {
		require.Contains(t, lines[i], `"error":"invalid request: given: invalid point: `+missing+`"request"`)
	}
	require.Equal(t, 2, strings.Count(lines[3], `"c":3}`), lines[3])
	require.Contains(t, lines[4], missing)
	require.Contains(t, lines[5], `"c":1}`)
	require.Contains(t, lines[6], `first: point 1: `+missing+`"study"`)
	require.Contains(t, lines[7], "batch: the trials of a batch take no given values, and a parameter is given: leave batch out")
}

// A recommendation for given values has the other values of a trial. The next request has none.
func TestRecommendationForGivenValues(t *testing.T) {
	_, lines := converse(t,
		`{"action": "recommend", "given": {"c": 0.125}, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "c", "type": "float", "min": 0, "max": 1}], "require": ["cost <= 1"]},
			"trials": [{"params": {"x": 0.1, "c": 0.25}, "numbers": {"value": 3, "cost": 0}}, {"params": {"x": 0.9, "c": 0.25}, "numbers": {"value": 1, "cost": 0}}]}`,
		`{"action": "recommend"}`,
		`{"action": "recommend", "given": {"x": 0.5}, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [{"name": "a"}, {"name": "b"}]}, "trials": [{"params": {"x": 0.1}, "numbers": {"a": 1, "b": 1}}]}`,
		`{"action": "recommend", "given": {"k": 1}, "study": {"parameters": [{"name": "k", "type": "int", "min": 1, "max": 2}, {"name": "x", "type": "float", "min": 0, "max": 1, "when": "k == 1"}]}, "trials": [{"params": {"k": 2}, "value": 1}]}`)
	require.Contains(t, lines[0], `"recommendation":{"given":{"params":{"x":0.9,"c":0.125},"trial":2,"mean":`)
	require.Contains(t, lines[0], `"feasible":`)
	require.Contains(t, lines[1], `"recommendation":{"observed":{"trial":2,`)
	require.NotContains(t, lines[1], "given")
	require.Contains(t, lines[2], `no single settings are the best","kind":"request"}`)
	require.Contains(t, lines[3], `"kind":"no-value"}`)
}

// A context that follows another does not repeat the other values of its design.
func TestDesignOfContexts(t *testing.T) {
	const study = `{"n": 1, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "c", "type": "categorical", "values": ["a", "b"]}], "initial": 4}, `
	_, first := converse(t, study+`"given": {"c": "a"}}`)
	var answer struct {
		Points []struct{ Params map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(first[0]), &answer))
	x, err := json.Marshal(answer.Points[0].Params)
	require.NoError(t, err)
	_, second := converse(t, study+`"given": {"c": "b"}, "trials": [{"params": `+string(x)+`, "value": 1}]}`)
	had := answer.Points[0].Params["x"]
	require.NoError(t, json.Unmarshal([]byte(second[0]), &answer))
	require.NotEqual(t, had, answer.Points[0].Params["x"])
}

// Values that are left out are drawn. The numbers of trials and of queued points determine them, and nothing is kept.
func TestComplete(t *testing.T) {
	const start = `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "opt", "type": "categorical", "values": ["a", "b"]},
		{"name": "m", "type": "float", "min": 2, "max": 3, "when": "opt == 'a'"}], "constraints": ["x <= 0.5"]}, "action": "complete", "queue": `
	_, lines := converse(t,
		start+`[{"opt": "b"}, {"m": 2.5}, {"x": 0.25, "opt": "b"}, {}]}`,
		`{"action": "complete", "queue": [{"opt": "b"}]}`,
		`{"action": "complete", "trials": [{"params": {"x": 0.5, "opt": "b"}, "value": 1}], "queue": [{"opt": "b"}, {"opt": "b"}]}`,
		`{"action": "complete", "queue": [{"x": 0.75}]}`,
		`{"action": "complete", "queue": [{"x": 0.25, "opt": "c", "z": 1}]}`,
		`{}`)
	var points [3][]map[string]any
	for i, line := range lines[:3] {
		var a struct {
			Points []struct {
				Params map[string]any
				Source loop.Source
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		for _, p := range a.Points {
			require.Equal(t, loop.Enqueued, p.Source)
			require.LessOrEqual(t, p.Params["x"], 0.5)
			require.Equal(t, p.Params["opt"] == "a", p.Params["m"] != nil)
			points[i] = append(points[i], p.Params)
		}
	}
	require.Len(t, points[0], 4)
	require.Equal(t, "b", points[0][0]["opt"])
	require.Equal(t, 2.5, points[0][1]["m"])
	require.Equal(t, map[string]any{"x": 0.25, "opt": "b"}, points[0][2])
	require.Equal(t, points[0][0], points[1][0])
	require.NotEqual(t, points[0][0], points[2][0])
	require.NotEqual(t, points[2][0], points[2][1])
	require.Contains(t, lines[3], `queued point 1 of 1: invalid point`)
	require.Contains(t, lines[4], `parameter \"opt\": \"c\" is not one of`)
	require.Contains(t, lines[4], `unknown parameter \"z\"`)
	require.Contains(t, lines[5], `"source":"design"`)
}

const stopping = `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "stop": {"rule": "asha", "eta": 2}}, `

// Steps of a lost trial are refused, as in loop.Study.Report.
func TestReportOfALostTrial(t *testing.T) {
	var out bytes.Buffer
	text := stopping + `"trials": [{"params": {"x": 0.1}, "state": "lost"}], "action": "report", "report": {"trial": 1, "steps": [{"step": 1, "value": 1}]}}`
	require.NoError(t, ServeSuggest(t.Context(), strings.NewReader(text), &out))
	require.Contains(t, out.String(), "trial 1 is lost")
}

// Decisions about reported steps equal the decisions of loop.Study, also if another process continues
// the stream from the recorded steps.
func TestReport(t *testing.T) {
	_, lines := converse(t,
		stopping+`"trials": [{"params": {"x": 0.1}}, {"params": {"x": 0.2}}, {"params": {"x": 0.3}}], "action": "report", "report": {"trial": 1, "steps": [{"step": 1, "value": 1}]}}`,
		`{"action": "report", "report": {"trial": 2, "steps": [{"step": 1, "value": 3}, {"step": 2, "value": 0}]}}`,
		`{"action": "report", "report": {"trial": 2, "steps": [{"step": 3, "value": 0}]}}`,
		`{"action": "report", "report": {"trial": 3, "steps": [{"step": 1, "value": null}]}}`,
		`{"action": "report", "report": {"trial": 1, "steps": [{"step": 1, "value": 9}, {"step": 2, "value": 9}]}}`,
		`{"n": 1}`)
	want := []string{
		`"decision":{"stop":false}`,
		`"decision":{"stop":true,"reason":"step 1: the value 3 is number 2 of 2 at rung 1, and the best 1 continue"}`,
		`"decision":{"stop":true}`,
		`"decision":{"stop":true,"reason":"step 1: the value 1e+300 is number 3 of 3 at rung 1, and the best 1 continue"}`,
		`"decision":{"stop":false}`,
		`"source":"design"`,
	}
	for i := range want {
		require.Contains(t, lines[i], want[i])
	}
	_, lines = converse(t, stopping+`"trials": [{"params": {"x": 0.1}, "steps": [{"step": 1, "value": 1}]},
		{"params": {"x": 0.2}, "steps": [{"step": 1, "value": 3}], "state": "stopped"}, {"params": {"x": 0.3}}],
		"action": "report", "report": {"trial": 3, "steps": [{"step": 1, "value": null}]}}`)
	require.Contains(t, lines[0], want[3])
}

func TestPareto(t *testing.T) {
	_, lines := converse(t,
		`{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "require": ["c <= 1"],
			"objectives": [{"name": "a", "reference": 4}, {"name": "b", "goal": "maximize", "reference": 0}]}, "action": "check"}`,
		`{"action": "pareto"}`,
		`{"trials": [{"params": {"x": 0}, "numbers": {"a": 1, "b": 1, "c": 0}}, {"params": {"x": 0.1}, "numbers": {"a": 2, "b": 2, "c": 0}},
			{"params": {"x": 0.2}, "numbers": {"a": 3, "b": 1, "c": 0}}, {"params": {"x": 0.3}, "numbers": {"a": 0, "b": 9, "c": 2}}], "action": "pareto"}`)
	require.Contains(t, lines[0], `"require":[{"name":"c","bound":1}]`)
	require.Contains(t, lines[1], `"pareto":{"front":[]}`)
	require.Contains(t, lines[2], `"pareto":{"front":[1,2],"reference":{"a":4,"b":0},"hypervolume":[3,5,5,5]}`)
}
