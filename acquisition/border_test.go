package acquisition

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
)

// band is the unit square with the points whose coordinates differ by at most width. It counts samples.
type band struct {
	*space.Space
	width   float64
	sampled *int
	sample  func() // called for each sample; nil does nothing
}

func (b band) Restricted() bool          { return true }
func (b band) FreeAt([]float64) []bool   { return b.Free() }
func (b band) List(int) *mat.Dense       { return nil }
func (b band) Feasible(u []float64) bool { return math.Abs(u[0]-u[1]) <= b.width }

func (b band) Sample(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		u := rng.Float64()
		x.SetRow(i, []float64{u, u})
	}
	*b.sampled += n
	if b.sample != nil {
		b.sample()
	}
	return x
}

// Where feasible points are rare, few raw points are replaced, and cancellation ends this soon.
func TestRarelyFeasiblePoints(t *testing.T) {
	racetest.SkipNumerical(t)
	p := problem(t, 2)
	var sampled int
	b := band{Space: cube(t, 2), width: 1e-4, sampled: &sampled}
	suggest := func(ctx context.Context, a Acquisition, n int) error {
		sampled = 0
		got, err := Suggest(ctx, a, p, b, n, MaximizeOptions{Raw: 256, Starts: 2, Iterations: 5}, rng(4))
		for _, c := range got {
			require.True(t, b.Feasible(c.X))
		}
		return err
	}
	require.NoError(t, suggest(t.Context(), LogEI{}, 1))
	require.Equal(t, fewSampled, sampled)

	ctx, cancel := context.WithCancel(t.Context())
	b.sample = cancel
	require.ErrorIs(t, suggest(ctx, LogEI{}, 1), context.Canceled)
	require.Equal(t, sampleChunk, sampled)

	b.sample, b.width = nil, 0.02 // feasible with probability 0.04; batches of three with 6e-5
	require.NoError(t, suggest(t.Context(), QLogEI{Samples: 16, Joint: true}, 3))
	require.Greater(t, sampled, 3*250)
}
