package loop

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// blocked is a model whose fit reports its begin and waits for its context.
type blocked struct {
	gp.Model
	begun chan struct{}
}

func (b blocked) Fit(ctx context.Context, _ surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
	close(b.begun)
	<-ctx.Done()
	return nil, ctx.Err()
}

// An Ask that waits for another Ask returns when its own context ends.
func TestAskWaitsWithItsContext(t *testing.T) {
	o := options(1)
	model := blocked{begun: make(chan struct{})}
	o.Surrogate, o.Initial = model, 1
	s := newStudy(t, box(t), o)
	_, err := s.Add(s.Space().Decode([]float64{0.5, 0.5}), 1)
	require.NoError(t, err)
	first, stopFirst := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := s.Ask(first, 1)
		assert.ErrorIs(t, err, context.Canceled)
	}()
	<-model.begun

	second, stopSecond := context.WithCancel(t.Context())
	returned := make(chan error)
	go func() {
		_, err := s.Ask(second, 1)
		returned <- err
	}()
	stopSecond()
	require.ErrorIs(t, <-returned, context.Canceled)
	select {
	case <-ended:
		require.Fail(t, "the first Ask ended")
	default:
	}
	stopFirst()
	<-ended
}

// The zero Study has no space: its methods that take or return points return an error, also without a deadline.
func TestZeroStudy(t *testing.T) {
	var s Study
	_, err := s.Ask(t.Context(), 1)
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, "New or Resume")
	_, err = s.Run(t.Context(), bowl, 3, 2)
	require.ErrorIs(t, err, ErrOptions)
	p := limitedSpace().Decode([]float64{0.5, 0.5})
	_, err = s.Add(p, 1)
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorIs(t, s.Enqueue(p), ErrOptions)
	require.ErrorIs(t, s.Enqueue(p, p), ErrOptions)
}
