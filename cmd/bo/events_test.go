package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A file of events has the events of one study, also if another study has its name.
func TestEventsOfADeletedStudy(t *testing.T) {
	ctx := t.Context()
	s := store.New(store.NewMemory(), store.Options{})
	d := &study.Definition{Version: 1, Name: "s", Budget: 5, Initial: 5, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	u, err := s.Create(ctx, d)
	require.NoError(t, err)
	var file bytes.Buffer
	l := &eventLog{w: &file}
	v, err := u.Brief(ctx)
	require.NoError(t, err)
	require.NoError(t, l.follow(ctx, u, v))
	want := file.String()
	require.Contains(t, want, "study created")
	require.NoError(t, s.Delete(ctx, "s"))
	other, err := s.Create(ctx, d)
	require.NoError(t, err)
	_, err = other.Ask(ctx, 5)
	require.NoError(t, err)
	require.ErrorIs(t, l.write(ctx), store.ErrNoStudy)
	require.Equal(t, want, file.String())
}
