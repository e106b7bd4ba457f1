package nuts

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
)

// gaussian has the mean 1, 2, … and the covariance S = DCD with D = diag(sd) and
// correlations ρ^|i-j|, whose inverse is tridiagonal.
func gaussian(sd []float64, rho float64) Target {
	return func(grad, q []float64) float64 {
		z := make([]float64, len(q))
		for i := range q {
			z[i] = (q[i] - float64(i+1)) / sd[i]
		}
		var logp float64
		for i := range z {
			a := z[i] * (1 + rho*rho)
			if i == 0 || i == len(z)-1 {
				a = z[i]
			}
			if i > 0 {
				a -= rho * z[i-1]
			}
			if i < len(z)-1 {
				a -= rho * z[i+1]
			}
			a /= 1 - rho*rho
			logp -= 0.5 * z[i] * a
			grad[i] = -a / sd[i]
		}
		return logp
	}
}

func run(t *testing.T, target Target, start []float64, s Settings, chains int) [][][]float64 {
	t.Helper()
	byEntry := make([][][]float64, len(start))
	for k := range chains {
		c, err := Sample(context.Background(), target, start, s, random.New(1, "chain", k), func() {})
		require.NoError(t, err)
		require.Len(t, c.Draws, s.Draws)
		require.Zero(t, c.Divergent)
		require.Greater(t, c.Accept, s.Accept-0.05)
		require.Less(t, c.Accept, 0.99) // dual averaging tends to short steps
		for i := range start {
			v := make([]float64, s.Draws)
			for j, q := range c.Draws {
				v[j] = q[i]
			}
			byEntry[i] = append(byEntry[i], v)
		}
	}
	return byEntry
}

// Means, variances and correlations are correct for Gaussians with scales that differ a
// millionfold and with correlated neighbours.
func TestGaussians(t *testing.T) {
	for _, c := range []struct {
		name string
		sd   []float64
		rho  float64
	}{
		{"standard", []float64{1, 1, 1, 1, 1}, 0},
		{"badly scaled", []float64{1e-3, 0.1, 1, 30, 1e3}, 0},
		{"correlated", []float64{1, 1, 1, 1, 1}, 0.95},
		{"both", []float64{1e-3, 0.1, 1, 30, 1e3}, -0.9},
		{"one entry", []float64{7}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			draws := run(t, gaussian(c.sd, c.rho), make([]float64, len(c.sd)), Settings{Warmup: 500, Draws: 1000, Accept: 0.8, Depth: 10}, 4)
			for i, chains := range draws {
				require.Less(t, RHat(chains), 1.02)
				ess := ESS(chains)
				require.Greater(t, ess, 500.)
				mean, variance := pooled(chains)
				require.InDelta(t, float64(i+1), mean, 4.5*c.sd[i]/math.Sqrt(ess))
				require.InEpsilon(t, c.sd[i]*c.sd[i], variance, 0.15)
				if i > 0 {
					var a, b []float64
					for k := range chains {
						a, b = append(a, draws[i-1][k]...), append(b, chains[k]...)
					}
					require.InDelta(t, c.rho, stat.Correlation(a, b, nil), 0.08)
				}
			}
		})
	}
}

func pooled(chains [][]float64) (mean, variance float64) {
	var all []float64
	for _, c := range chains {
		all = append(all, c...)
	}
	return stat.MeanVariance(all, nil)
}

// Moments are correct for heavy tails and skewness: Student's t with 5 degrees of
// freedom, and the logarithm of a Gamma(2,1) variable.
func TestNotGaussian(t *testing.T) {
	target := func(grad, q []float64) float64 {
		a, b := q[0], q[1]
		grad[0] = -6 * a / (5 + a*a)
		grad[1] = 2 - math.Exp(b)
		return -3*math.Log1p(a*a/5) + 2*b - math.Exp(b)
	}
	draws := run(t, target, []float64{3, 3}, Settings{Warmup: 500, Draws: 3000, Accept: 0.8, Depth: 10}, 4)
	mean, variance := pooled(draws[0])
	require.InDelta(t, 0, mean, 0.06)
	require.InEpsilon(t, 5./3, variance, 0.15)
	mean, variance = pooled(draws[1])
	require.InDelta(t, 0.42278433509846714, mean, 0.04) // ψ(2)
	require.InEpsilon(t, 0.6449340668482264, variance, 0.1)
}

// A chain stays where the density is positive.
func TestEdge(t *testing.T) {
	target := func(grad, q []float64) float64 {
		grad[0] = -1
		if q[0] <= 0 {
			return math.Inf(-1)
		}
		return -q[0]
	}
	c, err := Sample(context.Background(), target, []float64{1}, Settings{Warmup: 500, Draws: 4000, Accept: 0.9, Depth: 10}, random.New(1, "edge", 0), func() {})
	require.NoError(t, err)
	require.Positive(t, c.Divergent)
	var mean float64
	for _, q := range c.Draws {
		require.Positive(t, q[0])
		mean += q[0] / 4000
	}
	require.InDelta(t, 1, mean, 0.15)
	_, err = Sample(context.Background(), target, []float64{-1}, Settings{Draws: 1, Accept: 0.8, Depth: 3}, random.New(1, "edge", 0), func() {})
	require.ErrorIs(t, err, ErrStart)
}

// The leapfrog rule is reversible, preserves volume and is of second order.
func TestLeapfrog(t *testing.T) {
	target := gaussian([]float64{1, 2, 0.5}, 0.6)
	w := &walker{target: target, rng: rand.New(rand.NewPCG(1, 2)), variance: []float64{1, 3, 0.2}}
	q, grad := []float64{2, 1, 3}, make([]float64, 3)
	a := w.at(q, grad, target(grad, q))
	a = w.at(q, grad, a.logp)
	back := w.leap(w.leap(a, 0.1), -0.1)
	require.InDeltaSlice(t, a.q, back.q, 1e-14)
	require.InDeltaSlice(t, a.p, back.p, 1e-14)
	drift := func(n int) float64 {
		b := a
		for range n {
			b = w.leap(b, 1/float64(n))
		}
		return math.Abs(b.energy - a.energy)
	}
	require.InDelta(t, 4, drift(200)/drift(400), 0.05)
}

// The weight and the momentum sum of a trajectory of 2^k points do not depend on its
// direction.
func TestSpan(t *testing.T) {
	target := gaussian([]float64{1, 1}, 0)
	w := &walker{target: target, rng: rand.New(rand.NewPCG(1, 2)), variance: []float64{1, 1}}
	q, grad := []float64{1, 2}, make([]float64, 2)
	a := w.at(q, grad, target(grad, q))
	w.origin = a.energy
	s, ok, err := w.grow(context.Background(), a, -0.05, 3)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 8, w.leaps)
	sum, weight := make([]float64, 2), 0.0
	at := s.first
	for range 8 {
		linalg.Axpy(1, at.p, sum)
		weight += math.Exp(a.energy - at.energy)
		at = w.leap(at, 0.05)
	}
	require.InDeltaSlice(t, a.q, at.q, 1e-12)
	require.InDeltaSlice(t, sum, s.rho, 1e-12)
	require.InDelta(t, math.Log(weight), s.logWeight, 1e-12)
}

func TestWindows(t *testing.T) {
	first, ends := windows(1000)
	require.Equal(t, 150, first)
	require.Equal(t, map[int]bool{175: true, 225: true, 325: true, 900: true}, ends)
	for n := range 300 {
		first, ends := windows(n)
		require.LessOrEqual(t, first, n)
		for end := range ends {
			require.Greater(t, end, first)
			require.LessOrEqual(t, end, n)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ticks := 0
	_, err := Sample(ctx, gaussian([]float64{1}, 0), []float64{0}, Settings{Warmup: 50, Draws: 50, Accept: 0.8, Depth: 10}, random.New(1, "c", 0), func() {
		if ticks++; ticks == 7 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 7, ticks)
}
