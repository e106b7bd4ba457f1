package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Another process adds the best trial after bo best has read the study and before it reads the data of the fit.
func TestBestOfALaterTrial(t *testing.T) {
	for name, objectives := range map[string][]study.Objective{"one": {{Name: "a", NoiseFree: true}}, "two": {{Name: "a"}, {Name: "b"}}} {
		t.Run(name, func(t *testing.T) {
			s := store.New(store.NewMemory(), store.Options{})
			d := &study.Definition{Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}, Objectives: objectives}
			u, err := s.Create(t.Context(), d)
			require.NoError(t, err)
			tell := func(trial int, value float64) {
				_, err := u.AskFor(t.Context(), 1, "", 0)
				require.NoError(t, err)
				_, err = u.Tell(context.Background(), store.Report{Trial: trial, Numbers: map[string]float64{"a": value, "b": value}})
				require.NoError(t, err)
			}
			tell(1, 2)
			tell(2, 3)
			early, err := u.View(t.Context())
			require.NoError(t, err)
			tell(3, 1)
			var out bytes.Buffer
			e, c := &env{ctx: t.Context(), stdout: &out, stderr: &out}, &bestCmd{Model: true}
			if name == "one" {
				err = c.recommend(e, u)
			} else {
				err = c.front(e, u, early)
			}
			require.NoError(t, err)
			require.Contains(t, out.String(), "trial 3  ")
		})
	}
}
