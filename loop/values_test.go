package loop

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
)

// manyValued has three categoricals of 200 values, one of 64 values and a float that are active in
// some branches, and a constraint.
func manyValued(t testing.TB) *space.Space {
	return newRestricted(t, []space.Parameter{
		values("a", 200), values("b", 200), values("c", 200),
		when(values("d", 64), "a in ['v0', 'v1', 'v2']"), when(space.Float("x", 0, 1), "b != 'v5'"),
	}, "c != 'v9' or b != 'v9'")
}

// Studies of many values repeat no point, and a resumed study makes the same suggestions.
func TestStudyOfManyValues(t *testing.T) {
	racetest.SkipNumerical(t)
	models := []surrogate.Model{gp.Model{}, resumable()["fsp-laplace"]}
	if testing.Short() {
		models = models[:1]
	}
	for _, model := range models {
		o := options(1)
		o.Surrogate, o.NoiseFree = model, true
		s := newStudy(t, manyValued(t), o)
		r := run(t, s, score, 7, 1)
		require.Len(t, keys(r.Trials), 7)
		var saved bytes.Buffer
		require.NoError(t, s.Save(&saved))
		again, err := ResumeIn(&saved, s.space, o)
		require.NoError(t, err)
		want, err := s.Ask(t.Context(), 3)
		require.NoError(t, err)
		got, err := again.Ask(t.Context(), 3)
		require.NoError(t, err)
		seen := map[string]bool{}
		for i := range want {
			require.Equal(t, want[i].Point.Key(), got[i].Point.Key())
			seen[want[i].Point.Key()] = true
		}
		require.Len(t, seen, 3)
	}
}

// A fit has one lengthscale for each categorical of many values.
func TestLengthscalesOfCategoricals(t *testing.T) {
	s := newStudy(t, newRestricted(t, []space.Parameter{values("a", 200), space.Float("x", 0, 1), values("b", 17), space.Bool("c")}), options(1))
	run(t, s, score, 6, 1)
	out, err := Propose(t.Context(), s.space, s.opts, s.history(), 1)
	require.NoError(t, err)
	var names []string
	for _, h := range out.Fit.Hypers {
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"variance", "lengthscale[a]", "lengthscale[32]", "lengthscale[b]", "lengthscale[50]", "noise", "mean"}, names)
}

// The optimum of additive effects of 200 values is found from few of the 8 million points.
func TestAdditiveEffectsOfManyValues(t *testing.T) {
	if testing.Short() {
		t.Skip("90 suggestions")
	}
	sp := newRestricted(t, []space.Parameter{values("a", 200), space.Float("x", 0, 1)})
	found := 0
	for seed := range uint64(3) {
		r, err := Minimize(t.Context(), func(_ context.Context, p space.Point) (float64, error) {
			return float64(int(p.Code(0))%10) + p.Float("x"), nil
		}, sp, Options{Seed: seed, NoiseFree: true, Budget: 30})
		require.NoError(t, err)
		if r.Best.Value < 0.1 {
			found++
		}
	}
	require.GreaterOrEqual(t, found, 2)
}

// Random spaces with a categorical of about 64 values, conditions and constraints: each point is
// evaluated once, until none is left.
func FuzzValuesAreExhausted(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(3), uint64(4))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		rng := rand.New(rand.NewPCG(a, b))
		n := 58 + rng.IntN(12)
		params := []space.Parameter{values("many", n)}
		if rng.IntN(2) == 0 {
			params = append(params, when(values("few", 2+rng.IntN(2)), fmt.Sprintf("many in ['v0', 'v%d']", rng.IntN(n))))
		}
		if rng.IntN(2) == 0 {
			params = append(params, when(space.Int("k", 1, 3), fmt.Sprintf("many == 'v%d'", rng.IntN(n))))
		}
		var constraints []string
		for range rng.IntN(3) {
			constraints = append(constraints, fmt.Sprintf("many != 'v%d'", rng.IntN(n)))
		}
		sp := newRestricted(t, params, constraints...)
		o := Options{Surrogate: gp.Model{Spec: prior.Spec{Restarts: 1}}, NoiseFree: true, Seed: a, Initial: sp.Count() - 8, Batch: 1 + rng.IntN(3),
			Maximizer: acquisition.MaximizeOptions{Raw: 8, Starts: 1, Iterations: 2}}
		r := run(t, newStudy(t, sp, o), score, sp.Count()+5, 1)
		require.Len(t, r.Trials, sp.Count())
		require.Len(t, keys(r.Trials), sp.Count())
	})
}

// BenchmarkManyValues measures a suggestion after 60 trials of three categoricals of 200 values.
func BenchmarkManyValues(b *testing.B) {
	sp := newRestricted(b, []space.Parameter{values("a", 200), values("b", 200), values("c", 200)})
	for name, model := range map[string]surrogate.Model{"gp": gp.Model{}, "fsp-laplace": fsplaplace.Model{}} {
		for _, exact := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/exact=%v", name, exact), func(b *testing.B) {
				s := newStudy(b, sp, Options{Surrogate: model, NoiseFree: exact})
				rng := rand.New(rand.NewPCG(1, 1))
				var effects [3][200]float64
				for i := range effects {
					for j := range effects[i] {
						effects[i][j] = rng.NormFloat64()
					}
				}
				for range 60 {
					p := sp.Decode(sp.Sample(1, rng).RawRowView(0))
					value := 0.0
					for i := range effects {
						value += effects[i][int(p.Code(i))]
					}
					_, err := s.Add(p, value)
					require.NoError(b, err)
				}
				h := s.history()
				first, err := Propose(b.Context(), s.space, s.opts, h, 1)
				require.NoError(b, err)
				h.Warm = first.Warm
				for b.Loop() {
					if _, err := Propose(b.Context(), s.space, s.opts, h, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
