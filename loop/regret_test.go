package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// With two points the regret is the positive part of a normal number.
func TestRegretOfTwoPoints(t *testing.T) {
	s, err := space.New(space.Ordinal("x", "a", "b"))
	require.NoError(t, err)
	study, err := New(s, Options{Initial: 2, Warp: WarpNone})
	require.NoError(t, err)
	for i, y := range []float64{1, 1.4, 0.4, 1.9, 1.2, 0.8} {
		_, err := study.Add(mustPoint(t, s, map[string]any{"x": []string{"a", "b"}[i%2]}), y)
		require.NoError(t, err)
	}
	v, err := study.Inspect(t.Context())
	require.NoError(t, err)
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	x := mat.NewDense(2, 1, []float64{s.Encode(v.Trials[0].Point)[0], s.Encode(v.Trials[1].Point)[0]})
	v.Posterior.Joint(mean, cov, x)
	scale := v.Units.Value(1) - v.Units.Value(0)
	m := (mean[0] - mean[1]) * scale // the recommended point a minus b
	require.Negative(t, m)
	sd := regretSpread * math.Sqrt(cov.At(0, 0)+cov.At(1, 1)-2*cov.At(0, 1)) * scale
	r, err := study.EstimateRegret(t.Context(), 0.9)
	require.NoError(t, err)
	require.Equal(t, 0.9, r.Probability)
	unit := distuv.UnitNormal
	require.InDelta(t, m*unit.CDF(m/sd)+sd*unit.Prob(m/sd), r.Mean, 0.3*sd)
	require.InDelta(t, max(0, m+sd*unit.Quantile(0.9)), r.Bound, 0.5*sd)
	again, err := study.EstimateRegret(t.Context(), 0.9)
	require.NoError(t, err)
	require.Equal(t, r, again)
}

// A drawn function without two different values has regret 0. Equal values of the trials have no estimate.
func TestRegretOfConstantDraws(t *testing.T) {
	s := noiseSpace(t, "x", "z")
	var h History
	for i, u := range [][]float64{{0.1, 0.2}, {0.5, 0.9}, {0.8, 0.4}} {
		h.Trials = append(h.Trials, Trial{ID: i + 1, Point: s.Decode(u), State: Complete, Value: 1})
	}
	_, err := EstimateRegret(t.Context(), s, Options{Initial: 2, Surrogate: constant{}}, h, 0.95)
	require.ErrorIs(t, err, ErrEqualValues)
	h.Trials[2].Value = 2
	r, err := EstimateRegret(t.Context(), s, Options{Initial: 2, Surrogate: constant{}}, h, 0.95)
	require.NoError(t, err)
	require.Zero(t, r.Bound)
	require.Zero(t, r.Mean)
}

// constant is a surrogate model whose posterior draws constant functions.
type constant struct{}

func (constant) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	p, err := gp.Model{Spec: prior.Spec{Restarts: 1}}.Fit(ctx, d, rng)
	return constantPosterior{p}, err
}

type constantPosterior struct{ surrogate.Posterior }

func (constantPosterior) Predict(mean, variance []float64, _ *mat.Dense) {
	clear(mean)
	clear(variance)
}

func (c constantPosterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	c.Predict(mean, variance, x)
	dmean.Zero()
	dvariance.Zero()
}

func (constantPosterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		paths[i] = constantPath(rng.NormFloat64())
	}
	return paths
}

type constantPath float64

func (c constantPath) Eval(value []float64, grad, _ *mat.Dense) {
	for i := range value {
		value[i] = float64(c)
	}
	if grad != nil {
		grad.Zero()
	}
}

func TestRegretErrors(t *testing.T) {
	for _, o := range []Options{{Require: []Requirement{{Name: "a"}}}, {Objectives: []Goal{{Name: "a"}, {Name: "b"}}}} {
		s, err := New(limitedSpace(), o)
		require.NoError(t, err)
		_, err = s.EstimateRegret(t.Context(), 0.9)
		require.ErrorIs(t, err, ErrOptions)
	}
	s, err := New(limitedSpace(), Options{})
	require.NoError(t, err)
	_, err = s.EstimateRegret(t.Context(), 0.9)
	require.ErrorIs(t, err, ErrNoValue)
	_, err = s.EstimateRegret(t.Context(), 0.999)
	require.ErrorIs(t, err, ErrOptions)
}
