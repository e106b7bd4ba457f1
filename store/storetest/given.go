package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// givenValues tests asks for trials with given values: other trials wait, the values are kept with the fit, and the proposals
// are computed again from the store.
func givenValues(t *testing.T, o Opener) {
	ctx := context.Background()
	d := definition("given")
	d.Budget = 20
	u := created(t, open(t, o, store.Options{}), d)
	other, err := open(t, o, store.Options{}).Study(ctx, "given")
	must(t, err)
	ask := func(n int, given map[string]any) []store.Trial {
		t.Helper()
		trials, err := u.AskOnce(ctx, store.AskRequest{N: n, Given: given})
		must(t, err)
		return trials
	}
	has := func(trial store.Trial, name string, want float64) {
		t.Helper()
		var params map[string]float64
		must(t, json.Unmarshal(trial.Params, &params))
		equal(t, fmt.Sprintf("%s of trial %d", name, trial.Number), params[name], want)
	}
	_, err = u.Enqueue(ctx, "", map[string]any{"x": 0.25, "n": 2}, map[string]any{"x": 0.75, "n": 3})
	must(t, err)
	first := ask(1, map[string]any{"n": 3})
	equal(t, "the number of the enqueued trial", first[0].Number, 2)
	tell(t, u, first...)
	told := []store.Trial{}
	for i := range 9 {
		given := map[string]any{"x": float64(i) / 10}
		if i%3 == 2 {
			given = map[string]any{"n": 7}
		}
		trials := ask(1+i%2, given)
		for _, trial := range trials {
			if trial.Number == 1 {
				t.Fatal("the waiting trial has other values")
			}
			for name, v := range given {
				want, ok := v.(float64)
				if !ok {
					want = 7
				}
				has(trial, name, want)
			}
		}
		tell(t, u, trials...)
		told = append(told, trials...)
	}
	plain := ask(1, nil)
	equal(t, "the number of the trial that waits", plain[0].Number, 1)
	suggested := 0
	for _, trial := range told {
		params, err := other.Replay(ctx, trial.Number)
		must(t, err)
		equal(t, fmt.Sprintf("the replay of trial %d", trial.Number), params, trial.Params)
		if trial.Source == loop.Suggested {
			suggested++
		}
	}
	if suggested < 5 {
		t.Fatalf("%d suggestions", suggested)
	}

	// A trial whose lease ends waits for an ask that it suits.
	lost, err := u.AskOnce(ctx, store.AskRequest{N: 1, Given: map[string]any{"n": 5}, Lease: time.Millisecond})
	must(t, err)
	time.Sleep(10 * time.Millisecond)
	next := ask(1, map[string]any{"n": 6})
	has(next[0], "n", 6)
	again := ask(1, map[string]any{"n": 5.0})
	equal(t, "the trial of the second attempt", again[0].Number, lost[0].Number)

	keyed, err := u.AskOnce(ctx, store.AskRequest{Key: "k", N: 1, Given: map[string]any{"n": 4}})
	must(t, err)
	repeated, err := other.AskOnce(ctx, store.AskRequest{Key: "k", N: 1, Given: map[string]any{"n": 4.0}})
	must(t, err)
	equal(t, "the repeated ask", repeated[0].Token, keyed[0].Token)
	for _, given := range []map[string]any{nil, {"n": 5}, {"n": 4, "x": 0.5}} {
		_, err = other.AskOnce(ctx, store.AskRequest{Key: "k", N: 1, Given: given})
		wantError(t, err, store.ErrKey)
	}
	_, err = u.AskOnce(ctx, store.AskRequest{N: 1, Given: map[string]any{"n": 40}})
	wantError(t, err, space.ErrPoint)

	stated := definition("stated")
	stated.Parameters[0].Given = true
	v := created(t, open(t, o, store.Options{}), stated)
	_, err = v.Ask(ctx, 1)
	wantError(t, err, space.ErrPoint)
	evaluate := func(context.Context, store.Trial, space.Point) (store.Report, error) { return store.Report{}, nil }
	wantError(t, v.Run(ctx, evaluate, store.RunOptions{}), loop.ErrOptions)

	batches := definition("batches")
	batches.Batch = 2
	_, err = created(t, open(t, o, store.Options{}), batches).AskOnce(ctx, store.AskRequest{N: 1, Given: map[string]any{"n": 4}})
	wantError(t, err, loop.ErrOptions)
}
