package flatjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/flatjson"
)

// texts that Each reads, and texts that it leaves to encoding/json.
var flat = []string{
	`{}`, ` { } `, `{"a":1}`, ` {"a" : -0.5e-3 , "b":"sgd", "é": true,"c":false,"a":2E+5}` + "\n", `{"a":0,"b":-0,"c":10.25}`, `{"":""}`,
}

var left = []string{
	``, `{`, `{}}`, `[]`, `null`, `{"a":null}`, `{"a":[1]}`, `{"a":{}}`, `{"a":"\n"}`, `{"a\u0062":1}`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":1.}`, `{"a":.5}`,
	`{"a":+1}`, `{"a":1e}`, `{"a":1e999}`, `{"a":0x1}`, `{"a":1_0}`, `{"a":Inf}`, `{"a":1,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":"b}`, `{"a":truex}`, `{"a":1`, `{"a"`, `{"a":`,
}

func TestEach(t *testing.T) {
	for _, text := range flat {
		require.True(t, same(t, text), text)
	}
	for _, text := range left {
		require.False(t, same(t, text), text)
	}
}

// same reports whether Each reads a text. It then compares the members with encoding/json.
func same(t *testing.T, text string) bool {
	got := map[string]any{}
	if !flatjson.Each(text, func(name string, v flatjson.Value) { got[name] = v.Any() }) {
		return false
	}
	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &want), text)
	require.Equal(t, want, got, text)
	return true
}

func TestNames(t *testing.T) {
	for _, text := range flat {
		var want, got []string
		require.True(t, flatjson.Each(text, func(name string, _ flatjson.Value) { want = append(want, name) }))
		require.True(t, flatjson.Names(text, func(name string) { got = append(got, name) }))
		require.Equal(t, want, got, text)
	}
	for _, text := range left {
		if text != `{"a":1e999}` {
			require.False(t, flatjson.Names(text, func(string) {}), text)
		}
	}
}

func TestNumbers(t *testing.T) {
	m, ok := flatjson.Numbers(`{"value": 1.5, "seconds": 2}`)
	require.True(t, ok)
	require.Equal(t, map[string]float64{"value": 1.5, "seconds": 2}, m)
	for _, text := range []string{`{"value": "1"}`, `{"value": true}`, `{"value": null}`, `{`} {
		_, ok := flatjson.Numbers(text)
		require.False(t, ok, text)
	}
}

func TestValues(t *testing.T) {
	m := map[string]any{"old": 1}
	require.NoError(t, flatjson.Values([]byte(`{"lr": 0.5, "opt": "sgd"}`), m))
	require.Equal(t, map[string]any{"lr": 0.5, "opt": "sgd"}, m)
	require.NoError(t, flatjson.Values([]byte(`{"a": 1, "opt": "s\u0067d", "none": null}`), m))
	require.Equal(t, map[string]any{"a": 1.0, "opt": "sgd", "none": nil}, m)
	require.Error(t, flatjson.Values([]byte(`{"a": 1e999}`), m))
}

func FuzzEach(f *testing.F) {
	for _, text := range append(flat, left...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { same(t, text) })
}
