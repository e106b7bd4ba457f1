package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

// AddEarlier records the earlier evaluations of a definition that the study does not have yet, and returns the
// added trials. They are finished and do not count against the budget. An evaluation whose parameters lie
// outside the study's space is kept. Fits leave it out, unless it violates constraints alone. The study has an
// evaluation if an added trial has its parameters, state and numbers, so a repeated call adds nothing.
func (u *Study) AddEarlier(ctx context.Context, d *study.Definition) ([]Trial, error) {
	if d.Earlier.IsZero() {
		return nil, nil
	}
	var added []Trial
	err := u.once(ctx, "", &added, func(tx Tx, row *Row, now time.Time) (err error) {
		stored, err := row.copied()
		if err != nil {
			return err
		}
		stored.Earlier = d.Earlier
		added, err = addEarlier(tx, row, now, stored)
		return err
	})
	return added, named(u.name, err)
}

// addEarlier adds the earlier evaluations of d that the study does not have.
func addEarlier(tx Tx, row *Row, now time.Time, d *study.Definition) ([]Trial, error) {
	if d.Earlier.IsZero() {
		return nil, nil
	}
	s, err := d.Space()
	if err != nil {
		return nil, err
	}
	held, err := tx.Trials(row.ID, Query{})
	if err != nil {
		return nil, err
	}
	count := map[string]int{} // trials without an evaluation, by content
	for i := range held {
		if held[i].Source == loop.Added {
			count[content(&held[i])]++
		}
	}
	var added []Trial
	for i := range d.Earlier.Trials {
		e, err := d.EarlierTrial(s, i)
		if err != nil {
			return nil, fmt.Errorf("%w: earlier: evaluation %d: %w", study.ErrInvalid, i+1, err)
		}
		t := Trial{Source: loop.Added, State: State(e.State), Numbers: e.Numbers}
		if e.State == loop.Failed {
			t.Failure, t.Message = FailedByProgram, "failed in an earlier evaluation"
		}
		if e.Point.Space() != nil && !e.Outside {
			t.Params, err = json.Marshal(e.Point)
		} else {
			t.Params, err = json.Marshal(e.Params)
		}
		if err != nil {
			return nil, err
		}
		if key := content(&t); count[key] > 0 {
			count[key]--
			continue
		}
		added = append(added, t)
	}
	if len(added) == 0 {
		return nil, nil
	}
	return added, row.add(tx, now, added)
}

// content returns a text that is equal for trials with equal parameters, state and numbers.
func content(t *Trial) string {
	var params any
	if json.Unmarshal(t.Params, &params) != nil {
		params = string(t.Params)
	}
	numbers := t.Numbers
	if numbers == nil {
		numbers = map[string]float64{}
	}
	text, _ := json.Marshal([]any{params, t.State, numbers}) // sorts keys
	return string(text)
}
