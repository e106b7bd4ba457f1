package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// Enqueue adds points to evaluate ahead of suggestions, as waiting trials. They count
// against the budget. With key, a repeated call adds nothing and returns the same trials.
// An error of several points wraps a space.Faults with the first ten wrong points and the number of the others.
func (u *Study) Enqueue(ctx context.Context, key string, points ...map[string]any) ([]Trial, error) {
	var added []Trial
	err := u.once(ctx, key, &added, func(tx Tx, row *Row, now time.Time) error {
		d, err := row.definition()
		if err != nil {
			return err
		}
		trials, err := trialsOf(d, "point", points, func(int) error { return nil })
		if err != nil {
			return err
		}
		if left := d.Budget - row.Issued; len(trials) > left {
			return fmt.Errorf("%w: %d trials count against the budget of %d, so %d more cannot be enqueued (bo study edit %s --budget N raises the budget)", ErrBudget, row.Issued, d.Budget, len(trials), u.name)
		}
		for i := range trials {
			trials[i].Source = loop.Enqueued
		}
		added = trials
		return row.add(tx, now, trials)
	})
	return added, named(u.name, err)
}

// trialsOf returns waiting trials at points of a study that check accepts. If there are several points, the
// error is a space.Faults with the first ten wrong points and the number of the others. Each wrong point has
// the noun what and its number.
func trialsOf(d *study.Definition, what string, points []map[string]any, check func(i int) error) ([]Trial, error) {
	s, err := d.Space()
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(points))
	wrong := faults.List{What: what + "s"}
	for i, values := range points {
		p, err := s.PointOf(values)
		if err == nil {
			err = check(i)
		}
		switch {
		case err != nil && len(points) == 1:
			return nil, err
		case err != nil:
			wrong.Add(fmt.Errorf("%s %d of %d: %w", what, i+1, len(points), err))
			continue
		}
		if trials[i].Params, err = json.Marshal(p); err != nil {
			return nil, err
		}
	}
	if list := wrong.Errors(); list != nil {
		return nil, space.Faults(list)
	}
	return trials, nil
}
