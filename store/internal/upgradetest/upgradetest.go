// Package upgradetest has the tests of schema upgrades that SQLite and PostgreSQL share: a store
// with every kind of row, and a next version of the schema that exists in tests only.
package upgradetest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

var write = flag.Bool("write", false, "write the stored form of this program's version to testdata")

// Next returns the versions of a schema and one more with the given statements.
func Next(current fs.FS, statements string) fs.FS {
	all := fstest.MapFS{}
	files, err := fs.ReadDir(current, ".")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := fs.ReadFile(current, f.Name())
		if err != nil {
			panic(err)
		}
		all[f.Name()] = &fstest.MapFile{Data: text}
	}
	all[fmt.Sprintf("%05d_next.sql", len(files)+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + statements)}
	return all
}

// budget of the study that Fill makes.
const budget = 12

// Fill makes a study with every kind of row: fits, events, steps, and trials that are complete,
// failed, added, enqueued and running.
func Fill(t testing.TB, b store.Backend) {
	ctx := context.Background()
	s := store.New(b, store.Options{Version: "fixture"})
	u, err := s.Create(ctx, &study.Definition{
		Version: study.Version, Name: "fixture", Budget: budget, Initial: 3,
		Parameters: []space.Parameter{
			space.LogFloat("rate", 1e-5, 1), space.Int("layers", 1, 8), space.Categorical("optimizer", "adam", "sgd"),
		},
	})
	require.NoError(t, err)
	_, err = u.Add(ctx, "added", store.Evaluated{Params: map[string]any{"rate": 0.1, "layers": 2, "optimizer": "adam"}, Numbers: map[string]float64{"value": 3}})
	require.NoError(t, err)
	for i := range 5 {
		trials, err := u.Ask(ctx, 1)
		require.NoError(t, err)
		r := store.Report{Trial: trials[0].Number, Token: trials[0].Token, Key: fmt.Sprint("told ", i), Seconds: 1.5}
		if i == 2 {
			r.Failure, r.Message = store.FailedByProgram, "exit status 1"
		} else {
			r.Numbers = map[string]float64{"value": float64(i * i), "latency": 20 + float64(i)}
			require.NoError(t, u.AddSteps(ctx, store.Step{Trial: r.Trial, Attempt: 1, Step: 1, Name: "value", Value: 9}))
		}
		_, err = u.Tell(ctx, r)
		require.NoError(t, err)
	}
	_, err = u.AskFor(ctx, 1, "a person", 0)
	require.NoError(t, err)
	_, err = u.Enqueue(ctx, "enqueued", map[string]any{"rate": 0.01, "layers": 3, "optimizer": "sgd"})
	require.NoError(t, err)
}

// Write adds an evaluated point to the study.
func Write(b store.Backend, i int) error {
	ctx := context.Background()
	u, err := store.New(b, store.Options{}).Study(ctx, "fixture")
	if err == nil {
		_, err = u.Add(ctx, written(i), store.Evaluated{Params: map[string]any{"rate": 0.1, "layers": 2, "optimizer": "adam"}, Numbers: map[string]float64{"value": 3}})
	}
	return err
}

// Written reports whether the study has the point that Write added.
func Written(t testing.TB, b store.Backend, i int) bool {
	var reply []byte
	require.NoError(t, b.View(context.Background(), func(tx store.Tx) error {
		row, err := tx.Study("fixture")
		if err == nil {
			reply, err = tx.Reply(row.ID, written(i))
		}
		return err
	}))
	return reply != nil
}

func written(i int) string { return fmt.Sprint("written ", i) }

// content is all that a store returns of the study.
type content struct {
	Definition *study.Definition `json:"definition"`
	Trials     []store.Trial     `json:"trials"`
	Steps      []store.Step      `json:"steps"`
	Events     []store.Event     `json:"events"`
	Revision   int64             `json:"revision"`
}

// Content returns the study as JSON.
func Content(t testing.TB, b store.Backend) string {
	ctx := context.Background()
	u, err := store.New(b, store.Options{}).Study(ctx, "fixture")
	require.NoError(t, err)
	v, err := u.View(ctx)
	require.NoError(t, err)
	c := content{Definition: v.Definition, Trials: v.Trials, Revision: v.Revision}
	c.Steps, err = u.Steps(ctx, 0)
	require.NoError(t, err)
	c.Events, err = u.Events(ctx, 0, 1000)
	require.NoError(t, err)
	text, err := json.MarshalIndent(c, "", " ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// Continue runs the study to its end: all trials but the one that a person has get a result.
func Continue(t testing.TB, b store.Backend) {
	ctx := context.Background()
	u, err := store.New(b, store.Options{}).Study(ctx, "fixture")
	require.NoError(t, err)
	for {
		trials, err := u.Ask(ctx, 1)
		if errors.Is(err, store.ErrBudget) {
			break
		}
		require.NoError(t, err)
		_, err = u.Tell(ctx, store.Report{Trial: trials[0].Number, Token: trials[0].Token, Numbers: map[string]float64{"value": 1}})
		require.NoError(t, err)
	}
	v, err := u.View(ctx)
	require.NoError(t, err)
	issued := 0
	for i := range v.Trials {
		require.Equal(t, i+1, v.Trials[i].Number)
		if v.Trials[i].Source != loop.Added {
			issued++
		}
		if v.Trials[i].Owner.Name != "a person" {
			require.NotEqual(t, store.Pending, v.Trials[i].State)
		}
	}
	require.Equal(t, budget, issued)
}

// Versions tests that a store of every version of the schema can be upgraded to the newest, holds
// the same data and continues. Its stored form is testdata/v<version><suffix>, and its content is
// in testdata/v<version>.json. save stores a new store and returns its content, and load
// opens a stored form after its upgrade.
func Versions(t *testing.T, newest int64, suffix string, save func(t *testing.T, path string) string, load func(t *testing.T, path string) store.Backend) {
	for v := int64(1); v <= newest; v++ {
		t.Run(fmt.Sprint("version ", v), func(t *testing.T) {
			path := filepath.Join("testdata", fmt.Sprintf("v%d%s", v, suffix))
			expected := filepath.Join("testdata", fmt.Sprintf("v%d.json", v))
			if _, err := os.Stat(path); *write && v == newest && errors.Is(err, os.ErrNotExist) {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(expected, []byte(save(t, path)), 0o644))
			}
			require.FileExists(t, path, "a version of the schema needs its stored form: go test -run %s -write", t.Name())
			want, err := os.ReadFile(expected)
			require.NoError(t, err)
			b := load(t, path)
			var had, has any
			require.NoError(t, json.Unmarshal(want, &had))
			require.NoError(t, json.Unmarshal([]byte(Content(t, b)), &has))
			requireKept(t, "", had, has)
			Continue(t, b)
		})
	}
}

// requireKept fails if a value of had is not in has. Objects may have new members.
func requireKept(t *testing.T, path string, had, has any) {
	switch had := had.(type) {
	case map[string]any:
		object, _ := has.(map[string]any)
		for key, value := range had {
			requireKept(t, path+"."+key, value, object[key])
		}
	case []any:
		list, _ := has.([]any)
		require.Len(t, list, len(had), path)
		for i, value := range had {
			requireKept(t, fmt.Sprintf("%s[%d]", path, i), value, list[i])
		}
	default:
		require.Equal(t, had, has, path)
	}
}
