package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
)

// An attempt of a deleted study changes nothing in another study of the same name.
func TestAttemptOfADeletedStudy(t *testing.T) {
	numbers := map[string]float64{"value": 777}
	for name, call := range map[string]func(context.Context, *store.Study, store.Attempt) error{
		"tell": func(ctx context.Context, u *store.Study, a store.Attempt) error {
			_, err := u.Tell(ctx, store.Report{Trial: a.Trial, Token: a.Token, Numbers: numbers})
			return err
		},
		"tell with a key": func(ctx context.Context, u *store.Study, a store.Attempt) error {
			_, err := u.Tell(ctx, store.Report{Trial: a.Trial, Token: a.Token, Numbers: numbers, Key: a.Token})
			return err
		},
		"report steps": func(ctx context.Context, u *store.Study, a store.Attempt) error {
			_, err := u.ReportSteps(ctx, a, loop.Step{Step: 1, Value: 777})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			u, b := newStudy(t, line(3), store.Options{})
			old, err := u.Ask(ctx, 1)
			require.NoError(t, err)
			s := store.New(b, store.Options{})
			require.NoError(t, s.Delete(ctx, "s"))
			other, err := s.Create(ctx, line(3))
			require.NoError(t, err)
			_, err = other.Ask(ctx, 1)
			require.NoError(t, err)
			before, err := other.Snapshot(ctx)
			require.NoError(t, err)

			require.ErrorIs(t, call(ctx, u, store.Attempt{Trial: old[0].Number, Token: old[0].Token}), store.ErrNoStudy)
			after, err := other.Snapshot(ctx)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}
