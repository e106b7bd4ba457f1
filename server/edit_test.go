package server

import (
	"encoding/json"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/store"
)

// EditStudy replaces keys of the definition. An edit that is refused changes nothing.
func TestEditStudy(t *testing.T) {
	r := start(t, store.NewMemory(), Options{Limits: Limits{Trials: 100, Parameters: 3}})
	c := r.client()
	create(t, c, strings.Replace(bread, `"budget": 6`, `"budget": 6, "seed": "18446744073709551615", "initial": 4`, 1))
	_, err := c.Enqueue(t.Context(), &bov1.EnqueueRequest{Study: "bread", Points: []*structpb.Struct{object(t, `{"x": 0.9, "n": 3}`)}})
	require.NoError(t, err)
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.NoError(t, err)
	_, err = c.Tell(t.Context(), &bov1.TellRequest{Study: "bread", Trial: 1, Value: new(1.5)})
	require.NoError(t, err)
	edit := func(changes string) (*bov1.EditStudyResponse, error) {
		return c.EditStudy(t.Context(), &bov1.EditStudyRequest{Study: "bread", Changes: object(t, changes)})
	}
	for _, step := range []struct{ changes, key, want string }{
		{`{"budget": 9}`, "budget", `9`},
		{`{"require": ["latency <= 20"]}`, "require", `["latency <= 20"]`},
		{`{"require": null}`, "require", `null`},
		{`{"constraints": ["n <= 5"], "surrogate": {"name": "rff"}}`, "constraints", `["n <= 5"]`},
		{`{"end": {"max_failures": 3}}`, "end", `{"max_failures": 3}`},
	} {
		m, err := edit(step.changes)
		require.NoError(t, err, step.changes)
		text, err := json.Marshal(m.Definition.AsMap()[step.key])
		require.NoError(t, err)
		require.JSONEq(t, step.want, string(text))
		require.Equal(t, "18446744073709551615", m.Definition.AsMap()["seed"], "other keys stay")
	}
	m, err := edit(`{"parameters": [{"name": "x", "type": "float", "min": 0, "max": 0.5}, {"name": "n", "type": "int", "min": 1, "max": 9}]}`)
	require.NoError(t, err)
	require.EqualValues(t, 1, m.LeftOut)
	before, err := c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread"})
	require.NoError(t, err)
	require.Empty(t, before.Best)
	for changes, want := range map[string]connect.Code{
		`{}`: connect.CodeInvalidArgument, `{"budgets": 9}`: connect.CodeInvalidArgument, `{"name": "cake"}`: connect.CodeInvalidArgument,
		`{"parameters": null}`: connect.CodeInvalidArgument, `{"budget": -1}`: connect.CodeInvalidArgument, `{"seed": 1e300}`: connect.CodeInvalidArgument,
		`{"budget": 101}`: connect.CodeResourceExhausted,
	} {
		_, err := edit(changes)
		require.Equal(t, want, connect.CodeOf(err), "%s: %v", changes, err)
	}
	_, err = c.EditStudy(t.Context(), &bov1.EditStudyRequest{Study: "none", Changes: object(t, `{"budget": 9}`)})
	require.Equal(t, connect.CodeNotFound, connect.CodeOf(err))
	after, err := c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread"})
	require.NoError(t, err)
	require.Equal(t, before.Study.Revision, after.Study.Revision)
}

// DeleteStudy ends the streams of the study, and its name is free.
func TestDeleteStudy(t *testing.T) {
	b := store.NewMemory()
	r, other := start(t, b, Options{}), start(t, b, Options{})
	c := r.client()
	create(t, c, bread)
	_, err := other.client().Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.NoError(t, err)
	stream, err := c.Watch(t.Context(), &bov1.WatchRequest{Study: "bread"})
	require.NoError(t, err)
	require.True(t, stream.Receive())
	_, err = c.DeleteStudy(t.Context(), &bov1.DeleteStudyRequest{Study: "bread"})
	require.NoError(t, err)
	for stream.Receive() {
	}
	require.Equal(t, connect.CodeNotFound, connect.CodeOf(stream.Err()))
	for _, name := range []string{"bread", "none"} {
		_, err = c.DeleteStudy(t.Context(), &bov1.DeleteStudyRequest{Study: name})
		require.Equal(t, connect.CodeNotFound, connect.CodeOf(err))
	}
	_, err = c.DeleteStudy(t.Context(), &bov1.DeleteStudyRequest{Study: "a/b"})
	require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
	_, err = other.client().Tell(t.Context(), &bov1.TellRequest{Study: "bread", Trial: 1, Value: new(1.5)})
	require.Equal(t, connect.CodeNotFound, connect.CodeOf(err), "a server with the study in memory: %v", err)
	create(t, c, bread)
	a, err := other.client().Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Trials[0].Trial)
}
