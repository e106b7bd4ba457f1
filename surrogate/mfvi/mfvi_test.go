package mfvi

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	small := mapnet.Network{Hidden: []int{8}}
	t.Run("map", func(t *testing.T) {
		fast.Run(t, Model{Sampled: mapnet.Sampled{Network: small, Steps: 100, Samples: 20}})
	})
	t.Run("random", func(t *testing.T) {
		fast.Run(t, Model{Sampled: mapnet.Sampled{Network: small, Start: "random", Batch: 5, Steps: 200, Rate: 0.02, Samples: 7, Draws: 1}})
	})
}

func line() surrogate.Dataset {
	rng := random.New(1, "line", 0)
	d := surrogate.Dataset{X: mat.NewDense(15, 2, nil), Y: make([]float64, 15), Lo: []float64{-1, -1}, Hi: []float64{1, 1}}
	for i := range d.Y {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = 1 + a - 2*b + 0.2*rng.NormFloat64()
	}
	return d
}

func testBound(t *testing.T, m Model) *mapnet.Stochastic {
	m, err := settings.Resolve("mfvi", m)
	require.NoError(t, err)
	p, err := mapnet.New(mapnet.Settings{Network: m.Network, Batch: m.Batch}, line())
	require.NoError(t, err)
	return m.bound(p)
}

func TestGradient(t *testing.T) {
	for _, s := range []mapnet.Network{{Hidden: []int{4, 3}}, {Hidden: []int{3}, Precision: new(0.5), Noise: new(0.1)}} {
		b := testBound(t, Model{Sampled: mapnet.Sampled{Network: s}})
		rng := random.New(2, "v", 0)
		w, h := b.Problem.Start(nil, rng)
		v := append([]float64{math.Log(h.Precision), math.Log(h.Noise)}, w...)
		for range w {
			v = append(v, rng.NormFloat64())
		}
		eps := b.Family.Noise(3, rng)
		x, y := b.X.Slice(0, 6, 0, 2).(*mat.Dense), b.Y[:6]
		grad := make([]float64, len(v))
		loss := func(v, grad []float64) float64 { return b.Loss(grad, v, x, y, eps) }
		loss(v, grad)
		require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return loss(v, make([]float64, len(v))) }, v, grad, 1e-6))
	}
}

// For a linear model the optimum has a closed form: m is the exact posterior mean, and the
// precisions 1/s² are the diagonal of δI + ΦᵀΦ/σ².
func TestLinearModel(t *testing.T) {
	const delta, noise = 0.7, 0.04
	b := testBound(t, Model{Sampled: mapnet.Sampled{Network: mapnet.Network{Hidden: []int{}, Precision: new(delta), Noise: new(noise)}, Steps: 4000, Rate: 0.02, Draws: 8}})
	v, _, err := b.Start(context.Background(), nil, random.New(1, "start", 0))
	require.NoError(t, err)
	want := slices.Clone(v[2:5])
	require.NoError(t, b.Train(context.Background(), v, random.New(1, "train", 0)))
	q := at(v[2:])
	require.InDeltaSlice(t, want, q.m, 0.01, "training starts at the exact mean")
	for k := range 3 {
		precision := delta
		for i := range 15 {
			phi := append(append([]float64{}, b.X.RawRowView(i)...), 1)
			precision += phi[k] * phi[k] / noise
		}
		require.InEpsilon(t, 1/math.Sqrt(precision), q.s[k], 0.05)
	}
}

// The warning of an unconverged start names settings that change the start.
func TestUnconvergedStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(0, 1))
	d := surrogate.Dataset{X: mat.NewDense(4, 2, nil), Y: make([]float64, 4), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range 4 {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = math.Sin(5*a) + 0.5*math.Cos(3*b) + 0.05*rng.NormFloat64()
	}
	const few = "fewer than 6 distinct inputs determine a network poorly, the variance may be too small: use gp"
	for start, want := range map[string][]string{
		"map":    {"the start of training, a maximum of the posterior, did not converge, the fit may be poor: set start=random and steps higher", few},
		"random": {few},
	} {
		m := surrogate.Scaled{Model: Model{Sampled: mapnet.Sampled{Start: start, Steps: 1}}}
		post, err := m.Fit(t.Context(), d, rand.New(rand.NewPCG(0, 7)))
		require.NoError(t, err)
		require.Equal(t, want, post.Warnings())
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Sampled: mapnet.Sampled{Start: "maps"}}, 2), `start is "maps", want `)
	require.ErrorContains(t, surrogate.Check(Model{Sampled: mapnet.Sampled{Draws: -1}}, 2), "draws is -1")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "bound" {
			cancel()
		}
	})
	_, err := Model{}.Fit(ctx, line(), random.New(1, "fit", 0))
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkLoss(b *testing.B) {
	m, err := settings.Resolve("mfvi", Model{})
	require.NoError(b, err)
	p, err := mapnet.New(mapnet.Settings{Network: m.Network, Batch: m.Batch}, line())
	require.NoError(b, err)
	bo := m.bound(p)
	rng := random.New(1, "b", 0)
	w, _ := p.Start(nil, rng)
	v := append(append([]float64{0, 0}, w...), make([]float64, len(w))...)
	grad := make([]float64, len(v))
	for b.Loop() {
		bo.Loss(grad, v, p.X, p.Y, bo.Family.Noise(4, rng))
	}
}
