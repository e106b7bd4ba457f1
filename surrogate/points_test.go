package surrogate_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gwi"
	"github.com/functionspace/bo/surrogate/tfsvi"
)

// withPoints returns the function-space methods with a source of points. Training is short and
// from a random start, so that every draw of the box is uniform or, for fsp-laplace, given by
// design.
func withPoints(uniform, design surrogate.PointSource) map[string]surrogate.Model {
	net := surrogate.Network{Hidden: []int{8}}
	spec := prior.Spec{Restarts: 1}
	return map[string]surrogate.Model{
		"fsp-laplace":      fsplaplace.Model{Spec: spec, Network: net, Context: 20, CovarianceContext: 30, ContextPoints: design},
		"fsp-laplace adam": fsplaplace.Model{Spec: spec, Network: net, Context: 20, Trainer: "adam", Steps: 30, Factor: "ridge", ContextPoints: design},
		"gfsvi":            gfsvi.Model{Spec: spec, Network: net, Start: "random", Steps: 20, Context: 20, MeasurementPoints: uniform},
		"tfsvi":            tfsvi.Model{Network: net, Steps: 20, ContextPoints: uniform},
		"fvi":              fvi.Model{Spec: spec, Network: net, Start: "random", Steps: 20, MeasurementPoints: uniform},
		"gwi-svgp":         gwi.SVGP{Options: gwi.Options{Spec: spec, Inducing: 5, Steps: 20, MeasurementPoints: uniform}},
		"gwi-net":          gwi.Net{Options: gwi.Options{Spec: spec, Inducing: 5, Steps: 20, MeasurementPoints: uniform}, Hidden: []int{8}, Start: "random"},
	}
}

func someData() surrogate.Dataset {
	d := surrogate.Dataset{X: space.Halton(12, 2, random.New(1, "data", 0)), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range 12 {
		d.Y = append(d.Y, math.Sin(4*d.X.At(i, 0))+d.X.At(i, 1))
	}
	return d
}

// A source that draws the points of the box gives the fit without a source, to the last bit.
func TestSourceOfTheDefaultPoints(t *testing.T) {
	calls := 0
	stretch := func(x *mat.Dense, lo, hi []float64) *mat.Dense {
		calls++
		x.Apply(func(_, j int, u float64) float64 { return lo[j] + u*(hi[j]-lo[j]) }, x)
		return x
	}
	uniform := func(n int, lo, hi []float64, rng *rand.Rand) *mat.Dense {
		return stretch(space.Uniform(n, len(lo), rng), lo, hi)
	}
	chebyshev := func(n int, lo, hi []float64, rng *rand.Rand) *mat.Dense {
		x := space.Halton(n, len(lo), rng)
		x.Apply(func(_, _ int, u float64) float64 { return 0.5 - 0.5*math.Cos(math.Pi*u) }, x)
		return stretch(x, lo, hi)
	}
	at := space.Uniform(5, 2, random.New(1, "at", 0))
	without := withPoints(nil, nil)
	for name, model := range withPoints(uniform, chebyshev) {
		if name == "fsp-laplace adam" {
			continue // draws uniform points in training and a design afterwards
		}
		calls = 0
		p, err := model.Fit(t.Context(), someData(), random.New(2, "fit", 0))
		require.NoError(t, err, name)
		assert.Positive(t, calls, name)
		q, err := without[name].Fit(t.Context(), someData(), random.New(2, "fit", 0))
		require.NoError(t, err, name)
		mean, variance, wantMean, wantVariance := make([]float64, 5), make([]float64, 5), make([]float64, 5), make([]float64, 5)
		p.Predict(mean, variance, at)
		q.Predict(wantMean, wantVariance, at)
		assert.Equal(t, wantMean, mean, name)
		assert.Equal(t, wantVariance, variance, name)
	}
}

// Fixed points and points of varying number are accepted. Invalid points are an error, also if
// only a later draw is invalid.
func TestSourcesOfOtherPoints(t *testing.T) {
	fixed := surrogate.FixedPoints(space.Halton(7, 2, random.New(1, "fixed", 0)))
	for name, model := range withPoints(fixed, fixed) {
		p, err := model.Fit(t.Context(), someData(), random.New(2, "fit", 0))
		require.NoError(t, err, name)
		mean, variance := make([]float64, 1), make([]float64, 1)
		p.Predict(mean, variance, mat.NewDense(1, 2, []float64{0.5, 0.5}))
		assert.False(t, math.IsNaN(mean[0]+variance[0]), name)
	}
	calls := 0
	varying := func(_ int, lo, _ []float64, rng *rand.Rand) *mat.Dense {
		calls++
		return space.Uniform(3+calls%4, len(lo), rng)
	}
	for name, model := range withPoints(varying, varying) {
		_, err := model.Fit(t.Context(), someData(), random.New(2, "fit", 0))
		require.NoError(t, err, name)
	}
	empty := surrogate.FixedPoints(nil)
	for name, model := range withPoints(empty, empty) {
		_, err := model.Fit(t.Context(), someData(), random.New(2, "fit", 0))
		require.ErrorIs(t, err, surrogate.ErrNoData, name)
	}
	for _, c := range []struct {
		points *mat.Dense
		want   error
	}{
		{nil, surrogate.ErrNoData},
		{new(mat.Dense), surrogate.ErrNoData},
		{mat.NewDense(4, 3, nil), surrogate.ErrShape},
		{mat.NewDense(1, 2, []float64{0, math.NaN()}), surrogate.ErrNotFinite},
	} {
		calls := 0
		source := func(n int, lo, _ []float64, rng *rand.Rand) *mat.Dense {
			if calls++; calls > 1 {
				return c.points
			}
			return space.Uniform(n, len(lo), rng)
		}
		for name, model := range withPoints(source, source) {
			calls = 0
			_, err := model.Fit(t.Context(), someData(), random.New(2, "fit", 0))
			require.ErrorIs(t, err, c.want, name)
		}
	}
}

// Context points of a known region: the prior applies there, and the network is free elsewhere.
func ExamplePointSource() {
	ring := func(n int, _, _ []float64, rng *rand.Rand) *mat.Dense {
		x := mat.NewDense(n, 2, nil)
		for i := range n {
			angle, radius := 2*math.Pi*rng.Float64(), 1+0.2*rng.Float64()
			x.SetRow(i, []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
		}
		return x
	}
	d := surrogate.Dataset{X: mat.NewDense(6, 2, nil), Lo: []float64{-1.2, -1.2}, Hi: []float64{1.2, 1.2}}
	for i := range 6 {
		angle := float64(i) * math.Pi / 6 // the upper half of the ring
		d.X.SetRow(i, []float64{1.1 * math.Cos(angle), 1.1 * math.Sin(angle)})
		d.Y = append(d.Y, math.Cos(2*angle))
	}
	model := fsplaplace.Model{Network: surrogate.Network{Hidden: []int{30}}, ContextPoints: ring, Context: 60}
	p, err := model.Fit(context.Background(), d, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	p.Predict(mean, variance, mat.NewDense(2, 2, []float64{0, 1.1, 0, -1.1}))
	fmt.Printf("top of the ring: %.1f\n", mean[0])
	fmt.Println("the bottom has a larger variance:", variance[1] > 10*variance[0])
	// Output:
	// top of the ring: -1.0
	// the bottom has a larger variance: true
}

// A source may change the bounds that it receives.
func TestSourceChangesItsBounds(t *testing.T) {
	draw := func(change bool) surrogate.PointSource {
		return func(n int, lo, hi []float64, rng *rand.Rand) *mat.Dense {
			x := space.Uniform(n, 2, rng)
			x.Apply(func(_, j int, u float64) float64 { return lo[j] + u*(hi[j]-lo[j]) }, x)
			if change {
				clear(hi)
				lo[0] = math.NaN()
			}
			return x
		}
	}
	kept, changed := withPoints(draw(false), draw(false)), withPoints(draw(true), draw(true))
	for name := range kept {
		t.Run(name, func(t *testing.T) {
			var means [2][]float64
			for i, m := range []surrogate.Model{kept[name], changed[name]} {
				p, err := m.Fit(t.Context(), someData(), random.New(1, "fit", 0))
				require.NoError(t, err)
				means[i] = make([]float64, 12)
				surrogate.Means(p, means[i], someData().X)
			}
			assert.Equal(t, means[0], means[1])
		})
	}
}
