package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A program that always fails takes three trials of the first run, and one of each later run. After it is mended a run goes on.
func TestRunsThatFailAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, b := newStudy(t, line(40), store.Options{})
		evaluated := 0
		broken := func(_ context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
			evaluated++
			return store.Report{}, fmt.Errorf("no module named torch, process %d", trial.Number)
		}
		require.ErrorContains(t, u.Run(t.Context(), broken, store.RunOptions{}), "the first 3 failed alike: no module named torch, process 3")
		for range 5 { // other processes
			other, err := store.New(b, store.Options{}).Study(t.Context(), "s")
			require.NoError(t, err)
			err = other.Run(t.Context(), broken, store.RunOptions{})
			require.ErrorIs(t, err, store.ErrFailures)
			require.ErrorContains(t, err, "the latest 3 failed alike: no module named torch")
		}
		require.Equal(t, 8, evaluated)
		err := u.Run(t.Context(), func(context.Context, store.Trial, space.Point) (store.Report, error) {
			evaluated++
			if evaluated == 9 {
				return store.Report{}, errors.New("out of memory")
			}
			return broken(t.Context(), store.Trial{}, space.Point{})
		}, store.RunOptions{MaxFailures: 12})
		require.ErrorContains(t, err, "13 of 13", "another failure settles that the program starts")
		for i, alike := range map[string]int{"no module named torch, process 0": 4, "out of memory": 0} {
			n, err := u.Alike(t.Context(), i)
			require.NoError(t, err)
			require.Equal(t, alike, n, i)
		}
		expected := line(9)
		expected.Name, expected.Failures = "expected", study.ExpectedFailures
		other, err := store.New(b, store.Options{}).Create(t.Context(), expected)
		require.NoError(t, err)
		require.NoError(t, other.Run(t.Context(), broken, store.RunOptions{}))
	})
}
