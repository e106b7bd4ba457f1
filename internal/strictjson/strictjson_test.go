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
