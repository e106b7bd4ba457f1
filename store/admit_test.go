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
	observations := 0
	s := store.New(store.NewMemory(), store.Options{
		Admit: func(context.Context) (func(), error) {
			waits <- struct{}{}
			<-admitted
			return func() {}, nil
		},
		OnFit: func(f loop.Fit, _ time.Duration) { observations = f.Observations },
	})
	defer s.Close()
	u, err := s.Create(t.Context(), &study.Definition{Version: 1, Name: "bread", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Initial: 2, Budget: 20})
	require.NoError(t, err)
	add := func(x float64) {
		_, err := u.Add(t.Context(), "", store.Evaluated{Params: map[string]any{"x": x}, Numbers: map[string]float64{"value": x}})
		require.NoError(t, err)
	}
	add(0.25)
	add(0.75)
	asked := make(chan error)
	go func() {
		_, err := u.Ask(t.Context(), 1)
		asked <- err
	}()
	<-waits
	add(0.5)
	close(admitted)
	require.NoError(t, <-asked)
	require.Equal(t, 3, observations)
}
