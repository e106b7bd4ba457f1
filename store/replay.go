package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/functionspace/bo/loop"
)

// ErrReplay reports a trial whose suggestion cannot be computed again.
var ErrReplay = errors.New("no replay")

// Replay computes the proposal of a trial again and returns its parameters. It uses the
// history at the revision of the trial's fit, the fit's warm start, and the values that the ask was given. The parameters equal
// the parameters that were proposed, for the same version of the program, the same instruction set and an
// unedited definition. In a study with stopped trials, steps that were added to a finished trial
// after the fit change them. The error wraps ErrNoTrial, or ErrReplay for a trial without a fit and for an edited space
// that has fewer points; or it comes from Propose.
func (u *Study) Replay(ctx context.Context, trial int) (json.RawMessage, error) {
	if err := u.refresh(ctx); err != nil {
		return nil, err
	}
	if err := u.mu.lock(ctx); err != nil {
		return nil, named(u.name, err)
	}
	past := &Study{id: u.id, definition: u.definition, space: u.space, options: u.options, trials: slices.Clone(u.trials), points: slices.Clone(u.points), outside: slices.Clone(u.outside)}
	u.mu.unlock() // the proposal takes long
	if trial < 1 || trial > len(past.trials) {
		return nil, fmt.Errorf("study %s: %w: %d", u.name, ErrNoTrial, trial)
	}
	t := &past.trials[trial-1]
	if t.Fit == 0 {
		return nil, fmt.Errorf("study %s: %w: trial %d was %s", u.name, ErrReplay, trial, t.Source)
	}
	var f, start *Fit
	err := u.store.view(ctx, func(tx Tx) (err error) {
		if f, err = tx.Fit(past.id, t.Fit); err != nil || f == nil || f.Start == 0 {
			return err
		}
		start, err = tx.Fit(past.id, f.Start)
		return err
	})
	if err == nil && f == nil {
		err = fmt.Errorf("%w: fit %d is not stored", ErrReplay, t.Fit)
	}
	if err != nil {
		return nil, named(u.name, err)
	}
	changed, err := u.undo(ctx, past.trials, f.Revision)
	if err != nil {
		return nil, err
	}
	past.place(changed)
	h := loop.History{Trials: past.history(f.Revision)}
	if err := u.addSteps(ctx, past.definition.Objective().Name, h.Trials); err != nil {
		return nil, named(u.name, err)
	}
	if start != nil {
		if err := json.Unmarshal(start.Warm, &h.Warm); err != nil {
			return nil, named(u.name, err)
		}
	}
	if f.Given != nil {
		if err := json.Unmarshal(f.Given, &h.Given); err != nil {
			return nil, named(u.name, err)
		}
	}
	out, err := loop.Propose(ctx, past.space, past.options, h, f.Trials)
	if err != nil {
		return nil, named(u.name, err)
	}
	first := trial
	for first > 1 && past.trials[first-2].Fit == t.Fit {
		first--
	}
	if trial-first >= len(out.Points) {
		return nil, fmt.Errorf("study %s: %w: trial %d was point %d of its fit, which proposes %d in the present space", u.name, ErrReplay, trial, trial-first+1, len(out.Points))
	}
	return json.Marshal(out.Points[trial-first].Point)
}
