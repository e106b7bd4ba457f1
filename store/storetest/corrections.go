package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// corrections replaces results: other handles read the new results, fits use them, and suggestions that were
// computed from the earlier results are replayed with the earlier results.
func corrections(t *testing.T, o Opener) {
	ctx := context.Background()
	s := open(t, o, store.Options{})
	u := created(t, s, definition("s"))
	other, err := s.Study(ctx, "s")
	must(t, err)
	_, err = other.View(ctx)
	must(t, err)

	first, err := u.Ask(ctx, 4)
	must(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: value(first[0]), Correct: true})
	wantError(t, err, store.ErrConflict) // it has no result
	tell(t, u, first...)
	suggested, err := u.Ask(ctx, 1)
	must(t, err)
	tell(t, u, suggested...)

	for range 2 { // the second time changes nothing
		told, err := u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"loss": -5}, Correct: true})
		must(t, err)
		equal(t, "the corrected result", told.Numbers, map[string]float64{"loss": -5})
	}
	_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"grams": 3}, Correct: true})
	must(t, err)
	for range 2 {
		_, err = u.Tell(ctx, store.Report{Trial: 2, Failure: store.Lost, Message: "no salt", Correct: true})
		must(t, err)
	}
	_, err = u.Tell(ctx, store.Report{Trial: 3, Numbers: value(first[2]), Correct: true}) // the result that it has
	must(t, err)

	v, err := other.View(ctx)
	must(t, err)
	equal(t, "the result with another number", v.Trials[0].Numbers, map[string]float64{"loss": -5, "grams": 3})
	equal(t, "the state and failure of trial 2", []any{v.Trials[1].State, v.Trials[1].Failure}, []any{store.Failed, store.Lost})
	equal(t, "the best trial", v.Best().Number, 1)
	_, _, history, err := other.History(ctx)
	must(t, err)
	equal(t, "the value for fits", history.Trials[0].Value, -5)

	// Trials move to the points of their evaluations, with a first result or with a correction.
	moving, err := u.Ask(ctx, 1)
	must(t, err)
	_, err = u.Tell(ctx, store.Report{Trial: 6, Numbers: value(moving[0]), At: map[string]any{"n": 10}})
	wantError(t, err, space.ErrPoint)
	for range 2 {
		_, err = u.Tell(ctx, store.Report{Trial: 6, Token: moving[0].Token, Numbers: value(moving[0]), At: map[string]any{"x": 0.125}})
		must(t, err)
	}
	_, err = u.Tell(ctx, store.Report{Trial: 6, Numbers: value(moving[0]), At: map[string]any{"x": 0.5}})
	wantError(t, err, store.ErrConflict)
	for range 2 {
		_, err = u.Tell(ctx, store.Report{Trial: 4, Numbers: value(first[3]), At: map[string]any{"x": 0.25}, Correct: true})
		must(t, err)
	}
	v, err = other.View(ctx)
	must(t, err)
	equal(t, "the coordinates of moved trials", []float64{v.Points[3].Float("x"), v.Points[5].Float("x")}, []float64{0.25, 0.125})
	equal(t, "the prediction of a moved trial", v.Trials[5].Prediction, nil)
	for i, want := range []bool{false, false, false, true, false, true} {
		moved, err := other.Moved(ctx, &v.Trials[i])
		must(t, err)
		equal(t, "moved", moved, want)
	}

	after, err := u.Ask(ctx, 1) // while trial 2 is lost
	must(t, err)
	for _, trial := range []store.Trial{suggested[0], moving[0], after[0]} {
		params, err := other.Replay(ctx, trial.Number)
		must(t, err)
		equal(t, "the replayed parameters", string(params), string(trial.Params))
	}
	_, err = u.Tell(ctx, store.Report{Trial: 2, Numbers: value(first[1])}) // lost trials take a result
	must(t, err)
	for _, trial := range []store.Trial{suggested[0], after[0]} {
		params, err := other.Replay(ctx, trial.Number)
		must(t, err)
		equal(t, "the replayed parameters", string(params), string(trial.Params))
	}

	events, err := u.Events(ctx, 0, 1000)
	must(t, err)
	var details []string
	for _, e := range events {
		if e.Kind == store.TrialCorrected {
			details = append(details, e.Detail)
		}
	}
	for range 2 {
		told, err := u.Tell(ctx, store.Report{Trial: 1, Message: "of the new mill", Correct: true})
		must(t, err)
		equal(t, "the numbers of a corrected note", told.Numbers, map[string]float64{"loss": -5, "grams": 3})
		told, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"grams": 4}, Correct: true})
		must(t, err)
		equal(t, "the note of corrected numbers", told.Message, "of the new mill")
		_, err = u.Tell(ctx, store.Report{Trial: 1, Numbers: map[string]float64{"grams": 3}, Correct: true})
		must(t, err)
	}
	for range 2 {
		told, err := u.Tell(ctx, store.Report{Trial: 1, Message: strings.Repeat("ü", 3000), Correct: true})
		must(t, err)
		equal(t, "a long note", told.Message, strings.Repeat("ü", 2048))
	}
	if len(details) != 5 || !strings.HasPrefix(details[1], `{"state":"complete","numbers":{"loss":-5},"told":`) {
		t.Fatalf("the events of corrections have the details %q", details)
	}
}
