package exchange_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// unpacked writes a file of testdata without compression to a temporary folder. See
// testdata/make_optuna.py for its contents.
func unpacked(t testing.TB, name string) string {
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	to, err := os.Create(path)
	require.NoError(t, err)
	_, err = io.Copy(to, z)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return path
}

func journalOf(t testing.TB, s *store.Snapshot) []byte {
	var b bytes.Buffer
	require.NoError(t, exchange.WriteJournal(&b, s))
	return b.Bytes()
}

// several returns the snapshot of a study with two objectives and two requirements. Of its six trials, the
// first violates a requirement, the fourth has failed, and the last is pending.
func several(t testing.TB) *store.Snapshot {
	u, err := memory(t).Create(ctx, &study.Definition{
		Version: 1, Name: "several", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Initial: 6, Budget: 6,
		Objectives: []study.Objective{{Name: "loss"}, {Name: "score", Goal: study.Maximize}},
		Require:    []string{"latency <= 20", "score >= 0.5"},
	})
	require.NoError(t, err)
	for i := range 6 {
		trials, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		tr := trials[0]
		if i == 5 {
			break
		}
		v := float64(i + 1)
		r := store.Report{Trial: tr.Number, Token: tr.Token, Numbers: map[string]float64{"loss": v, "score": v / 2, "latency": 26 - v*v*v, "size": v}}
		if i == 3 {
			r.Failure, r.Numbers = store.FailedByProgram, map[string]float64{"latency": 19}
		}
		require.NoError(t, u.AddSteps(ctx, store.Step{Trial: tr.Number, Attempt: 1, Step: 1, Name: "loss", Value: v}))
		_, err = u.Tell(ctx, r)
		require.NoError(t, err)
	}
	snapshot, err := u.Snapshot(ctx)
	require.NoError(t, err)
	return snapshot
}

func TestJournalComesBackUnchanged(t *testing.T) {
	for _, want := range append(ten(t), several(t)) {
		in, err := exchange.ReadJournal(bytes.NewReader(journalOf(t, want)), "")
		require.NoError(t, err)
		require.Empty(t, in.Notes)
		same(t, want, in.Snapshot)
	}
}

// ranges are the parameters of the study "full" in testdata/make_optuna.py.
func ranges() []space.Parameter {
	return []space.Parameter{
		space.LogFloat("lr", 1e-5, 0.1),
		space.Float("dropout", 0, 0.5),
		space.StepFloat("momentum", 0.1, 0.9, 0.1),
		space.Int("layers", 1, 8),
		space.StepInt("width", 16, 256, 16),
		space.LogInt("batch", 1, 1024),
		space.Categorical("opt", "adam", "sgd", "None", true, 3.0, 0.5),
		space.Fixed("data", "mnist"),
	}
}

func TestSQLiteStudyImportsAndContinues(t *testing.T) {
	in, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "full")
	require.NoError(t, err)
	d := in.Snapshot.Definition
	require.Equal(t, ranges(), d.Parameters)
	require.Equal(t, []study.Objective{{Name: "loss"}}, d.Objectives)
	require.Equal(t, []string{
		`parameter "opt": the choice None is read as text`,
		"1 complete trials with a number beyond ±1e300 are imported as failed; the first is trial 40: the value is [+Inf]",
		"12 intermediate values that are not finite are left out",
	}, in.Notes)

	s := memory(t)
	d.Maximizer, d.Initial = cheap, 4
	d.Surrogate = study.Component{Name: "gp", Settings: map[string]any{"restarts": 1}}
	u, err := s.Restore(ctx, "tpe", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, 200)
	require.Zero(t, v.Unfit)
	count := map[store.State]int{}
	for i, tr := range v.Trials {
		count[tr.State]++
		require.Equal(t, loop.Added, tr.Source)
		require.Equal(t, float64(v.Points[i].Int("layers"))/2, tr.Numbers["seconds"])
		require.False(t, tr.Started.IsZero() || tr.Finished.Before(tr.Started))
		if tr.State == store.Complete { // the objective of the script
			require.InDelta(t, objectiveFull(v.Points[i]), tr.Numbers["loss"], 1e-12)
			require.Equal(t, "host=a", tr.Message)
		}
	}
	require.Equal(t, map[store.State]int{store.Complete: 173, store.Failed: 13, store.Stopped: 14}, count)
	require.Equal(t, store.NotFinite, v.Trials[40].Failure)
	steps, err := u.Steps(ctx, 1)
	require.NoError(t, err)
	require.Len(t, steps, 3)
	require.Equal(t, v.Trials[0].Numbers["loss"]*3, steps[0].Value)

	trials, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, 201, trials[0].Number)
	require.Equal(t, loop.Suggested, trials[0].Source)
	require.NotNil(t, trials[0].Prediction)
	_, err = u.Tell(ctx, store.Report{Trial: 201, Token: trials[0].Token, Numbers: map[string]float64{"loss": 1}})
	require.NoError(t, err)
}

func objectiveFull(p space.Point) float64 {
	square := func(x float64) float64 { return x * x }
	v := square(p.Float("dropout")-0.2) + square(p.Float("momentum")-0.6) + math.Abs(p.Float("lr")-1e-3)
	v += p.Float("layers")/100 + p.Float("width")/1e4 + p.Float("batch")/1e5
	if p.Text("opt") != "adam" {
		v += 0.1
	}
	return v
}

// The journal of the same study has the same trials, one that runs, one that waits and one deleted study.
func TestReadJournalOfOptuna(t *testing.T) {
	file, err := os.ReadFile(unpacked(t, "optuna.log"))
	require.NoError(t, err)
	in, err := exchange.ReadJournal(bytes.NewReader(file), "")
	require.NoError(t, err)
	require.Equal(t, ranges(), in.Snapshot.Definition.Parameters)
	require.Contains(t, in.Notes, "trials that Optuna has not finished are left out: 1")
	database, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "full")
	require.NoError(t, err)
	require.Len(t, in.Snapshot.Trials, 41)
	require.Equal(t, store.Pending, in.Snapshot.Trials[40].State)
	require.Contains(t, string(in.Snapshot.Trials[40].Params), `"lr":0.02`)
	for i, got := range in.Snapshot.Trials[:40] {
		want := database.Snapshot.Trials[i]
		require.JSONEq(t, string(want.Params), string(got.Params))
		require.Equal(t, want.State, got.State)
		require.Equal(t, want.Numbers["loss"], got.Numbers["value"])
	}
	_, err = memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)

	cut := file[:len(file)-10] // as if Optuna were writing
	in, err = exchange.ReadJournal(bytes.NewReader(cut), "full")
	require.NoError(t, err)
	require.Len(t, in.Snapshot.Trials, 41)
}

func TestDefineByRun(t *testing.T) {
	in, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "my conditional")
	require.NoError(t, err)
	d := in.Snapshot.Definition
	require.Equal(t, "my-conditional", d.Name)
	require.Equal(t, study.Maximize, d.Objective().Goal)
	momentum := space.Float("momentum", 0, 0.99).If(space.Condition{Text: "opt == 'sgd'"})
	require.Equal(t, []space.Parameter{space.Categorical("opt", "adam", "sgd"), momentum, space.Float("x", -1, 12)}, d.Parameters)
	require.Len(t, in.Notes, 2)
	require.Regexp(t, `^parameter "momentum" occurs in \d of 12 complete trials, exactly where opt == 'sgd'`, in.Notes[0])
	require.Contains(t, in.Notes[1], `parameter "x" has several ranges`)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Zero(t, v.Unfit)
	require.Contains(t, text(t, in.Snapshot), `"momentum":0.`)
}

// Each trial is a list of its values by parameter. The parameters c and d are categoricals with the choices "a", "b" and
// "it's", n and m are ints, x and y are floats.
func TestConditionsOfOptuna(t *testing.T) {
	distributions := map[string]string{
		"c": `{"name":"CategoricalDistribution","attributes":{"choices":["a","b","it's"]}}`,
		"n": `{"name":"IntDistribution","attributes":{"low":1,"high":4,"log":false,"step":1}}`,
		"m": `{"name":"IntDistribution","attributes":{"low":1,"high":7,"log":false,"step":3}}`,
		"x": `{"name":"FloatDistribution","attributes":{"low":0,"high":9,"log":false,"step":null}}`,
	}
	distributions["d"], distributions["y"] = distributions["c"], distributions["x"]
	const left = "it is left out of the search space"
	for name, c := range map[string]struct {
		trials []string // the first is of the state in brackets, the others are complete
		when   map[string]string
		note   string
	}{
		"one value":       {[]string{`c:0 x:1`, `c:1`, `c:0 x:2`}, map[string]string{"c": "", "x": "c == 'a'"}, "occurs in 2 of 3 complete trials, exactly where c == 'a'"},
		"several values":  {[]string{`c:0 x:1`, `c:1`, `c:2 x:2`}, map[string]string{"c": "", "x": `c in ['a', 'it\'s']`}, "occurs in 2 of 3"},
		"a count":         {[]string{`n:1`, `n:3 x:2`, `n:2 x:1`}, map[string]string{"n": "", "x": "n in [2, 3, 4]"}, "occurs in 2 of 3"},
		"a small count":   {[]string{`m:7`, `m:4 x:2`, `m:7`}, map[string]string{"m": "", "x": "m in [1, 4]"}, "occurs in 1 of 3"},
		"no interval":     {[]string{`n:1 x:1`, `n:2`, `n:3 x:1`}, map[string]string{"n": ""}, left},
		"by chance":       {[]string{`c:0 x:1`, `c:0`, `c:1`}, map[string]string{"c": ""}, left},
		"of a float":      {[]string{`y:0 x:1`, `y:1`}, map[string]string{"y": ""}, left},
		"two explain it":  {[]string{`c:0 d:1 x:1`, `c:1 d:0`}, map[string]string{"c": "", "d": ""}, left},
		"nested":          {[]string{`c:0 d:0 x:1`, `c:0 d:1`, `c:1`}, map[string]string{"c": "", "d": "c == 'a'", "x": "d == 'a'"}, "exactly where d == 'a'"},
		"both of one":     {[]string{`c:0 d:0 x:1`, `c:0 d:1 x:1`, `c:1`}, map[string]string{"c": "", "d": "c == 'a'", "x": "c == 'a'"}, "exactly where c == 'a'"},
		"a failed trial":  {[]string{`(3) c:0`, `c:0 x:1`, `c:1`}, map[string]string{"c": "", "x": "c == 'a'"}, "occurs in 1 of 2"},
		"only incomplete": {[]string{`(2) c:0 x:1`}, map[string]string{"c": "", "x": ""}, ""},
	} {
		var journal strings.Builder
		journal.WriteString(`{"op_code":0,"study_name":"a","directions":[1]}` + "\n")
		for _, trial := range c.trials {
			state, params, ranges := "1", map[string]json.RawMessage{}, map[string]string{}
			for _, word := range strings.Fields(trial) {
				parameter, v, ok := strings.Cut(word, ":")
				if !ok {
					state = strings.Trim(word, "()")
					continue
				}
				params[parameter], ranges[parameter] = json.RawMessage(v), distributions[parameter]
			}
			p, err := json.Marshal(params)
			require.NoError(t, err)
			r, err := json.Marshal(ranges)
			require.NoError(t, err)
			fmt.Fprintf(&journal, `{"op_code":4,"study_id":0,"datetime_start":null,"state":%s,"value":1,"params":%s,"distributions":%s}`+"\n", state, p, r)
		}
		in, err := exchange.ReadJournal(strings.NewReader(journal.String()), "")
		require.NoError(t, err, name)
		when := map[string]string{}
		for _, p := range in.Snapshot.Definition.Parameters {
			when[p.Name] = p.When.Text
		}
		require.Equal(t, c.when, when, name)
		require.Contains(t, strings.Join(in.Notes, "\n"), c.note, name)
		_, err = memory(t).Restore(ctx, "", in.Snapshot)
		require.NoError(t, err, name)
	}
}

// Trials of enqueue_trial wait in the study. Values that are left out are drawn at random.
func TestEnqueuedTrialsOfOptuna(t *testing.T) {
	distributions := strings.NewReplacer(`"`, `\"`).Replace
	grid := distributions(`{"name":"FloatDistribution","attributes":{"low":0.5,"high":0.9,"log":false,"step":0.1}}`)
	choice := distributions(`{"name":"CategoricalDistribution","attributes":{"choices":[null,"sqrt"]}}`)
	depth := distributions(`{"name":"IntDistribution","attributes":{"low":1,"high":9,"log":false,"step":1}}`)
	ranges := `"distributions":{"x":"` + grid + `","c":"` + choice + `","n":"` + depth + `"}`
	lines := []string{
		`{"op_code":0,"study_name":"a","directions":[1]}`,
		`{"op_code":4,"study_id":0,"state":4,"user_attrs":{"batch":7,"note":"again"},"system_attrs":{"fixed_params":{"x":0.7,"c":null,"n":3,"unused":1}}}`,
		`{"op_code":4,"study_id":0,"state":1,"value":1,"params":{"x":0.8,"c":0,"n":2},` + ranges + `}`,
		`{"op_code":4,"study_id":0,"state":4,"params":{"x":0.6,"c":1,"n":5},` + ranges + `}`, // of RetryFailedTrialCallback
		`{"op_code":4,"study_id":0,"state":4,"system_attrs":{"fixed_params":{"n":9}}}`,
		`{"op_code":4,"study_id":0,"state":4,"system_attrs":{"fixed_params":{"n":10,"x":0.5}}}`,
		`{"op_code":4,"study_id":0,"state":0,"params":{},"system_attrs":{"fixed_params":{"n":8}}}`,
	}
	in, err := exchange.ReadJournal(strings.NewReader(strings.Join(lines, "\n")+"\n"), "")
	require.NoError(t, err)
	require.Contains(t, in.Notes, "trials that Optuna has not finished are left out: 1")
	require.Contains(t, in.Notes, "enqueued trials with values of some parameters: 1; their other values are drawn at random in a new study")
	require.Contains(t, in.Notes, "user attributes of enqueued trials are left out: batch, note")
	require.Contains(t, in.Notes, `enqueued trials outside of the search space are left out: 1; the first is trial 4: invalid point: parameter "n": 10 is outside [1, 9]`)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	for _, want := range []string{`{"x":0.7,"c":"None","n":3}`, `{"x":0.6,"c":"sqrt","n":5}`} {
		asked, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		require.JSONEq(t, want, string(asked[0].Params))
		require.Equal(t, loop.Enqueued, asked[0].Source)
	}
	asked, err := u.Ask(ctx, 1)
	require.NoError(t, err)
	require.Contains(t, string(asked[0].Params), `"n":9`)
	require.Equal(t, loop.Enqueued, asked[0].Source)

	in, err = exchange.ReadJournal(strings.NewReader(string(journalOf(t, several(t)))+strings.Replace(lines[4], `"n":9`, `"x":0.25`, 1)+"\n"), "")
	require.NoError(t, err)
	continued := in.Snapshot.Trials[len(in.Snapshot.Trials)-1]
	require.Equal(t, store.Pending, continued.State)
	require.JSONEq(t, `{"x":0.25}`, string(continued.Params))
	require.Zero(t, continued.Told)
	_, err = memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
}

// Labels of lists and objects are the labels of the Python package.
func TestLabelsOfOptuna(t *testing.T) {
	choices := `[null, [64,32], [[], [1.5, true, null]], {"b": [1e-05], "a": "x"}, ["a  b", "it's", "\u0022'", "\n\t\u0000\u00e9\u2028\\"]]`
	distribution, err := json.Marshal(`{"name":"CategoricalDistribution","attributes":{"choices":` + choices + `}}`)
	require.NoError(t, err)
	in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1]}
{"op_code":4,"study_id":0,"state":1,"value":1,"params":{"c":1},"distributions":{"c":`+string(distribution)+`}}
`), "")
	require.NoError(t, err)
	require.Equal(t, []any{
		"None", "[64, 32]", "[[], [1.5, True, None]]", "{'b': [1e-05], 'a': 'x'}", `['a b', "it's", '"\'', '\n\t\x00é\u2028\\']`,
	}, in.Snapshot.Definition.Parameters[0].Values)
	require.JSONEq(t, `{"c":"[64, 32]"}`, string(in.Snapshot.Trials[0].Params))
}

// The label of a long list has 80 characters, and a number if another list begins as it does.
func TestLongLabelsOfOptuna(t *testing.T) {
	long := strings.Repeat("é", 90)
	distribution, err := json.Marshal(`{"name":"CategoricalDistribution","attributes":{"choices":[["` + long + `"],["` + long + `",1],["` + long[2:] + `",2]]}}`)
	require.NoError(t, err)
	in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1]}
{"op_code":4,"study_id":0,"state":1,"value":1,"params":{"c":1},"distributions":{"c":`+string(distribution)+`}}
{"op_code":4,"study_id":0,"state":4,"system_attrs":{"fixed_params":{"c":["`+long+`",1]}}}
`), "")
	require.NoError(t, err)
	label := "['" + long[:2*75] + "..."
	require.Equal(t, []any{label, label + " 2", label + " 3"}, in.Snapshot.Definition.Parameters[0].Values)
	for _, trial := range in.Snapshot.Trials {
		require.JSONEq(t, `{"c":"`+label+` 2"}`, string(trial.Params))
	}
	require.Len(t, in.Snapshot.Trials, 2)
}

func TestSeveralObjectivesOfOptuna(t *testing.T) {
	in, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "two")
	require.NoError(t, err)
	require.Empty(t, in.Notes)
	require.Equal(t, []study.Objective{{Name: "objective_0"}, {Name: "objective_1"}}, in.Snapshot.Definition.Objectives)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, 3)
	require.Zero(t, v.Unfit)
	for i, tr := range v.Trials {
		x := v.Points[i].Float("x")
		require.Equal(t, map[string]float64{"objective_0": x, "objective_1": 1 - x}, tr.Numbers)
	}

	const trial = `{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":null,"values":[1,%s],"params":{"x":0.5},` +
		`"distributions":{"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0.0,\"high\":1.0}}"},"user_attrs":{"size":7,"cost":9,"tags":["a"],"saved":"/runs/7"}}` + "\n"
	for _, c := range []struct {
		metrics, value string
		names          []string
		numbers        map[string]float64
	}{
		{`["loss","cost"]`, "2", []string{"loss", "cost"}, map[string]float64{"loss": 1, "cost": 2, "size": 7}},
		{`["loss","loss"]`, "2", []string{"objective_0", "objective_1"}, map[string]float64{"objective_0": 1, "objective_1": 2, "size": 7, "cost": 9}},
		{`["loss"]`, "2", []string{"objective_0", "objective_1"}, map[string]float64{"objective_0": 1, "objective_1": 2, "size": 7, "cost": 9}},
		{`["loss","cost"]`, "Infinity", []string{"loss", "cost"}, map[string]float64{"size": 7}},
	} {
		in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1,2]}`+"\n"+
			`{"op_code":3,"study_id":0,"system_attr":{"study:metric_names":`+c.metrics+"}}\n"+fmt.Sprintf(trial, c.value)), "")
		require.NoError(t, err)
		require.Equal(t, []study.Objective{{Name: c.names[0]}, {Name: c.names[1], Goal: study.Maximize}}, in.Snapshot.Definition.Objectives)
		require.Equal(t, c.numbers, in.Snapshot.Trials[0].Numbers)
		require.Equal(t, len(c.numbers) == 1, in.Snapshot.Trials[0].Failure == store.NotFinite)
		require.Equal(t, len(c.numbers) > 1, in.Snapshot.Trials[0].Message == "saved=/runs/7")
		require.Contains(t, in.Notes, "user attributes that are neither numbers nor texts are left out: tags")
	}
}

// Constraints of Optuna are requirements, and a trial that violates one is not feasible.
func TestConstraintsOfOptuna(t *testing.T) {
	const trial = `{"op_code":4,"study_id":0,"datetime_start":null,"state":%d,"value":1,"params":{"x":0.5},` +
		`"distributions":{"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0.0,\"high\":1.0}}"},"user_attrs":{"size":7},"system_attrs":%s}` + "\n"
	named := func(key string) string { return fmt.Sprintf(`{"constraints:%s":0.5}`, key) }
	for _, c := range []struct {
		attributes, require string // of the trial
		number              float64
		notes               int
	}{
		{named("c"), "c <= 0", 0.5, 0},
		{named("peak memory"), "peak memory <= 0", 0.5, 0},
		{named("x"), "constraint_x <= 0", 0.5, 1},         // the parameter
		{named("value"), "constraint_value <= 0", 0.5, 1}, // the objective
		{named("size"), "constraint_size <= 0", 0.5, 1},   // a user attribute
		{named("a<=b"), "a__b <= 0", 0.5, 1},
		{named("7"), "constraint_7 <= 0", 0.5, 1},
		{named(""), "constraint_ <= 0", 0.5, 1},
		{`{"constraints":[-0.5]}`, "constraint_0 <= 0", -0.5, 1},
	} {
		in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1]}`+"\n"+
			fmt.Sprintf(trial, 1, c.attributes)+fmt.Sprintf(trial, 2, `{"constraints:d":1}`)), "")
		require.NoError(t, err)
		require.Len(t, in.Notes, c.notes)
		d := in.Snapshot.Definition
		require.Equal(t, []string{c.require}, d.Require)
		require.Equal(t, map[string]float64{"value": 1, "size": 7, d.Requirements()[0].Name: c.number}, in.Snapshot.Trials[0].Numbers)
		u, err := memory(t).Restore(ctx, "", in.Snapshot)
		require.NoError(t, err)
		v, err := u.View(ctx)
		require.NoError(t, err)
		require.Zero(t, v.Unfit)
		require.Equal(t, c.number <= 0, d.Feasible(v.Trials[0].Numbers))
	}
	in, err := exchange.ReadJournal(strings.NewReader(`{"op_code":0,"study_name":"a","directions":[1]}`+"\n"+
		fmt.Sprintf(trial, 1, `{"constraints":[0,-1]}`)+fmt.Sprintf(trial, 1, `{"constraints":[Infinity,2]}`)+fmt.Sprintf(trial, 1, "{}")), "")
	require.NoError(t, err)
	require.Equal(t, []string{"constraint_0 <= 0", "constraint_1 <= 0"}, in.Snapshot.Definition.Require)
	require.Equal(t, store.NotFinite, in.Snapshot.Trials[1].Failure)
	require.Equal(t, `the constraint "0" is +Inf`, in.Snapshot.Trials[1].Message)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, v.Unfit) // the trial without constraints

	path := unpacked(t, "optuna.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO trial_system_attributes (trial_id, key, value_json) SELECT trial_id, 'constraints:c', '-1.5' FROM trials`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	in, err = exchange.ReadSQLite(ctx, path, "two")
	require.NoError(t, err)
	require.Equal(t, []string{"c <= 0"}, in.Snapshot.Definition.Require)
	require.Equal(t, -1.5, in.Snapshot.Trials[2].Numbers["c"])
}

// Objectives take the names of the study that they are added to.
func TestAddSeveralObjectives(t *testing.T) {
	for _, c := range []struct {
		objectives []study.Objective
		want       []string // names of the values
		err        string
	}{
		{[]study.Objective{{Name: "loss"}, {Name: "cost"}}, []string{"loss", "cost"}, ""},
		{[]study.Objective{{Name: "loss"}}, []string{"loss", "objective_1"}, ""},
		{[]study.Objective{{Name: "objective_1"}, {Name: "objective_0"}}, []string{"objective_0", "objective_1"}, ""},
		{[]study.Objective{{Name: "loss"}, {Name: "objective_0"}}, nil, `no number named "loss"`},
	} {
		in, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "two")
		require.NoError(t, err)
		u, err := memory(t).Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Objectives: c.objectives})
		require.NoError(t, err)
		added, err := exchange.Add(ctx, u, "", in)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Len(t, added, 3)
		for i, tr := range added {
			from := in.Snapshot.Trials[i].Numbers
			require.Equal(t, map[string]float64{c.want[0]: from["objective_0"], c.want[1]: from["objective_1"]}, tr.Numbers)
		}
	}
}

func TestReadSQLiteReportsFaults(t *testing.T) {
	path := unpacked(t, "optuna.db")
	changed := func(statement string) string {
		path := unpacked(t, "optuna.db")
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		_, err = db.Exec(statement)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		return path
	}
	junk := filepath.Join(t.TempDir(), "junk")
	require.NoError(t, os.WriteFile(junk, []byte(strings.Repeat("junk", 500)), 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, c := range []struct{ path, name, want string }{
		{path, "", `it holds 3 studies, name one: "full", "my conditional", "two"`},
		{path, "x", `it holds no study "x", only "full", "my conditional", "two"`},
		{changed("DELETE FROM study_directions"), "two", `study "two" has no objective`},
		{junk, "", "not an SQLite file"},
		{empty, "", "an SQLite file, but not one of Optuna"},
		{filepath.Dir(path), "", "not a regular file"},
		{"/dev/null", "", "not a regular file"},
		{changed("UPDATE version_info SET schema_version = 13"), "full", "its schema is 13, revision v3.2.0.a, of Optuna 5.0.0: want 12"},
		{changed("UPDATE alembic_version SET version_num = 'v2.6.0.a'"), "full", "optuna storage upgrade"},
		{changed("UPDATE trial_params SET distribution_json = '{}'"), "full", `parameter "lr": distribution "" is not one of Optuna's`},
		{changed("UPDATE trial_params SET param_value = 77 WHERE param_name = 'opt'"), "full", `trial 0: parameter "opt": it has no choice of number 77`},
		{changed("UPDATE trials SET state = 'LOST'"), "full", `state "LOST" of a trial is not one of Optuna's`},
		{changed("UPDATE trials SET datetime_start = 'noon'"), "full", `"noon" is not a time`},
		{changed("UPDATE trial_user_attributes SET value_json = '{'"), "full", "is not JSON"},
		{changed("DELETE FROM trial_params"), "full", "there is no search space"},
		{changed("DROP TABLE trial_values"), "full", "no such table"},
		{changed("DELETE FROM studies"), "", "it holds no study"},
	} {
		_, err := exchange.ReadSQLite(ctx, c.path, c.name)
		require.ErrorIs(t, err, exchange.ErrFormat, c.want)
		require.ErrorContains(t, err, c.want)
	}
	_, err = exchange.ReadSQLite(ctx, "none.db", "")
	require.ErrorIs(t, err, os.ErrNotExist)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestReadJournalReportsFaults(t *testing.T) {
	const create = `{"op_code":0,"study_name":"a","directions":[1]}` + "\n"
	const huge = `"n":"{\"name\":\"IntDistribution\",\"attributes\":{\"low\":100000000000000000,\"high\":100000000000000032}}"`
	trial := func(params, distribution string) string {
		text, _ := json.Marshal(distribution)
		return create + `{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":1,"params":` + params + `,"distributions":{"x":` + string(text) + "}}\n"
	}
	for text, want := range map[string]string{
		"":                               "it holds no study",
		"x\n":                            "line 1: not a journal of Optuna",
		create + "\n":                    "line 2: not a journal",
		create + "{}\n":                  "line 2: key op_code is missing",
		create + "{\n":                   "line 2: unexpected end of JSON input",
		create + `{"op_code":11}` + "\n": "line 2: op_code 11 is not known",
		create + `{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":1,"params":{"n":100000000000000000,"x":1},"distributions":{` + huge +
			`,"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0,\"high\":1}}"}}` + "\n" +
			`{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":1,"params":{"n":100000000000000032},"distributions":{` + huge + "}}\n": "an int must lie within ±2^53",
		create: "no parameter occurs in all complete trials",
		create + create + `{"op_code":0,"study_name":"b"}` + "\n":                                     `it holds 2 studies, name one: "a", "b"`,
		create + `{"op_code":4,"study_id":0,"state":9}` + "\n":                                        "line 2: state 9",
		create + `{"op_code":4,"study_id":0,"datetime_start":"noon"}` + "\n":                          `line 2: "noon" is not a time`,
		create + `{"op_code":4,"study_id":0,"params":{"x":1}}` + "\n":                                 `line 2: parameter "x" has no distribution`,
		trial(`{"x":1}`, `{"name":"FloatDistribution","attributes":{"low":2,"high":1}}`):              "has no range",
		trial(`{"x":1}`, `{"name":"FloatDistribution","attributes":{"low":NaN,"high":1}}`):            "line 2: parameter",
		trial(`{"x":NaN}`, `{"name":"FloatDistribution","attributes":{"low":0,"high":1}}`):            `trial 0: parameter "x": its value is NaN, want a finite number`,
		trial(`{"x":0.5}`, `{"name":"IntDistribution","attributes":{"low":0,"high":1}}`):              "0.5 is not an integer",
		trial(`{"x":0}`, `{"name":"CategoricalDistribution","attributes":{"choices":[]}}`):            "has no choices",
		trial(`{"x":0}`, `{"name":"CategoricalDistribution","attributes":{"choices":[null,"None"]}}`): `parameter "x"`,
		trial(`{"x":0}`, `{"name":"CategoricalDistribution","attributes":{"choices":[1]}}`):           "nothing to search",
	} {
		_, err := exchange.ReadJournal(strings.NewReader(text), "")
		require.ErrorIs(t, err, exchange.ErrFormat, text)
		require.ErrorContains(t, err, want, text)
	}
	export := string(journalOf(t, ten(t)[2]))
	lines := strings.SplitAfter(export, "\n")
	for want, text := range map[string]string{
		"trial 0: attribute bo:trial is of trial 2, want 1: trials are missing": strings.Join(append(lines[:3:3], lines[4:]...), ""),
		"trial 0: its result differs from its attribute bo:trial":               strings.Replace(export, `"state":1,`, `"state":3,`, 1),
		"attribute bo:study: ": strings.Replace(export, `"version":1,`, `"version":7,`, 1),
	} {
		_, err := exchange.ReadJournal(strings.NewReader(text), "")
		require.ErrorContains(t, err, want)
	}
}

// Optuna finishes a waiting trial and adds one.
func TestOptunaContinuesAnExport(t *testing.T) {
	want := ten(t)[0]
	waiting := 8
	require.Equal(t, store.Pending, want.Trials[waiting-1].State)
	journal := string(journalOf(t, want)) +
		`{"op_code":6,"trial_id":7,"state":0,"values":null,"datetime_start":"2026-01-02T03:04:05.000000+00:00"}` + "\n" +
		`{"op_code":7,"trial_id":7,"step":2,"intermediate_value":0.5}` + "\n" +
		`{"op_code":8,"trial_id":7,"user_attr":{"size":3}}` + "\n" +
		`{"op_code":6,"trial_id":7,"state":1,"values":[0.25],"datetime_complete":"2026-01-02T03:04:06.000000+00:00"}` + "\n" +
		`{"op_code":4,"study_id":0,"datetime_start":"2026-01-02T03:04:05.000000+00:00"}` + "\n" +
		`{"op_code":5,"trial_id":9,"param_name":"x","param_value_internal":0.125,"distribution":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":-1.0,\"high\":1.0,\"log\":false,\"step\":null}}"}` + "\n" +
		`{"op_code":7,"trial_id":9,"step":4,"intermediate_value":Infinity}` + "\n" +
		`{"op_code":6,"trial_id":9,"state":1,"values":[0.75],"datetime_complete":"2026-01-02T03:04:06.000000+00:00"}` + "\n"
	in, err := exchange.ReadJournal(strings.NewReader(journal), "study-0")
	require.NoError(t, err)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, 10)
	require.Equal(t, map[string]float64{"loss": 0.25, "size": 3}, v.Trials[waiting-1].Numbers)
	steps, err := u.Steps(ctx, waiting)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Equal(t, [2]float64{2, 0.5}, [2]float64{steps[0].Step, steps[0].Value})
	require.Equal(t, 1.0, v.Trials[waiting-1].Seconds)
	require.Equal(t, loop.Added, v.Trials[9].Source)
	require.JSONEq(t, `{"x":0.125}`, string(v.Trials[9].Params))
	require.Equal(t, map[string]float64{"loss": 0.75}, v.Trials[9].Numbers)
}

// Optuna finishes a trial that reported steps before the export and has a value of a removed parameter.
func TestOptunaFinishesARecord(t *testing.T) {
	s := ten(t)[0]
	s.Trials[7].Params = json.RawMessage(`{"gone":3,"x":0.5}`)
	for _, at := range []float64{2, 4.5} {
		s.Steps = append(s.Steps, store.Step{Trial: 8, Step: at, Name: "loss", Value: 1})
	}
	journal := string(journalOf(t, s)) +
		`{"op_code":7,"trial_id":7,"step":4,"intermediate_value":0.5}` + "\n" +
		`{"op_code":7,"trial_id":7,"step":6,"intermediate_value":NaN}` + "\n" +
		`{"op_code":8,"trial_id":7,"user_attr":{"list":[1]}}` + "\n" +
		`{"op_code":6,"trial_id":7,"state":2,"values":null}` + "\n"
	in, err := exchange.ReadJournal(strings.NewReader(journal), "")
	require.NoError(t, err)
	require.Equal(t, store.Stopped, in.Snapshot.Trials[7].State)
	require.Empty(t, in.Snapshot.Trials[7].Numbers)
	steps := map[float64]float64{}
	for _, step := range in.Snapshot.Steps[len(s.Steps)-2:] {
		require.Equal(t, 8, step.Trial)
		steps[step.Step] = step.Value
	}
	require.Equal(t, map[float64]float64{2: 1, 4: 0.5, 4.5: 1}, steps)
	require.Equal(t, []string{
		"user attributes that are neither numbers nor texts are left out: list", "1 intermediate values that are not finite are left out",
	}, in.Notes)
}

// Optuna finishes a pending trial and adds one. Its constraints are the numbers of the requirements.
func TestOptunaContinuesSeveralObjectives(t *testing.T) {
	journal := string(journalOf(t, several(t))) +
		`{"op_code":9,"trial_id":5,"system_attr":{"constraints:latency <= 20":-2.0}}` + "\n" +
		`{"op_code":6,"trial_id":5,"state":1,"values":[3.0,4.0],"datetime_complete":"2026-01-02T03:04:06.000000+00:00"}` + "\n" +
		`{"op_code":4,"study_id":0,"datetime_start":"2026-01-02T03:04:05.000000+00:00","user_attrs":{"size":3},"system_attrs":{"constraints:latency <= 20":1.0,"constraints:score >= 0.5":0.2}}` + "\n" +
		`{"op_code":5,"trial_id":6,"param_name":"x","param_value_internal":0.125,"distribution":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0.0,\"high\":1.0,\"log\":false,\"step\":null}}"}` + "\n" +
		`{"op_code":6,"trial_id":6,"state":1,"values":[1.0,0.25],"datetime_complete":"2026-01-02T03:04:06.000000+00:00"}` + "\n"
	in, err := exchange.ReadJournal(strings.NewReader(journal), "")
	require.NoError(t, err)
	u, err := memory(t).Restore(ctx, "", in.Snapshot)
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Zero(t, v.Unfit)
	require.Equal(t, map[string]float64{"loss": 3, "score": 4, "latency": 18}, v.Trials[5].Numbers)
	require.Equal(t, map[string]float64{"loss": 1, "score": 0.25, "latency": 21, "size": 3}, v.Trials[6].Numbers)
}

// Optuna loads eleven studies with their parameters and results. Copies that Optuna writes to
// a journal and to SQLite are read back unchanged. The test needs Python with optuna:
// BO_TEST_PYTHON names the interpreter, python3 is the default.
func TestThroughOptuna(t *testing.T) {
	python := os.Getenv("BO_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import optuna").Run(); err != nil {
		t.Skip("no Python with optuna")
	}
	dir := t.TempDir()
	snapshots := append(ten(t), several(t))
	args := []string{"testdata/roundtrip.py"}
	for _, s := range snapshots {
		path := filepath.Join(dir, s.Definition.Name)
		require.NoError(t, os.WriteFile(path, journalOf(t, s), 0o600))
		args = append(args, path)
	}
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)

	type line struct {
		Study, State       string
		Directions, Single []string
		Trial              int
		Params, User       map[string]any
		Values             []float64
		Constraints, Steps map[string]float64
		Best               bool
	}
	loaded := map[string][]line{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(s.Bytes(), &l))
		loaded[l.Study] = append(loaded[l.Study], l)
	}
	for _, s := range snapshots {
		name, goals := s.Definition.Name, s.Definition.Goals()
		require.Len(t, loaded[name], len(s.Trials))
		for i, l := range loaded[name] {
			want := s.Trials[i]
			require.Len(t, l.Directions, len(goals))
			for k, o := range goals {
				require.Equal(t, strings.ToUpper(o.Goal), l.Directions[k])
			}
			state := map[store.State]string{store.Complete: "COMPLETE", store.Failed: "FAIL", store.Stopped: "PRUNED", store.Pending: l.State}[want.State]
			require.Equal(t, state, l.State)
			if want.State == store.Complete {
				for k, o := range goals {
					require.Equal(t, want.Numbers[o.Name], l.Values[k])
				}
				require.Equal(t, want.Numbers["latency"] != 0, l.User["latency"] == want.Numbers["latency"])
			}
			if want.Message != "" {
				require.Equal(t, want.Message, l.User["bo:message"])
			}
			var params map[string]any
			require.NoError(t, json.Unmarshal(want.Params, &params))
			if name != "study-1" && name != "study-5" { // edited; in Python true equals 1
				for key, v := range params {
					require.Equal(t, v, l.Params[key], key)
				}
			}
			require.Len(t, l.Single, len(fixed(s.Definition)))
		}
		if name == "several" {
			var best []int
			for _, l := range loaded[name] {
				if l.Best {
					best = append(best, l.Trial)
				}
			}
			require.Equal(t, []int{2, 3, 5}, best) // trial 1 is not feasible
			require.Equal(t, map[string]float64{"latency <= 20": 5, "score >= 0.5": 0}, loaded[name][0].Constraints)
			require.Equal(t, map[string]float64{"latency <= 20": -1}, loaded[name][3].Constraints)
			require.Equal(t, []float64{2, 1}, loaded[name][1].Values)
			require.Equal(t, 2.0, loaded[name][1].User["size"])
		}
		path := filepath.Join(dir, name)
		f, err := os.ReadFile(path + ".copy")
		require.NoError(t, err)
		in, err := exchange.ReadJournal(bytes.NewReader(f), "")
		require.NoError(t, err)
		same(t, s, in.Snapshot)
		in, err = exchange.ReadSQLite(ctx, path+".db", "")
		require.NoError(t, err)
		same(t, s, in.Snapshot)
	}
}

func TestUnusableValuesAreNoted(t *testing.T) {
	const trial = `{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":%s,"params":{"x":0.5},` +
		`"distributions":{"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0.0,\"high\":1.0}}"}}` + "\n"
	for _, c := range []struct {
		values []string
		notes  []string
	}{
		{[]string{"1", "2"}, nil},
		{[]string{"1", "Infinity"}, []string{"1 complete trials with a number beyond ±1e300 are imported as failed; the first is trial 1: the value is [+Inf]"}},
		{
			[]string{"1", "2", "-1e301", "3", "-Infinity"},
			[]string{"2 complete trials with a number beyond ±1e300 are imported as failed; the first is trial 2: the value is [-1e+301]"},
		},
	} {
		text := `{"op_code":0,"study_name":"a","directions":[1]}` + "\n"
		for _, v := range c.values {
			text += fmt.Sprintf(trial, v)
		}
		in, err := exchange.ReadJournal(strings.NewReader(text), "")
		require.NoError(t, err)
		require.Equal(t, c.notes, in.Notes)
	}
}

// Optuna continues a study if the distribution of a parameter keeps its class.
func TestFixedNumbersAreRangesInOptuna(t *testing.T) {
	const start = `{"op_code":0,"study_name":"a","directions":[1]}` + "\n" +
		`{"op_code":4,"study_id":0,"datetime_start":null,"state":1,"value":1,"params":{"x":0.5,"z":%v},"distributions":{` +
		`"x":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0.0,\"high\":1.0}}","z":%s}}` + "\n"
	const (
		float    = `{"name": "FloatDistribution", "attributes": {"step": null, "low": %v, "high": %[1]v, "log": false}}`
		integer  = `{"name": "IntDistribution", "attributes": {"log": false, "step": 1, "low": %v, "high": %[1]v}}`
		category = `{"name": "CategoricalDistribution", "attributes": {"choices": [%v]}}`
	)
	for _, c := range []struct {
		from, to string
		value    any
	}{
		{fmt.Sprintf(float, 2.5), fmt.Sprintf(float, 2.5), 2.5},
		{fmt.Sprintf(float, 1e300), fmt.Sprintf(float, 1e300), 1e300},
		{fmt.Sprintf(float, 2.0), fmt.Sprintf(integer, 2), 2}, // a study has no type of a fixed number
		{fmt.Sprintf(integer, -2), fmt.Sprintf(integer, -2), -2},
		{fmt.Sprintf(category, `"a"`), fmt.Sprintf(category, `"a"`), 0},
		{fmt.Sprintf(category, true), fmt.Sprintf(category, true), 0},
	} {
		text, err := json.Marshal(c.from)
		require.NoError(t, err)
		in, err := exchange.ReadJournal(strings.NewReader(fmt.Sprintf(start, c.value, text)), "")
		require.NoError(t, err)
		require.Equal(t, []string{"z"}, fixed(in.Snapshot.Definition))
		lines := bytes.Split(bytes.TrimSpace(journalOf(t, in.Snapshot)), []byte("\n"))
		var line struct {
			Params        map[string]float64
			Distributions map[string]string
		}
		require.NoError(t, json.Unmarshal(lines[len(lines)-1], &line))
		require.JSONEq(t, c.to, line.Distributions["z"])
		require.Equal(t, fmt.Sprint(c.value), fmt.Sprint(line.Params["z"]))
	}
}

// The range of a parameter has no steps if a trial lies between them, as from before an edit: Optuna refuses such a
// trial when it copies the study.
func TestValuesBetweenSteps(t *testing.T) {
	for _, c := range []struct {
		p    space.Parameter
		x    float64
		want string
	}{
		{space.StepInt("x", 0, 10, 2), 4, `{"name":"IntDistribution","attributes":{"low":0,"high":10,"log":false,"step":2}}`},
		{space.StepInt("x", 0, 10, 2), 3, `{"name":"IntDistribution","attributes":{"low":0,"high":10,"log":false,"step":1}}`},
		{space.StepInt("x", 0, 10, 2), -1, `{"name":"IntDistribution","attributes":{"low":-1,"high":10,"log":false,"step":1}}`},
		{space.StepFloat("x", 0, 1, 0.1), 0.3, `{"name":"FloatDistribution","attributes":{"low":0,"high":1,"log":false,"step":0.1}}`},
		{space.StepFloat("x", 0, 1, 0.1), 1.2, `{"name":"FloatDistribution","attributes":{"low":0,"high":1.2,"log":false,"step":0.1}}`},
		{space.StepFloat("x", 0, 1, 0.1), 0.25, `{"name":"FloatDistribution","attributes":{"low":0,"high":1,"log":false,"step":null}}`},
	} {
		lines := bytes.Split(bytes.TrimSpace(journalOf(t, &store.Snapshot{
			Definition: &study.Definition{Version: 1, Name: "a", Parameters: []space.Parameter{c.p}, Objectives: []study.Objective{{Name: "loss"}}},
			Trials:     []store.Trial{{Number: 1, Params: fmt.Appendf(nil, `{"x":%v}`, c.x), State: store.Complete, Numbers: map[string]float64{"loss": 1}}},
		})), []byte("\n"))
		var line struct{ Distributions map[string]string }
		require.NoError(t, json.Unmarshal(lines[len(lines)-1], &line))
		require.JSONEq(t, c.want, line.Distributions["x"], "%v", c.x)
	}
}

func fixed(d *study.Definition) (names []string) {
	for _, p := range d.Parameters {
		if p.Kind == space.KindFixed {
			names = append(names, p.Name)
		}
	}
	return names
}

func TestAddToAStudy(t *testing.T) {
	in, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "my conditional")
	require.NoError(t, err)
	s := memory(t)
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", -2, 20)}, Objectives: []study.Objective{{Name: "y"}}})
	require.NoError(t, err)
	for range 2 { // with the key the second call adds nothing
		added, err := exchange.Add(ctx, u, "k", in)
		require.NoError(t, err)
		require.Len(t, added, 12)
		require.Contains(t, added[0].Numbers, "y")
	}
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, 12)
	full, err := exchange.ReadSQLite(ctx, unpacked(t, "optuna.db"), "full")
	require.NoError(t, err)
	_, err = exchange.Add(ctx, u, "", full)
	list, _ := errors.AsType[space.Faults](err)
	require.Greater(t, len(list), 1)
	require.ErrorContains(t, list[0], `trial 1: invalid point: parameter "x": missing`)
	require.ErrorContains(t, list[1], `trial 2: invalid point: parameter "x": missing`)
}

func FuzzReadJournal(f *testing.F) {
	file, err := os.ReadFile(unpacked(f, "optuna.log"))
	require.NoError(f, err)
	f.Add(file[:4000])
	f.Add(journalOf(f, ten(f)[0]))
	f.Add([]byte(`{"op_code":0,"study_name":"a","directions":[1]}` + "\n" + `{"op_code":4,"study_id":0,"state":1,"value":1,"params":{"x":1,"y":0},"datetime_start":null,"distributions":{` +
		`"x":"{\"name\":\"DiscreteUniformDistribution\",\"attributes\":{\"low\":0,\"high\":1,\"q\":0.1}}","y":"{\"name\":\"CategoricalDistribution\",\"attributes\":{\"choices\":[null,[1]]}}"}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := exchange.ReadJournal(bytes.NewReader(text), "")
		if err == nil {
			_, _ = memory(t).Restore(ctx, "s", in.Snapshot)
		}
	})
}
