package studyfile_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/study/studyfile"
)

func write(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const whole = `# every key
name: resnet-lr
parameters:
  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
  - {name: opt, type: categorical, values: [adam, sgd]}
  - {name: n, type: int, min: 1, max: 8}
defaults: {n: 2, opt: adam}
objectives: [{name: loss, goal: maximize, noise_free: true}]
command: python train.py --lr {lr} --opt {opt}
shell: false
timeout: 90s
failures: expected
budget: 60
initial: 5
batch: 2
workers: 4
seed: 18446744073709551615
design: halton
warp: none
surrogate: {name: gp, kernel: matern32, isotropic: true, noise: 1e-3}
acquisition: {name: lcb, beta: 2}
maximizer: {raw: 64}
`

// A YAML file and its JSON form give the same definition.
func TestRead(t *testing.T) {
	d, err := studyfile.Read(write(t, "study.yaml", whole))
	require.NoError(t, err)
	require.Equal(t, "resnet-lr", d.Name)
	require.Equal(t, study.Objective{Name: "loss", Goal: "maximize", NoiseFree: true}, d.Objective())
	require.Equal(t, 90*time.Second, d.Timeout.Value())
	require.Equal(t, uint64(1<<64-1), d.Seed)
	require.Equal(t, map[string]any{"n": 2.0, "opt": "adam"}, d.Defaults)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	again, err := studyfile.Read(write(t, "study.json", string(text)))
	require.NoError(t, err)
	require.Equal(t, d, again)

	d, err = studyfile.Read(write(t, "space.yml", "parameters: [{name: x, type: int, min: 1, max: 8}]"))
	require.NoError(t, err)
	require.Equal(t, study.Objective{Name: "value", Goal: "minimize"}, d.Objective())
}

func TestFaults(t *testing.T) {
	const x = "parameters: [{name: x, type: int, min: 1, max: 8}]\n"
	for _, c := range []struct{ name, text, want string }{
		{"a.yaml", "", "the text is empty"},
		{"a.json", " ", "the text is empty"},
		{"a.yaml", "- 1", "line 1, column 1: want an object {…}, not [1]"},
		{"a.yaml", "name: x", "line 1, column 1: parameters are missing"},
		{"a.yaml", "parameters: {lr: {min: 0, max: 1}}", `line 1, column 1: parameters must be a list such as [{name: …, type: …}], not {"lr":{"min":0,"max":1}}`},
		{"a.yaml", x + "budget: [\n", "line 2: did not find expected node content"},
		{"a.json", "{\"parameters\": []\n,}", "line 2, column 2: invalid character '}' looking for beginning of object key string"},

		// All faults are in one report, in the order of the text.
		{"a.yaml", "budgt: 3\nname: a b\nworkers: many\nbatch: 2.5\nsurrogate: {name: gp, kernell: rbf, noise: -1}\n" +
			"acquisition: bla\ntimeout: 90\nparameters:\n- {name: x, type: float, min: 1, max: 0}\n- {name: y, type: range}\nwarp: maybe\n",
			`line 1, column 1: unknown key "budgt": did you mean budget?; ` +
				`line 2, column 1: name "a b": want 1 to 100 letters, digits, dots, dashes and underscores, not beginning with a dot or dash; ` +
				`line 3, column 1: workers must be a whole number, not "many"; ` +
				`line 4, column 1: batch must be a whole number, not 2.5; ` +
				`line 5, column 23: surrogate gp: unknown setting "kernell": did you mean kernel?; ` +
				`line 5, column 37: surrogate gp: noise is -1, want 0 or more; ` +
				`line 6, column 1: unknown acquisition "bla"; want one of auto, logei, lognei, ei, pi, lcb, mes, ts, qei, qlogei, lognehvi, lognparego; ` +
				`line 7, column 1: timeout must be a time such as "90s" or "2h", not 90; ` +
				`line 9, column 3: parameter "x": min 1 is above max 0; ` +
				`line 10, column 13: parameter "y": unknown type "range": use float; ` +
				`line 11, column 1: warp is "maybe", want auto or none`},
		{"a.json", "{\"parameters\": [{\"name\": \"x\", \"type\": \"int\", \"min\": 1, \"max\": 8}],\n\t\"budget\": 0, \"initial\": 1e9}",
			"line 2, column 2: budget is 0, want 1 to 100000; line 2, column 15: initial must be a whole number, not 1e9"},

		// Words of other tools and of later versions.
		{"a.yaml", x + "n_trials: 5\ndirection: minimize\nmethod: bayes\nmetric: {name: loss}\nprogram: train.py\n",
			`line 2, column 1: unknown key "n_trials": use budget; ` +
				`line 3, column 1: unknown key "direction": use objectives: [{name: …, goal: minimize}]; ` +
				`line 4, column 1: unknown key "method": use surrogate and acquisition; ` +
				`line 5, column 1: unknown key "metric": use objectives: [{name: …, goal: minimize}]; ` +
				`line 6, column 1: unknown key "program": use command`},
		{"a.yaml", x + "pruner: {rule: asha}\nrequire: [a]\nconstraints: [b]\n",
			`line 2, column 1: unknown key "pruner": use stop; ` +
				`line 3, column 11: require: "a": want NAME <= NUMBER or NAME >= NUMBER, such as "latency <= 20"; ` +
				`line 4, column 15: constraint 1 of 1: "b": character 1: unknown parameter "b"; want one of x`},
		{"a.yaml", "parameters:\n- {name: x, type: float, low: 0, high: 1, when: y}\n",
			`line 2, column 3: parameter "x": min is missing; line 2, column 3: parameter "x": max is missing; ` +
				`line 2, column 26: parameter "x": unknown key "low": use min; line 2, column 34: parameter "x": unknown key "high": use max; ` +
				`line 2, column 43: parameter "x": when: "y": character 1: unknown parameter "y"; want one of x`},
		{"a.yaml", "parameters:\n- {name: opt, type: categorical, values: [adam, sgd]}\n- {name: m, type: float, min: 0, max: 1, when: \"opt == 'sdg'\"}\n- {name: k, type: int, min: 1, max: 8, when: k > 2}\n" +
			"constraints:\n  - m * kk <= 3\n  - k +\n  - 1 <= 2\n  - k\n",
			`line 3, column 42: parameter "m": when: "opt == 'sdg'": character 8: sdg is not a value of opt: one of adam, sgd; ` +
				`line 4, column 40: parameter "k": when: the parameter depends on itself: k → k; ` +
				`line 6, column 5: constraint 1 of 4: "m * kk <= 3": character 5: unknown parameter "kk": did you mean k?; ` +
				`line 7, column 5: constraint 2 of 4: "k +": character 3: the text ends too early; ` +
				`line 8, column 5: constraint 3 of 4: "1 <= 2": character 3: names no parameter; ` +
				`line 9, column 5: constraint 4 of 4: "k": character 1: want a condition that is true or false, not a number`},
		{"a.yaml", "parameters: [{name: a, type: int, min: 1, max: 8}, {name: x, type: float, min: 0, max: 1}]\nconstraints: [a > 8]\n",
			`line 2, column 1: constraints: no point of the space satisfies "a > 8"`},
		{"a.yaml", x + "constraints: x > 2\n", `line 2, column 1: constraints must be a list of texts such as ["layers * width <= 4096"], not "x > 2"`},

		{"a.yaml", x + "objectives: loss\n", `line 2, column 1: objectives must be a list such as [{name: loss, goal: minimize}], not "loss"`},
		{"a.yaml", x + "objectives: [loss]\n", `line 2, column 14: objectives must be a list such as [{name: loss, goal: minimize}], not ["loss"]` + "\n"},
		{"a.yaml", "parameters:\n\t- {name: x, type: float, min: 0, max: 1}\n", "line 2: the line is indented with a tab, want spaces"},
		{"a.yaml", x + "objectives:\n\t- {name: x}\n", "line 3: the line is indented with a tab, want spaces"},
		{"a.yaml", x + "objectives: [{name: loss}\n", "line 2: a list […] at this line is not complete: want , or ]"},
		{"a.yaml", "parameters:\n  x: {min: 0, max: 1\n  y: {min: 0, max: 1}\n", "line 2: a mapping {…} at this line is not complete: want , or }"},
		{"a.yaml", "parameters:\n  x: {min: 0, max: 1}\n y: {min: 0, max: 1}\n", "line 3: a mapping at this line has another element: want a key with the indentation of the others"},
		{"a.yaml", "budget: 3\nparameters:\n- {name: x, type: float, min: 0, max: 1}\n {name: y}\n", "line 4: a mapping at this line has another element: want a key with the indentation of the others"},
		{"a.yaml", x + "objectives: @loss\n", "line 2: found character that cannot start any token"},
		{"a.yaml", x + "objectives: [{name: a, direction: up, goal: most}, {nam: 3}]\n",
			`line 2, column 24: objectives: unknown key "direction": use goal: minimize or maximize; ` +
				`line 2, column 39: objectives: goal of "a" is "most", want minimize or maximize; ` +
				`line 2, column 52: objectives: name is missing; line 2, column 53: objectives: unknown key "nam": did you mean name?`},
		{"a.yaml", x + "objectives: [{name: a, goal: most}, {name: b}]\n",
			`line 2, column 24: objectives: goal of "a" is "most", want minimize or maximize`},
		{"a.yaml", x + "objectives: [{name: \"a\\e[31m\"}]\n", `line 2, column 15: objectives: the name "a\x1b[31m" must not hold control characters`},
		{"a.yaml", x + "shell: yes\nname:\nseed: -1\nfailures: ok\n",
			`line 2, column 1: shell must be true or false, not "yes"; line 3, column 1: name has no value: add one, or leave the key out; ` +
				`line 4, column 1: seed must be a whole number from 0 to 2^64-1, not -1; line 5, column 1: failures is "ok", want "expected", or leave the key out`},
		{"a.yaml", x + "surrogate: [gp]\nmaximizer: 3\nacquisition: {name: 3}\n",
			`line 2, column 1: surrogate must be a name or a mapping such as {name: gp, …}, not ["gp"]; ` +
				`line 3, column 1: maximizer must be a mapping {key: value, …}, not 3; line 4, column 15: acquisition: name is 3, want a string`},
		{"a.yaml", x + "surrogate: {kernel: rbf, kernel: rq}\nbudget: 3\nbudget: 4\n",
			`line 2, column 26: surrogate: key "kernel" occurs twice; line 4, column 1: key "budget" occurs twice`},
		{"a.yaml", x + "surrogate: {kernel: \"rbf[7]\"}\n", `line 2, column 1: surrogate gp: bad kernel expression "rbf[7]"`},
		{"a.yaml", x + "defaults: {y: 1, x: 9}\n", `line 2, column 12: defaults: "y" is not a parameter; want one of x; line 2, column 18: defaults: parameter "x": `},
		{"a.yaml", x + "builtin: branin\ncommand: prog {x}\nbudget: 3\ninitial: 4\nbatch: 5\n",
			`line 3, column 1: builtin and command are both given: a study has at most one of them; ` +
				`line 5, column 1: initial 4 is more than budget 3; line 6, column 1: batch 5 is more than budget 3`},
		{"a.yaml", x + "version: 2\n", "line 2, column 1: version is 2: this program reads up to 1"},
		{"a.yaml", "parameters: [{name: bo, type: int, min: 1, max: 8}]", `line 1, column 15: parameter "bo": the name is reserved`},
	} {
		path := write(t, c.name, c.text)
		_, err := studyfile.Read(path)
		require.ErrorIs(t, err, study.ErrInvalid, c.text)
		assert.Contains(t, err.Error()+"\n", path+": invalid study: "+c.want, c.text)
		faults, ok := errors.AsType[*studyfile.Error](err)
		require.True(t, ok)
		assert.GreaterOrEqual(t, len(faults.Faults), strings.Count(c.want, "; line")+1)
	}
	_, err := studyfile.Read("absent.yaml")
	assert.EqualError(t, err, "absent.yaml: no such file or directory")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = studyfile.Read("study.toml")
	assert.EqualError(t, err, "study.toml: the name must end in .json, .yaml or .yml")
}

// Faults from checks of the caller are in the same report.
func TestChecks(t *testing.T) {
	path := write(t, "a.yaml", "parameters: [{name: x, type: int, min: 1, max: 8}]\ncommand: prog\nbudget: x\n")
	_, err := studyfile.Read(path, func(d *study.Definition) []error {
		return []error{&study.Fault{Path: []any{"command"}, Err: errors.New("no " + d.Command)}}
	})
	require.EqualError(t, err, path+`: invalid study: line 2, column 1: no prog; line 3, column 1: budget must be a whole number, not "x"`)
}

// Read does not panic on any text, its errors are one line, and a definition that it
// accepts has options.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("parameters: [{name: x, type: int, min: 1, max: 8}]\nobjectives: [{name: a}]\nsurrogate: gp\n")
	f.Add("? {a: b}\n: &x [*x]\nparameters: &y {<<: *y}\ndefaults: !!binary aGk=\n")
	f.Add(`{"parameters": [{"name": "x", "type": "fixed", "value": 1}], "surrogate": {"name": null}, "objectives": [null]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"study.yaml", "study.json"} {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			d, err := studyfile.Read(path)
			if err == nil {
				_, err := d.Method()
				require.NoError(t, err)
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		}
	})
}
