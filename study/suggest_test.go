package study

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
)

const request = `{"version": 1, "n": 2, "study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [{"name": "loss"}], "initial": 3},
	"trials": [{"params": {"x": 0.1}, "value": 3}, {"params": {"x": 0.5}, "numbers": {"loss": 1, "time": 7}}, {"params": {"x": 0.9}, "state": "failed"}, {"params": {"x": 0.7}}]}`

// Suggestions of a request equal the suggestions of package loop.
func TestSuggest(t *testing.T) {
	ctx := context.Background()
	r, err := ParseRequest([]byte(request))
	require.NoError(t, err)
	got, err := Suggest(ctx, r)
	require.NoError(t, err)
	s, o, h, err := r.history()
	require.NoError(t, err)
	want, err := loop.Propose(ctx, s, o, h, 2)
	require.NoError(t, err)
	require.Len(t, got.Points, 2)
	for i := range got.Points {
		require.Equal(t, want.Points[i].Point.Key(), got.Points[i].Params.Key())
		require.NotNil(t, got.Points[i].Prediction.Mean)
	}
	require.Equal(t, 3, got.Fit.Observations)

	r.Warm = got.Warm // unchanged by a second round trip
	_, err = Suggest(ctx, r)
	require.NoError(t, err)
}

func TestRequestFaults(t *testing.T) {
	for _, c := range []struct{ replace, by, text string }{
		{`"version": 1`, `"version": 2`, "version is 2, want 1"},
		{`"n": 2`, `"n": -1`, "n is -1"},
		{`"n": 2`, `"n": 100000`, "want 1 to 10000"},
		{`"n": 2`, `"count": 2`, "unknown field"},
		{`"study"`, `"studi"`, "unknown field"},
		{`"x": 0.1`, `"x": 2`, `trial 1 of 4: invalid point: parameter "x"`},
		{`"value": 3`, `"state": "complete"`, `without a value or a number named "loss"`},
		{`"value": 3`, `"state": "done"`, `want complete, failed or pending`},
		{`"value": 3`, `"trial": -3`, "its number -3 is not above 0"},
		{`"max": 1`, `"max": 0`, "invalid study"},
		{`"n": 2`, `"warm": "x"`, "warm is not the warm start"},
	} {
		var out bytes.Buffer
		text := strings.Replace(request, c.replace, c.by, 1)
		require.NoError(t, ServeSuggest(context.Background(), strings.NewReader(text), &out))
		require.Contains(t, out.String(), `{"error":`, c.by)
		var reply struct{ Error string }
		require.NoError(t, json.Unmarshal(out.Bytes(), &reply))
		require.Contains(t, reply.Error, c.text, c.by)
	}
}

// A pipe answers line by line; a bad request does not end it, a bad text ends it.
func TestServeSuggest(t *testing.T) {
	var out bytes.Buffer
	compact := strings.ReplaceAll(request, "\n", "")
	err := ServeSuggest(context.Background(), strings.NewReader(compact+"\n{}\n"+request+"\nnonsense"), &out)
	require.ErrorIs(t, err, ErrRequest)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, lines[0], lines[2])
	require.Contains(t, lines[1], `"study\" is missing`)
}
