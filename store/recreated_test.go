package store_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
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

// A store that was restored from an earlier copy gives the number of a lost trial to another trial. The result
// of the lost trial belongs to other parameters.
func TestAttemptOfALostTrial(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "bo.db"), filepath.Join(dir, "copy.db")
	b, err := sqlite.Open(ctx, path, true)
	require.NoError(t, err)
	defer b.Close()
	u, err := store.New(b, store.Options{}).Create(ctx, line(9))
	require.NoError(t, err)
	require.NoError(t, sqlite.Backup(ctx, path, copied))
	lost, err := u.Ask(ctx, 2)
	require.NoError(t, err)

	c, err := sqlite.Open(ctx, copied, false)
	require.NoError(t, err)
	defer c.Close()
	restored, err := store.New(c, store.Options{}).Study(ctx, "s")
	require.NoError(t, err)
	again, err := restored.Ask(ctx, 2)
	require.NoError(t, err)
	result := map[string]float64{"value": 1}
	for _, a := range []store.Attempt{{Trial: 1, Token: lost[0].Token}, {Trial: 1, Token: again[1].Token}} {
		_, err = restored.Tell(ctx, store.Report{Trial: a.Trial, Token: a.Token, Numbers: result})
		require.ErrorIs(t, err, store.ErrNoTrial)
		_, err = restored.ReportSteps(ctx, a, loop.Step{Step: 1, Value: 1})
		require.ErrorIs(t, err, store.ErrNoTrial)
	}
	_, err = restored.Tell(ctx, store.Report{Trial: 1, Token: again[0].Token, Numbers: result})
	require.NoError(t, err)
}

// A run ends when its study is deleted, also if there is another study of the same name.
func TestRunOfADeletedStudy(t *testing.T) {
	for _, again := range []bool{false, true} {
		u, b := newStudy(t, line(5), store.Options{})
		s := store.New(b, store.Options{})
		err := u.Run(t.Context(), func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{Numbers: map[string]float64{"value": 1}}, nil
		}, store.RunOptions{OnEnd: func(trial store.Trial) {
			if trial.Number == 2 {
				require.NoError(t, s.Delete(t.Context(), "s"))
				if again {
					_, err := s.Create(t.Context(), line(5))
					require.NoError(t, err)
				}
			}
		}})
		require.ErrorIs(t, err, store.ErrNoStudy)
		list, err := s.List(t.Context())
		require.NoError(t, err)
		for _, l := range list {
			require.Zero(t, l.Trials)
		}
	}
}

// A feed has the events of one study.
func TestFeedOfADeletedStudy(t *testing.T) {
	ctx := t.Context()
	u, b := newStudy(t, line(5), store.Options{})
	_, err := u.Ask(ctx, 2)
	require.NoError(t, err)
	want, err := u.Events(ctx, 1, 100)
	require.NoError(t, err)
	feed := u.Feed(1)
	var got []store.Event
	for range len(want) {
		events, err := feed.Next(ctx, 1)
		require.NoError(t, err)
		got = append(got, events...)
	}
	require.Equal(t, want, got)
	events, err := feed.Next(ctx, 1)
	require.NoError(t, err)
	require.Empty(t, events)
	s := store.New(b, store.Options{})
	require.NoError(t, s.Delete(ctx, "s"))
	for range 2 {
		_, err = feed.Next(ctx, 1)
		require.ErrorIs(t, err, store.ErrNoStudy)
		if other, err := s.Create(ctx, line(5)); err == nil {
			_, err = other.Ask(ctx, 5)
			require.NoError(t, err)
		}
	}
}
