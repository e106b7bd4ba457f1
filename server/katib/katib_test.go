package katib_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/server/katib"
	"github.com/functionspace/bo/study"
)

const (
	uniform   = api.Distribution_UNIFORM
	logarithm = api.Distribution_LOG_UNIFORM
	normal    = api.Distribution_NORMAL
	logNormal = api.Distribution_LOG_NORMAL
	double    = api.ParameterType_DOUBLE
	integer   = api.ParameterType_INT
)

// between is a parameter with bounds. The step is optional.
func between(name string, kind api.ParameterType, lo, hi, step string, d api.Distribution) *api.ParameterSpec {
	return &api.ParameterSpec{Name: name, ParameterType: kind, FeasibleSpace: &api.FeasibleSpace{Min: lo, Max: hi, Step: step, Distribution: d}}
}

func listed(name string, kind api.ParameterType, list ...string) *api.ParameterSpec {
	return &api.ParameterSpec{Name: name, ParameterType: kind, FeasibleSpace: &api.FeasibleSpace{List: list}}
}

func discrete(name string, list ...string) *api.ParameterSpec {
	return listed(name, api.ParameterType_DISCRETE, list...)
}

func categorical(name string, list ...string) *api.ParameterSpec {
	return listed(name, api.ParameterType_CATEGORICAL, list...)
}

// experiment minimises the metric loss. Settings are names and values in turn.
func experiment(parameters []*api.ParameterSpec, settings ...string) *api.Experiment {
	e := &api.Experiment{Name: "resnet", Spec: &api.ExperimentSpec{
		ParameterSpecs: &api.ExperimentSpec_ParameterSpecs{Parameters: parameters},
		Objective:      &api.ObjectiveSpec{Type: api.ObjectiveType_MINIMIZE, ObjectiveMetricName: "loss", Goal: 0.01, AdditionalMetricNames: []string{"latency"}},
		Algorithm:      &api.AlgorithmSpec{AlgorithmName: "bo"}, ParallelTrialCount: 3, MaxTrialCount: 12,
	}}
	for i := 0; i+1 < len(settings); i += 2 {
		e.Spec.Algorithm.AlgorithmSettings = append(e.Spec.Algorithm.AlgorithmSettings, &api.AlgorithmSetting{Name: settings[i], Value: settings[i+1]})
	}
	return e
}

// trial is a trial at an assignment. Metrics are names and values in turn.
func trial(at *api.GetSuggestionsReply_ParameterAssignments, condition api.TrialStatus_TrialConditionType, metrics ...string) *api.Trial {
	t := &api.Trial{
		Name:   "trial",
		Spec:   &api.TrialSpec{ParameterAssignments: &api.TrialSpec_ParameterAssignments{Assignments: at.Assignments}},
		Status: &api.TrialStatus{Condition: condition, StartTime: "2026-11-23T01:00:00Z", Observation: &api.Observation{}},
	}
	for i := 0; i+1 < len(metrics); i += 2 {
		t.Status.Observation.Metrics = append(t.Status.Observation.Metrics, &api.Metric{Name: metrics[i], Value: metrics[i+1]})
	}
	return t
}

// at is an assignment of names and values in turn.
func at(pairs ...string) *api.GetSuggestionsReply_ParameterAssignments {
	a := &api.GetSuggestionsReply_ParameterAssignments{}
	for i := 0; i+1 < len(pairs); i += 2 {
		a.Assignments = append(a.Assignments, &api.ParameterAssignment{Name: pairs[i], Value: pairs[i+1]})
	}
	return a
}

func request(e *api.Experiment, n int, trials ...*api.Trial) *api.GetSuggestionsRequest {
	return &api.GetSuggestionsRequest{Experiment: e, Trials: trials, CurrentRequestNumber: int32(n), TotalRequestNumber: int32(n + len(trials))}
}

// onGrid reports whether a text is lo + k·step, in decimal numbers of up to six places.
func onGrid(text string, lo, hi, step float64) bool {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < lo || v > hi {
		return false
	}
	k := math.Round((v - lo) / step)
	return math.Abs(lo+k*step-v) < 1e-9 && len(text) < 10
}

// Suggestions are valid for all types of parameters, without trials and after many.
func TestParameters(t *testing.T) {
	number := func(lo, hi float64) func(string) bool {
		return func(text string) bool {
			v, err := strconv.ParseFloat(text, 64)
			return err == nil && v >= lo && v <= hi
		}
	}
	whole := func(lo, hi int) func(string) bool {
		return func(text string) bool {
			v, err := strconv.Atoi(text)
			return err == nil && v >= lo && v <= hi
		}
	}
	grid := func(lo, hi, step float64) func(string) bool {
		return func(text string) bool { return onGrid(text, lo, hi, step) }
	}
	oneOf := func(list ...string) func(string) bool {
		return func(text string) bool { return slices.Contains(list, text) }
	}
	cases := []struct {
		spec  *api.ParameterSpec
		valid func(string) bool
	}{
		{between("x", double, "0", "1", "", uniform), number(0, 1)},
		{between("rate", double, "1e-5", "0.10", "", logarithm), number(1e-5, 0.1)},
		{between("momentum", double, "0.5", "0.99", "0.1", 0), grid(0.5, 0.99, 0.1)}, // max is not a step
		{between("drop-out", double, "0.01", "0.5", "0.01", logarithm), grid(0.01, 0.5, 0.01)},
		{between("shift", double, "-2", "2", "", normal), number(-2, 2)},
		{between("decay", double, "0.001", "1", "", logNormal), number(0.001, 1)},
		{between("fixed", double, "0.10", "0.1", "", uniform), oneOf("0.1")},
		{between("n", integer, "1", "5", "", uniform), whole(1, 5)},
		{between("width", integer, "16", "1000", "16", 0), grid(16, 992, 16)},
		{between("units", integer, "1", "1024", "", logarithm), whole(1, 1024)},
		{between("heads", integer, "2", "64", "2", logarithm), grid(2, 64, 2)},
		{between("depth", integer, "1", "9", "", normal), whole(1, 9)},
		{between("one", integer, "3.0", "3", "1", uniform), oneOf("3")},
		{discrete("batch", "128", "032", "6.40e1", "64"), oneOf("128", "032", "6.40e1")},
		{discrete("single", "0.50"), oneOf("0.50")},
		{categorical("optimizer", "sgd", "adam", "true", "1.0"), oneOf("sgd", "adam", "true", "1.0")},
		{categorical("only", "relu", "relu"), oneOf("relu")},
	}
	specs := make([]*api.ParameterSpec, len(cases))
	for i, c := range cases {
		specs[i] = c.spec
	}
	eachClient(t, katib.Options{}, func(t *testing.T, c client) {
		e := experiment(specs, "initial", "4")
		code, message := c.validate(e)
		require.Empty(t, code, message)
		var trials []*api.Trial
		for _, n := range []int{1, 5, 3, 0} {
			q := request(e, n, trials...)
			reply, code, message := c.suggest(q)
			require.Empty(t, code, message)
			require.Len(t, reply.ParameterAssignments, n)
			for _, p := range reply.ParameterAssignments {
				require.Len(t, p.Assignments, len(cases))
				for i, a := range p.Assignments {
					require.Equal(t, specs[i].Name, a.Name)
					require.True(t, cases[i].valid(a.Value), "%s is %q", a.Name, a.Value)
				}
				trials = append(trials, trial(p, api.TrialStatus_SUCCEEDED, "loss", p.Assignments[0].Value))
			}
			again, _, _ := c.suggest(q)
			require.True(t, proto.Equal(reply, again), "the same request has another answer")
		}
	})
}

// document is a study file with the space of the experiment in TestSuggestionsAreBoSuggest.
const document = `{"study": {"parameters": [
	{"name": "rate", "type": "float", "min": 1e-5, "max": 0.1, "log": true}, {"name": "n", "type": "int", "min": 1, "max": 8},
	{"name": "width", "type": "int", "min": 16, "max": 64, "step": 16}, {"name": "batch", "type": "ordinal", "values": [32, 64, 256]},
	{"name": "opt", "type": "categorical", "values": ["sgd", "adam"]}, {"name": "shift", "type": "float", "min": -3, "max": 3}],
	"optimum": {"shift": {"around": 0, "within": 1}}, "objectives": [{"name": "loss", "goal": "maximize"}], %s}, "trials": [%s], "n": 3}`

// Suggestions equal the points of bo suggest for the same study and trials.
func TestSuggestionsAreBoSuggest(t *testing.T) {
	e := experiment([]*api.ParameterSpec{
		between("rate", double, "0.00001", "0.1", "", logarithm), between("n", integer, "1", "8", "1", uniform),
		between("width", integer, "16", "70", "16", uniform), discrete("batch", "256", "64", "32"), categorical("opt", "sgd", "adam"),
		between("shift", double, "-3", "3", "", normal),
	})
	e.Spec.Objective.Type = api.ObjectiveType_MAXIMIZE
	point := func(rate, n, width, batch, opt string) *api.GetSuggestionsReply_ParameterAssignments {
		return at("opt", opt, "rate", rate, "n", n, "width", width, "batch", batch, "shift", "0.5")
	}
	unknown := trial(point("0.05", "8", "64", "32", "sgd"), api.TrialStatus_UNKNOWN, "loss", "0.25")
	unknown.Status.CompletionTime = "2026-11-23T02:00:00Z"
	trials := []*api.Trial{
		trial(point("0.001", "2", "32", "64", "adam"), api.TrialStatus_SUCCEEDED, "latency", "3", "loss", "0.5"),
		trial(point("0.01", "3", "16", "256", "sgd"), api.TrialStatus_SUCCEEDED, "loss", "1.25"),
		trial(point("0.02", "4", "48", "32", "sgd"), api.TrialStatus_EARLYSTOPPED, "loss", "0.1"),
		trial(point("0.02", "5", "48", "32", "sgd"), api.TrialStatus_EARLYSTOPPED, "latency", "2"),
		trial(point("0.03", "5", "48", "32", "adam"), api.TrialStatus_FAILED),
		trial(point("0.03", "6", "48", "32", "adam"), api.TrialStatus_SUCCEEDED, "loss", "unavailable"),
		trial(point("0.03", "7", "48", "32", "adam"), api.TrialStatus_METRICSUNAVAILABLE),
		trial(point("0.04", "7", "64", "32", "adam"), api.TrialStatus_KILLED, "loss", "0.2"),
		trial(point("0.00001", "8", "64", "32", "adam"), api.TrialStatus_RUNNING),
		trial(point("0.002", "8", "64", "32", "adam"), api.TrialStatus_CREATED),
		trial(point("0.002", "1", "64", "32", "adam"), api.TrialStatus_UNKNOWN),
		unknown,
	}
	told := strings.Join([]string{
		`{"params": {"rate": 0.001, "n": 2, "width": 32, "batch": 64, "opt": "adam", "shift": 0.5}, "value": 0.5}`,
		`{"params": {"rate": 0.01, "n": 3, "width": 16, "batch": 256, "opt": "sgd", "shift": 0.5}, "value": 1.25}`,
		`{"params": {"rate": 0.02, "n": 4, "width": 48, "batch": 32, "opt": "sgd", "shift": 0.5}, "state": "stopped", "value": 0.1}`,
		`{"params": {"rate": 0.02, "n": 5, "width": 48, "batch": 32, "opt": "sgd", "shift": 0.5}, "state": "failed"}`,
		`{"params": {"rate": 0.03, "n": 5, "width": 48, "batch": 32, "opt": "adam", "shift": 0.5}, "state": "failed"}`,
		`{"params": {"rate": 0.03, "n": 6, "width": 48, "batch": 32, "opt": "adam", "shift": 0.5}, "state": "failed"}`,
		`{"params": {"rate": 0.03, "n": 7, "width": 48, "batch": 32, "opt": "adam", "shift": 0.5}, "state": "failed"}`,
		`{"params": {"rate": 0.04, "n": 7, "width": 64, "batch": 32, "opt": "adam", "shift": 0.5}, "state": "lost"}`,
		`{"params": {"rate": 0.00001, "n": 8, "width": 64, "batch": 32, "opt": "adam", "shift": 0.5}}`,
		`{"params": {"rate": 0.002, "n": 8, "width": 64, "batch": 32, "opt": "adam", "shift": 0.5}}`,
		`{"params": {"rate": 0.002, "n": 1, "width": 64, "batch": 32, "opt": "adam", "shift": 0.5}}`,
		`{"params": {"rate": 0.05, "n": 8, "width": 64, "batch": 32, "opt": "sgd", "shift": 0.5}, "value": 0.25}`,
	}, ", ")
	cases := []struct {
		settings []string
		keys     string // of the study
		trials   []*api.Trial
		told     string
	}{
		{[]string{"seed", "7"}, `"seed": 7`, nil, ""},
		{[]string{"random_state", "7", "n_initial_points", "2"}, `"seed": 7, "initial": 2`, trials, told},
		{[]string{"surrogate", "rff", "kernel", "matern32", "features", "64", "acquisition", "logei", "maximizer.raw", "64", "initial", "2"},
			`"surrogate": {"name": "rff", "kernel": "matern32", "features": 64}, "acquisition": "logei", "maximizer": {"raw": 64}, "initial": 2`, trials, told},
		{[]string{"kernel", "matern52[rate,n] + linear[n]", "local", "none", "warp", "none", "design", "lhs", "initial", "2"},
			`"surrogate": {"kernel": "matern52[rate,n] + linear[n]"}, "local": "none", "warp": "none", "design": "lhs", "initial": 2`, trials, told},
		{[]string{"require", "latency <= 4", "constraints", "n * width <= 256; n <= 8", "initial", "1"},
			`"require": ["latency <= 4"], "constraints": ["n * width <= 256", "n <= 8"], "initial": 1`, trials[:1],
			`{"params": {"rate": 0.001, "n": 2, "width": 32, "batch": 64, "opt": "adam", "shift": 0.5}, "numbers": {"loss": 0.5, "latency": 3}}`},
	}
	eachClient(t, katib.Options{}, func(t *testing.T, c client) {
		for _, k := range cases {
			q := request(proto.CloneOf(e), 3, k.trials...)
			q.Experiment.Spec.Algorithm = experiment(nil, k.settings...).Spec.Algorithm
			code, message := c.validate(q.Experiment)
			require.Empty(t, code, message)
			reply, code, message := c.suggest(q)
			require.Empty(t, code, message)
			require.Equal(t, suggested(t, fmt.Sprintf(document, k.keys, k.told)), texts(reply), k.keys)
		}
		q := request(proto.CloneOf(e), 3, trials...)
		q.Experiment.Spec.Algorithm = experiment(nil, "noise_sd", "0.2", "initial", "2").Spec.Algorithm
		reply, code, message := c.suggest(q)
		require.Empty(t, code, message)
		noisy := strings.Replace(document, `"goal": "maximize"`, `"goal": "maximize", "noise_sd": 0.2`, 1)
		require.Equal(t, suggested(t, fmt.Sprintf(noisy, `"initial": 2`, told)), texts(reply))
	})
}

// suggested returns the points of bo suggest, with the values as texts.
func suggested(t *testing.T, document string) (points []map[string]string) {
	var line bytes.Buffer
	require.NoError(t, study.ServeSuggest(t.Context(), strings.NewReader(document), &line))
	var answer struct {
		Points []struct{ Params map[string]json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(line.Bytes(), &answer))
	require.NotEmpty(t, answer.Points, line.String())
	for _, p := range answer.Points {
		texts := map[string]string{}
		for name, raw := range p.Params {
			texts[name] = strings.Trim(string(raw), `"`)
		}
		points = append(points, texts)
	}
	return points
}

func texts(reply *api.GetSuggestionsReply) (points []map[string]string) {
	for _, p := range reply.ParameterAssignments {
		texts := map[string]string{}
		for _, a := range p.Assignments {
			texts[a.Name] = a.Value
		}
		points = append(points, texts)
	}
	return points
}

// Faults of an experiment have one clear line and the code INVALID_ARGUMENT.
func TestFaults(t *testing.T) {
	x := []*api.ParameterSpec{between("x", double, "0", "1", "", uniform)}
	without := func(change func(*api.ExperimentSpec)) *api.Experiment {
		e := experiment(x)
		change(e.Spec)
		return e
	}
	one := func(p *api.ParameterSpec) *api.Experiment { return experiment([]*api.ParameterSpec{p}) }
	cases := []struct {
		e    *api.Experiment
		want string
	}{
		{nil, "objective: type is missing, want minimize or maximize"},
		{without(func(s *api.ExperimentSpec) { s.Objective.ObjectiveMetricName = "" }), "objective: objectiveMetricName is missing"},
		{without(func(s *api.ExperimentSpec) { s.ParameterSpecs = nil }), "parameters are missing"},
		{without(func(s *api.ExperimentSpec) { s.NasConfig = &api.NasConfig{} }), "nasConfig: bo does not search architectures: state parameters instead"},
		{one(between("x", double, "2", "1", "", uniform)), `parameter "x": min 2 is above max 1`},
		{one(between("x", double, "", "1", "", uniform)), `parameter "x": min is missing`},
		{one(between("x", double, "0", "inf", "", uniform)), `parameter "x": max is "inf", want a number`},
		{one(between("x", integer, "0", "1.5", "", uniform)), `parameter "x": max is "1.5", want a whole number`},
		{one(between("x", double, "0", "1", "-0.1", uniform)), `parameter "x": step is -0.1, want a positive number`},
		{one(between("x", double, "0", "1", "", logarithm)), `parameter "x": min is 0, and a logarithmic distribution needs a min above 0`},
		{one(discrete("x", "1", "two")), `parameter "x": an entry of list is "two", want a number: use parameterType categorical for texts`},
		{one(categorical("x")), `parameter "x": list is empty`},
		{one(between("x", 0, "0", "1", "", uniform)), `parameter "x": parameterType is unknown, want double, int, discrete or categorical`},
		{experiment(append(x, x...)), `"x"`},
		{experiment(x, "surrogate", "forest"), `surrogate`},
		{experiment(x, "kernel", "cubic"), `kernel`},
		{experiment(x, "acq_func", "gp_hedge"), `acq_func`},
		{experiment(x, "acquisition", "gp_hedge"), `acquisition`},
		{experiment(x, "seed", "-1"), `algorithm setting`},
		{experiment(x, "initial", "none"), `algorithm setting`},
		{experiment(x, "kernel", ""), `algorithm setting "kernel": the name or the value is empty`},
		{experiment(x, "noise_sd", "small"), `algorithm setting noise_sd is "small", want a positive number`},
		{experiment(x, "noise_sd", "0"), `noise_sd of "loss" is 0, want a positive number`},
		{experiment(x, "require", "latency"), `latency`},
		{experiment(x, "require", "latency <= 4; memory <= 8"), `algorithm setting require: "memory" is not among additionalMetricNames, and Katib collects no other metrics`},
	}
	eachClient(t, katib.Options{}, func(t *testing.T, c client) {
		for _, k := range cases {
			code, message := c.validate(k.e)
			require.Equal(t, "INVALID_ARGUMENT", code, "%s: %s", k.want, message)
			require.Contains(t, message, k.want)
			require.NotContains(t, message, "\n")
			t.Log(message)
			_, code, again := c.suggest(request(k.e, 1))
			require.Equal(t, "INVALID_ARGUMENT", code, "%s: %s", k.want, again)
			require.Equal(t, message, again)
		}
		_, code, message := c.suggest(request(experiment(x), -1))
		require.Equal(t, "INVALID_ARGUMENT", code)
		require.Equal(t, "current_request_number is -1, want 1 to 1000", message)
		for _, service := range []string{"", "manager.v1beta1.Suggestion", "api.v1.beta1.Suggestion"} {
			status, code := c.check(service)
			require.Equal(t, "SERVING", status, code)
		}
		_, code = c.check("other")
		require.Equal(t, "NOT_FOUND", code)
	})
}

// Suggestions do not repeat points of trials that Katib does not send: trials that it has not created
// yet, and trials without metrics.
func TestUnseenTrials(t *testing.T) {
	e := experiment([]*api.ParameterSpec{between("x", double, "0", "1", "", uniform), between("y", double, "0", "1", "", uniform)})
	c := connectTo(serve(t, katib.Options{}))
	all, _, _ := c.suggest(request(e, 5))
	q := request(e, 2)
	q.TotalRequestNumber = 5
	later, _, _ := c.suggest(q)
	require.Equal(t, texts(all)[3:], texts(later))
	q.TotalRequestNumber = 2000 // as after a change of the experiment
	far, code, message := c.suggest(q)
	require.Empty(t, code, message)
	require.Len(t, far.ParameterAssignments, 2)
	q.TotalRequestNumber = 0 // unset
	first, _, _ := c.suggest(q)
	require.Equal(t, texts(all)[:2], texts(first))
}

// A trial outside of the space is left out.
func TestStrangeTrials(t *testing.T) {
	e := experiment([]*api.ParameterSpec{between("x", double, "0", "1", "", uniform), categorical("c", "a", "b")})
	c := connectTo(serve(t, katib.Options{}))
	reply, code, message := c.suggest(request(e, 1, nil, trial(at("x", "2", "c", "a"), api.TrialStatus_SUCCEEDED, "loss", "1"),
		trial(at("x", "0.5"), api.TrialStatus_SUCCEEDED, "loss", "1"), trial(at("x", "0.5", "c", "d"), api.TrialStatus_SUCCEEDED, "loss", "1"),
		trial(at("x", "half", "c", "a"), api.TrialStatus_SUCCEEDED, "loss", "1")))
	require.Empty(t, code, message)
	require.Len(t, reply.ParameterAssignments, 1)
}

// A fit that takes too long is replaced by points of the initial design.
func TestSlowFit(t *testing.T) {
	e := experiment([]*api.ParameterSpec{between("x", double, "0", "1", "", uniform)}, "surrogate", "fsp-laplace", "initial", "2")
	c := connectTo(serve(t, katib.Options{Fit: time.Millisecond}))
	var trials []*api.Trial
	for i := range 30 {
		x := fmt.Sprint(float64(i) / 30)
		trials = append(trials, trial(at("x", x), api.TrialStatus_SUCCEEDED, "loss", x))
	}
	begun := time.Now()
	reply, code, message := c.suggest(request(e, 4, trials...))
	require.Empty(t, code, message)
	require.Len(t, reply.ParameterAssignments, 4)
	require.Less(t, time.Since(begun), 20*time.Second)
}

// A metric beyond the numbers that fits take is no value: its trial has failed, as with NaN.
func TestHugeMetric(t *testing.T) {
	e := experiment([]*api.ParameterSpec{between("x", double, "0", "1", "", uniform)}, "initial", "2")
	eachClient(t, katib.Options{}, func(t *testing.T, c client) {
		var want []map[string]string
		for _, value := range []string{"NaN", "1e305"} {
			reply, code, message := c.suggest(request(e, 1,
				trial(at("x", "0.25"), api.TrialStatus_SUCCEEDED, "loss", "1"),
				trial(at("x", "0.75"), api.TrialStatus_SUCCEEDED, "loss", "2"),
				trial(at("x", "0.5"), api.TrialStatus_SUCCEEDED, "loss", value),
			))
			require.Empty(t, code, message)
			if want == nil {
				want = texts(reply)
			}
			require.Equal(t, want, texts(reply))
		}
	})
}
