package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// An edited space may have fewer points than the fit proposed.
func TestReplayAfterAnEdit(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Budget: 6, Initial: 6, Batch: 3, Objectives: []study.Objective{{Name: "value", NoiseFree: true}},
		Parameters: []space.Parameter{space.Int("k", 0, 9)},
	}
	u, _ := newStudy(t, d, store.Options{})
	trials, err := u.Ask(t.Context(), 3)
	require.NoError(t, err)
	require.Len(t, trials, 3)
	require.NoError(t, u.Edit(t.Context(), func(d study.Definition) (*study.Definition, error) {
		d.Parameters = []space.Parameter{space.Int("k", 0, 1)}
		return &d, nil
	}))
	_, err = u.Replay(t.Context(), 2)
	require.NoError(t, err)
	_, err = u.Replay(t.Context(), 3)
	require.ErrorIs(t, err, store.ErrReplay)
}
