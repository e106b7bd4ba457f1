package main

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// A member that is no number is no result of 0.
func TestParseResult(t *testing.T) {
	for _, c := range []struct {
		line string
		want map[string]float64
		kind store.Failure
		err  string
	}{
		{"0.5", map[string]float64{"loss": 0.5}, "", ""},
		{`{"loss": 0.5, "epochs": 3}`, map[string]float64{"loss": 0.5, "epochs": 3}, "", ""},
		{`{"loss": 0.5, "name": "a", "ok": true, "none": null, "list": [1], "large": 1e999}`, map[string]float64{"loss": 0.5}, "", ""},
		{`{"loss": "0.5"}`, nil, store.FailedByProgram, `"loss" on the last line is not a number: "\"0.5\""`},
		{`{"loss": true}`, nil, store.FailedByProgram, `"loss" on the last line is not a number: "true"`},
		{`{"loss": [0.5]}`, nil, store.FailedByProgram, `"loss" on the last line is not a number: "[0.5]"`},
		{`{"loss": null}`, nil, store.FailedByProgram, `"loss" on the last line is not a number: "null"`},
		{`{"loss": 1e999}`, nil, store.NotFinite, `the program printed "{\"loss\": 1e999}", want a finite number of at most 1e+300`},
		{`{"loss": 0.5, "f1": NaN, "auc": -Infinity}`, map[string]float64{"loss": 0.5}, "", ""},
		{`{"loss": NaN, "f1": 0.5}`, nil, store.NotFinite, `the program printed "{\"loss\": NaN, \"f1\": 0.5}", want a finite number of at most 1e+300`},
		{`{"loss": NaN, "loss": 1}`, nil, store.FailedByProgram, `last line: key "loss" occurs twice: "{\"loss\": NaN, \"loss\": 1}"`},
		{`{"loss": none}`, nil, store.FailedByProgram, `last line is neither a number nor a JSON object: "{\"loss\": none}"`},
	} {
		r, err := parseResult(c.line, []string{"loss"})
		require.Equal(t, c.kind, r.Failure, "%s", c.line)
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, r.Numbers, "%s", c.line)
	}
}

func TestTextsOfResultsAreNotes(t *testing.T) {
	for line, want := range map[string]string{
		`{"loss": 0.5}`: "",
		`{"loss": 0.5, "saved": "/runs/7", "kind": "a b", "empty": "", "none": null, "list": ["a"]}`: "kind=a b, saved=/runs/7",
		`{"loss": 0.5, "f1": NaN, "note": "no NaN, \"-Infinity\""}`:                                  `note=no NaN, "-Infinity"`,
	} {
		r, err := parseResult(line, []string{"loss"})
		require.NoError(t, err)
		require.Equal(t, want, r.Message)
	}
}

// An error of the machine ends a run, and an error of the program does not.
func TestExhausted(t *testing.T) {
	fault := func(err error) error { return &fs.PathError{Op: "fork/exec", Path: "train", Err: err} }
	require.Equal(t, fault(syscall.EMFILE), exhausted(fault(syscall.EMFILE)))
	require.Equal(t, fault(syscall.EMFILE), exhausted(fault(syscall.EBADF)))
	require.NoError(t, exhausted(fault(syscall.ENOENT)))
}

// The program itself is no argument that can be left out.
func TestProgramOfAParameter(t *testing.T) {
	names := placeholders{names: []string{"m"}, conditional: map[string]bool{"m": true}}
	require.NoError(t, (&program{}).parseWords([]string{"p", "m={m}"}, names))
	require.EqualError(t, (&program{}).parseWords([]string{"p={m}", "1"}, names), "--command: {m} has no value where it is inactive, and names the program")
}
