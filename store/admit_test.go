package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A fit that waits for its admission uses the results of that time.
func TestAdmittedFitHasNewResults(t *testing.T) {
	waits, admitted := make(chan struct{}, 10), make(chan struct{})
	held, observations := false, 0
	s := store.New(store.NewMemory(), store.Options{
		Admit: func(context.Context) (func(), error) {
			if held {
				waits <- struct{}{}
				<-admitted
			}
			return func() {}, nil
		},
		OnFit: func(f loop.Fit, _ time.Duration) { observations = f.Observations },
	})
	defer s.Close()
	u, err := s.Create(t.Context(), &study.Definition{Version: 1, Name: "bread", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Initial: 3, Budget: 20})
	require.NoError(t, err)
	design, err := u.Ask(t.Context(), 3)
	require.NoError(t, err)
	tell := func(trial store.Trial) {
		_, err := u.Tell(t.Context(), store.Report{Trial: trial.Number, Token: trial.Token, Numbers: map[string]float64{"value": float64(trial.Number)}})
		require.NoError(t, err)
	}
	tell(design[0])
	tell(design[1])
	held = true
	asked := make(chan error)
	go func() {
		_, err := u.Ask(t.Context(), 1)
		asked <- err
	}()
	<-waits
	tell(design[2])
	close(admitted)
	require.NoError(t, <-asked)
	require.Equal(t, 3, observations)
}
