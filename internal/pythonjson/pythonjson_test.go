package pythonjson_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pythonjson"
)

func TestReplace(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`,
		`{"a": NaN, "b": [Infinity, -Infinity,-NaN]}`: `{"a": "NaN", "b": ["Infinity", "-Infinity","-NaN"]}`,
		`{"NaN": "NaN, \"NaN\\", "b": -1, "c": NaN}`:  `{"NaN": "NaN, \"NaN\\", "b": -1, "c": "NaN"}`,
		`NaN`:      `"NaN"`,
		`"NaN`:     `"NaN`,
		`"NaN\`:    `"NaN\`,
		`-Infinit`: `-Infinit`,
		``:         ``,
	} {
		require.Equal(t, want, string(pythonjson.Replace([]byte(text), strconv.Quote)), text)
	}
}

// A text that is JSON stays as it is.
func FuzzReplace(f *testing.F) {
	f.Add([]byte(`{"NaN": "\\\"-Infinity"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		out := pythonjson.Replace(text, func(string) string { return "null" })
		if json.Valid(text) {
			require.Equal(t, text, out)
		}
	})
}
