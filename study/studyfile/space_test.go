package studyfile_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study/studyfile"
)

func TestReadSpace(t *testing.T) {
	want, err := space.New(
		space.LogFloat("lr", 1e-5, 0.1), space.Int("layers", 1, 8), space.Categorical("opt", "adam", "sgd", "on"),
		space.Ordinal("bits", 2, 4, 8), space.Categorical("mixed", true, "1", 1), space.Fixed("seed", 7),
	)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"space.json": `{"parameters": [{"name":"lr","type":"float","min":1e-5,"max":0.1,"log":true},{"name":"layers","type":"int","min":1,"max":8},
			{"name":"opt","type":"categorical","values":["adam","sgd","on"]},{"name":"bits","type":"ordinal","values":[2,4,8]},
			{"name":"mixed","type":"categorical","values":[true,"1",1]},{"name":"seed","type":"fixed","value":7}]}`,
		"flow.yaml": `parameters:
  - {name: lr, type: float, min: 1e-5, max: +1E-1, log: true}
  - {name: layers, type: int, min: 1, max: 8}
  - {name: opt, type: categorical, values: [adam, sgd, on]}
  - {name: bits, type: ordinal, values: [2, 4, 8]}
  - {name: mixed, type: categorical, values: [true, "1", 1]}
  - {name: seed, type: fixed, value: 7}
`,
		"BLOCK.YML": `# learning rate and size
parameters:
- name: lr
  type: float
  min: 0.00001
  max: .1
  log: true
- name: layers
  type: int
  min: 1
  max: 8
- name: opt
  type: categorical
  values:
  - adam
  - sgd
  - "on"
- {name: bits, type: ordinal, values: [2, 4, 8.0]}
- {name: mixed, type: categorical, values: [true, '1', 1.0]}
- name: seed
  type: fixed
  value: 7
`,
	} {
		s, err := studyfile.ReadSpace(write(t, name, text))
		require.NoError(t, err, name)
		assert.Equal(t, want, s, name)
	}
}

func TestSpaceFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", ``, "the text is empty"},
		{"a.yaml", "# nothing\n", "the text is empty"},
		{"a.yaml", "parameters:\n", "line 1, column 1: parameters must be a list such as [{name: …, type: …}], not null"},
		{"a.yaml", "- 1\n", "want an object {…}, not [1]"},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, minimum: 0, max: 1}\n",
			`line 2, column 5: parameter "lr": min is missing; line 2, column 29: parameter "lr": unknown key "minimum": did you mean min?`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: 1, log: yes}\n", `line 2, column 45: parameter "lr": log must be true or false, not "yes"`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: 1, max: 2}\n", `line 2, column 45: parameter "lr": key "max" occurs twice`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: .inf, bogus: 1}\n- x\n",
			`line 3: a mapping at this line has another element: want a key with the indentation of the others`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: .inf}\n  - name: n\n    type: int\n    low: 1\n    max: 9.5\n",
			`line 2, column 37: parameter "lr": max must be a number, not ".inf"; line 3, column 5: parameter "n": min is missing; ` +
				`line 5, column 5: parameter "n": unknown key "low": use min`},
		{"a.yaml", "parameters:\n  - {name: n, type: int, min: 1, max: 9.5}\nbogus: 1\n",
			`line 2, column 34: parameter "n": max is 9.5, which is not an integer; line 3, column 1: unknown key "bogus"; want one of parameters, constraints`},
		{"a.yaml", "parameters: [{name: x, type: ordinal, values: [1, .nan]}]", `line 1, column 39: parameter "x": value 2 of 2 is 1e999, which is not a finite number`},
		{"a.yaml", "parameters: [!x {name: x}, {name: !y z}]", `line 1, column 35: tag !y is not supported`},
		{"a.yaml", "parameters: [{[1]: x}]", `line 1, column 15: a key must be a string`},
		{"a.yaml", "parameters: [{<<: 1}]", `line 1, column 19: a merge key takes a mapping or a list of mappings`},
		{"a.yaml", "a: &x [*x]", `line 1, column 8: more than 10000 keys and values`},
		{"a.yaml", "a: &x {<<: *x}", `line 1, column 4: more than 10000 keys and values`},
		{"a.yaml", "parameters:\n  - {name: x, type: float, min: \"1e-5\", max: 1}\n", `line 2, column 28: parameter "x": min must be a number, not "1e-5"`},
		{"a.yaml", "parameters:\n  - {name: x, type: float, min: 0, max: 1e999}\n", `line 2, column 36: parameter "x": max must be a number, not "1e999"`},
		{"a.yaml", "parameters: []\n---\nparameters: []\n", `line 2, column 1: more than one YAML document`},
		{"a.yaml", "parameters: [\n", `line 1: did not find expected node content`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 1, max: 0}\n", `line 2, column 5: parameter "lr": min 1 is above max 0`},
		{"a.json", "{\n\"parameters\": [}", "line 2, column 16: invalid character '}' looking for beginning of value"},
		{"a.json", "{\"parameters\": [\n {\"name\": \"ö\", \"type\": \"int\", \"min\": 1,\n\"max\": 9.5}]}", `line 3, column 1: parameter "ö": max is 9.5, which is not an integer`},
		{"a.json", "{\"parameters\": [{\"name\": \"ö\", \"type\": \"int\", \"min\": 1, \"max\": 9.5}]}", `line 1, column 56: parameter "ö": max is 9.5, which is not an integer`},
	} {
		path := write(t, c.name, c.text)
		_, err := studyfile.ReadSpace(path)
		require.ErrorIs(t, err, space.ErrInvalid, c.text)
		assert.EqualError(t, err, path+": invalid search space: "+c.want)
	}

	_, err := studyfile.ReadSpace("absent.yaml")
	assert.EqualError(t, err, "absent.yaml: no such file or directory")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = studyfile.ReadSpace("space.toml")
	assert.EqualError(t, err, "space.toml: the name must end in .json, .yaml or .yml")
}

// Aliases, merge keys and whole numbers that begin with 0.
func TestReadSpaceAnchors(t *testing.T) {
	s, err := studyfile.ReadSpace(write(t, "a.yaml", `parameters:
  - &base {name: a, type: float, min: 1e-5, max: 010, log: true}
  - {<<: *base, name: b}
  - {name: c, type: categorical, values: &v [x, 2001-01-01]}
  - {name: d, type: ordinal, values: *v}
`))
	require.NoError(t, err)
	want, err := space.New(space.LogFloat("a", 1e-5, 10), space.LogFloat("b", 1e-5, 10),
		space.Categorical("c", "x", "2001-01-01"), space.Ordinal("d", "x", "2001-01-01"))
	require.NoError(t, err)
	assert.Equal(t, want, s)
}

// Texts that expand, nest or list too much give an error within a second.
func TestReadSpaceIsBounded(t *testing.T) {
	bomb := "a: &a [1,1,1,1,1,1,1,1,1]\n"
	for c := 'b'; c <= 'i'; c++ {
		before := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+before+",", 9), ","))
	}
	for name, c := range map[string]struct{ text, want string }{
		"aliases": {bomb, "more than 10000 keys and values"},
		"nested":  {strings.Repeat("[", 1e5), "exceeded max depth"},
		"values":  {"parameters: [{name: x, type: categorical, values: [" + strings.Repeat("1,", 1e5) + "]}]", "more than 10000 keys and values"},
		"bytes":   {strings.Repeat("#", 1<<20+1), "more than 1048576 bytes"},
	} {
		start := time.Now()
		_, err := studyfile.ReadSpace(write(t, "a.yaml", c.text))
		require.ErrorIs(t, err, space.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
		require.Less(t, len(err.Error()), 300, name)
		require.Less(t, time.Since(start), 5*time.Second, name)
	}
}

// ReadSpace does not panic on any text, and its errors are one line.
func FuzzReadSpace(f *testing.F) {
	f.Add("parameters:\n  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}\n")
	f.Add("a: &x [1, *x]\n? {b: c}\n: !!binary aGk=\n--- \n...")
	f.Add("parameters:\n- name: |\n    two\n    lines\n  type: fixed\n  value: 2001-01-01\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "space.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := studyfile.ReadSpace(path); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}

// A byte order mark, which editors on Windows write, is not part of the text.
func TestReadSpaceByteOrderMark(t *testing.T) {
	for name, text := range map[string]string{
		"mark.json": `{"parameters": [{"name": "x", "type": "int", "min": 1, "max": 8}]}`,
		"mark.yaml": `parameters: [{name: x, type: int, min: 1, max: 8}]`,
	} {
		s, err := studyfile.ReadSpace(write(t, name, "\ufeff"+text))
		require.NoError(t, err, name)
		require.Equal(t, "x", s.Parameters()[0].Name)
	}
}
