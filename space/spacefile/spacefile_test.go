package spacefile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/spacefile"
)

func write(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestRead(t *testing.T) {
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
		s, err := spacefile.Read(write(t, name, text))
		require.NoError(t, err, name)
		assert.Equal(t, want, s, name)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", ``, "the text is empty"},
		{"a.yaml", "# nothing\n", "the text is empty"},
		{"a.yaml", "parameters:\n", "parameters must be a list, not null"},
		{"a.yaml", "- 1\n", "want an object {…}, not [1]"},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, minimum: 0, max: 1}\n",
			`parameter "lr": unknown key "minimum": did you mean min?; parameter "lr": min is missing`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: 1, log: yes}\n", `parameter "lr": log must be true or false, not "yes"`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: 1, max: 2}\n", `line 2: mapping key "max" already defined at [2:37]`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 0, max: .inf}\n", `+Inf is not a finite number`},
		{"a.yaml", "parameters:\n  - {name: x, type: float, min: \"1e-5\", max: 1}\n", `parameter "x": min must be a number, not "1e-5"`},
		{"a.yaml", "parameters:\n  - {name: x, type: float, min: 0, max: 1e999}\n", `parameter "x": max must be a number, not "1e999"`},
		{"a.yaml", "parameters: []\n---\nparameters: []\n", `more than one YAML document`},
		{"a.yaml", "parameters: [\n", `line 1: sequence end token ']' not found`},
		{"a.yaml", "parameters:\n  - {name: lr, type: float, min: 1, max: 0}\n", `parameter "lr": min 1 is above max 0`},
		{"a.json", "{\n\"parameters\": [}", "line 2: invalid character '}' looking for beginning of value"},
	} {
		path := write(t, c.name, c.text)
		_, err := spacefile.Read(path)
		require.ErrorIs(t, err, space.ErrInvalid, c.text)
		assert.EqualError(t, err, path+": invalid search space: "+c.want)
	}

	_, err := spacefile.Read("absent.yaml")
	assert.EqualError(t, err, "absent.yaml: no such file or directory")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = spacefile.Read("space.toml")
	assert.EqualError(t, err, "space.toml: a space file ends in .json, .yaml or .yml")
}

// No text makes the reader panic, or gives an error of more than one line.
func FuzzRead(f *testing.F) {
	f.Add("parameters:\n  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}\n")
	f.Add("a: &x [1, *x]\n? {b: c}\n: !!binary aGk=\n--- \n...")
	f.Add("parameters:\n- name: |\n    two\n    lines\n  type: fixed\n  value: 2001-01-01\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "space.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := spacefile.Read(path); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}

// A byte order mark, as editors on Windows write, is no part of the text.
func TestReadByteOrderMark(t *testing.T) {
	for name, text := range map[string]string{
		"mark.json": `{"parameters": [{"name": "x", "type": "int", "min": 1, "max": 8}]}`,
		"mark.yaml": `parameters: [{name: x, type: int, min: 1, max: 8}]`,
	} {
		s, err := spacefile.Read(write(t, name, "\ufeff"+text))
		require.NoError(t, err, name)
		require.Equal(t, "x", s.Parameters()[0].Name)
	}
}
