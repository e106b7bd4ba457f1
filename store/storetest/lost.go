package storetest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// lostTrials checks that a trial whose workers were lost three times is left out of fits. Failures and
// time-outs of the program are not left out. It checks a surrogate model of each kind.
func lostTrials(t *testing.T, o Opener) {
	for _, surrogate := range []study.Component{{Name: "gp"}, {Name: "ensemble", Settings: map[string]any{"hidden": []any{4.0}, "members": 2.0}}} {
		lost := suggestedAfter(t, o, "lost-"+surrogate.Name, surrogate, store.Lost)
		timed := suggestedAfter(t, o, "timeout-"+surrogate.Name, surrogate, store.TimedOut)
		failed := suggestedAfter(t, o, "failed-"+surrogate.Name, surrogate, store.FailedByProgram)
		equal(t, "the point after a time-out", timed, failed)
		if lost == failed {
			t.Fatalf("%s: a lost trial counts as a failure of its point: %s", surrogate.Name, lost)
		}
	}
}

// suggestedAfter returns the first suggestion of a study whose first trial has failed in the given
// way. Function loop.Propose and a replay give the same suggestion.
func suggestedAfter(t *testing.T, o Opener, name string, surrogate study.Component, kind store.Failure) string {
	t.Helper()
	ctx := context.Background()
	s, clock := openShifted(t, o, store.Options{Lease: lease})
	d := definition(name)
	d.Surrogate = surrogate
	u := created(t, s, d)
	if kind == store.Lost {
		for range store.MaxLost {
			_, err := u.Ask(ctx, 1)
			must(t, err)
			clock.offset += 2 * lease
		}
	} else {
		first, err := u.Ask(ctx, 1)
		must(t, err)
		_, err = u.Tell(ctx, store.Report{Trial: 1, Token: first[0].Token, Failure: kind})
		must(t, err)
	}
	for number := 2; number <= 4; number++ {
		asked, err := u.AskFor(ctx, 1, "suite", 0)
		must(t, err)
		equal(t, "the trial", asked[0].Number, number)
		tell(t, u, asked[0])
	}
	v, err := u.View(ctx)
	must(t, err)
	equal(t, "the kind of the failure", v.Trials[0].Failure, kind)
	sp, options, history, err := u.History(ctx)
	must(t, err)
	state := loop.Failed
	if kind == store.Lost {
		state = loop.Lost
	}
	equal(t, "the state of the trial", history.Trials[0].State, state)
	out, err := loop.Propose(ctx, sp, options, history, 1)
	must(t, err)
	equal(t, "the source", out.Points[0].Source, loop.Suggested)
	want, err := json.Marshal(out.Points[0].Point)
	must(t, err)
	asked, err := u.AskFor(ctx, 1, "suite", 0)
	must(t, err)
	equal(t, "the suggestion", string(asked[0].Params), string(want))
	again, err := u.Replay(ctx, asked[0].Number)
	must(t, err)
	equal(t, "the replay", string(again), string(want))
	return string(want)
}
