package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/strictjson"
)

func TestObject(t *testing.T) {
	members, faults, ok := strictjson.Object([]byte(`{"min": 1, "lo": [2], "min": 3, "mxa": 4, "lo": 5}`), []string{"min", "max"}, map[string]string{"lo": "use min"})
	require.True(t, ok)
	require.Equal(t, map[string]json.RawMessage{"min": json.RawMessage("3"), "lo": json.RawMessage("5"), "mxa": json.RawMessage("4")}, members)
	var text []string
	for _, f := range faults {
		text = append(text, f.Key+": "+f.Err.Error())
	}
	require.Equal(t, []string{
		`lo: unknown key "lo": use min`, `min: key "min" occurs twice`, `mxa: unknown key "mxa": did you mean max?`, `lo: key "lo" occurs twice`,
	}, text)

	_, faults, ok = strictjson.Object([]byte(`{"any": 1}`), nil, nil)
	require.True(t, ok)
	require.Empty(t, faults)
	for _, text := range []string{`[1]`, `null`, `"a"`, `3`} {
		_, _, ok = strictjson.Object([]byte(text), nil, nil)
		require.False(t, ok, text)
	}
}

// The digits after a decimal comma are the next key in YAML.
func TestObjectWithDecimalComma(t *testing.T) {
	for text, want := range map[string]string{
		`{"min": 0, "5": null}`:     `unknown key "5": write 0.5, with a decimal point`,
		`{"min": -1, "5e-3": null}`: `unknown key "5e-3": write -1.5e-3, with a decimal point`,
		`{"min": 0, "5": 1}`:        `unknown key "5"; want one of min, max`,
		`{"min": "a", "5": null}`:   `unknown key "5"; want one of min, max`,
		`{"5": null}`:               `unknown key "5"; want one of min, max`,
	} {
		_, faults, ok := strictjson.Object([]byte(text), []string{"min", "max"}, nil)
		require.True(t, ok)
		require.Len(t, faults, 1, text)
		require.EqualError(t, faults[0].Err, want, text)
	}
}

func TestMismatch(t *testing.T) {
	for _, c := range []struct{ want, raw, text string }{
		{"a number", `"many"`, `must be a number, not "many"`},
		{"a number", `"0,5"`, `must be a number, not "0,5": write 0.5, with a decimal point`},
		{"a number", `"-1,25E+3"`, `must be a number, not "-1,25E+3": write -1.25E+3, with a decimal point`},
		{"a number", `"1,2,3"`, `must be a number, not "1,2,3"`},
		{"true or false", `"0,5"`, `must be true or false, not "0,5"`},
	} {
		require.Equal(t, c.text, strictjson.Mismatch(c.want, []byte(c.raw)))
	}
}

func TestRepeated(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `3`, `{"a": 1, "b": {"a": 2}, "c": [{"a": "a"}, {"a": "a"}]}`, `{"a": "a", "b": "a"}`, `[{"a": [1, "a"]}, {"a": null}]`, `{"a\"": "}", "a": "\\"}`} {
		require.NoError(t, strictjson.Repeated([]byte(text)), text)
	}
	for _, text := range []string{`{"a": 1, "a": 1}`, `{"b": [{"a": {}, "c": [], "a": 2}]}`, `[[1, {"a": true, "b": "c", "a": null}]]`, `{"a": 1, "\u0061" : 2}`} {
		require.EqualError(t, strictjson.Repeated([]byte(text)), `key "a" occurs twice`, text)
	}
}

func TestExcerpt(t *testing.T) {
	require.Equal(t, `{"a": 1}`, strictjson.Excerpt([]byte("{\"a\":\n\t1}")))
	require.Equal(t, strings.Repeat("é", 40)+"…", strictjson.Excerpt([]byte(strings.Repeat("é", 41))))
}
