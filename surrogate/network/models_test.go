package network_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/dkl"
	"github.com/functionspace/bo/surrogate/dropout"
	"github.com/functionspace/bo/surrogate/ensemble"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gwi"
	"github.com/functionspace/bo/surrogate/hmc"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/mapnn"
	"github.com/functionspace/bo/surrogate/mfvi"
	"github.com/functionspace/bo/surrogate/network"
	"github.com/functionspace/bo/surrogate/surrogatetest"
	"github.com/functionspace/bo/surrogate/tfsvi"
	"github.com/functionspace/bo/surrogate/vip"
)

// residual is an architecture that no setting declares.
var residual = network.Func(func(x network.Node) network.Node {
	d := x.Width()
	scale := mat.NewDiagDense(d, nil)
	for j := range d {
		scale.SetDiag(j, 3)
	}
	h := x.Affine(scale, nil).Dense(8, 1).Apply(network.Tanh)
	return h.Dense(8, 0.5).Apply(network.Tanh).Add(h).Dense(1, 0)
})

// Every model with an architecture satisfies the contract of its package.
func TestModelsWithAnArchitecture(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	spec, net := prior.Spec{Restarts: 1}, surrogate.Network{Architecture: residual}
	l, mf, mp, e := laplace.Model{Restarts: 1}, mfvi.Model{}, mapnn.Model{}, ensemble.Model{Members: 3}
	l.Architecture, mf.Architecture, mp.Architecture, e.Architecture = residual, residual, residual, residual
	mf.Steps = 50
	diagonal := l
	diagonal.Curvature = "diagonal"
	for name, m := range map[string]surrogate.Model{
		"fsp-laplace":          fsplaplace.Model{Spec: spec, Network: net, Context: 30},
		"fsp-laplace cholesky": fsplaplace.Model{Spec: spec, Network: net, Context: 30, Factor: "cholesky"},
		"gfsvi":                gfsvi.Model{Spec: spec, Network: net, Steps: 20, Context: 20, Rank: 10},
		"tfsvi":                tfsvi.Model{Network: net, Steps: 20},
		"tfsvi diagonal":       tfsvi.Model{Network: net, Steps: 20, Covariance: "diagonal"},
		"fvi":                  fvi.Model{Spec: spec, Network: net, Steps: 20},
		"gwi-net":              gwi.Net{Options: gwi.Options{Spec: spec, Steps: 20}, Architecture: residual},
		"laplace":              l,
		"laplace diagonal":     diagonal,
		"mfvi":                 mf,
		"map":                  mp,
		"ensemble":             e,
		"hmc":                  hmc.Model{Network: net, Chains: 2, Warmup: 10, Draws: 10, Samples: 10, Depth: 4, Start: "random"},
	} {
		if testing.Short() && name != "fsp-laplace" && name != "laplace" {
			continue
		}
		t.Run(name, func(t *testing.T) { fast.Run(t, m) })
	}
}

// A known trend is part of an architecture, and no weights multiply it. Models with a regression on the last
// weights fit what it leaves, and networks for constant targets are not mirrored.
func TestModelsWithATrend(t *testing.T) {
	trend := network.Func(func(x network.Node) network.Node {
		h := x.Affine(mat.NewDense(1, 1, []float64{4}), []float64{-2}).Dense(15, 1).Apply(network.Tanh)
		return h.Dense(1, 0).Add(x.Affine(mat.NewDense(1, 1, []float64{10}), nil))
	})
	d := surrogate.Dataset{X: space.Halton(20, 1, random.New(1, "x", 0)), Lo: []float64{0}, Hi: []float64{1}}
	flat := surrogate.Dataset{X: d.X, Y: make([]float64, 20), Lo: d.Lo, Hi: d.Hi}
	for i := range 20 {
		d.Y = append(d.Y, math.Sin(4*d.X.At(i, 0)))
	}
	net, e := surrogate.Network{Architecture: trend}, ensemble.Model{Members: 4}
	e.Architecture = trend
	for name, c := range map[string]struct {
		model surrogate.Model
		data  surrogate.Dataset
	}{
		"tfsvi":             {tfsvi.Model{Network: net}, d},
		"hmc":               {hmc.Model{Network: net, Chains: 2, Warmup: 20, Draws: 20, Samples: 20, Depth: 4}, d},
		"constant ensemble": {e, flat},
	} {
		post, err := c.model.Fit(t.Context(), c.data, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		mean, variance := make([]float64, 20), make([]float64, 20)
		post.Predict(mean, variance, d.X)
		require.InDeltaSlice(t, c.data.Y, mean, 0.4, name) // the trend has the range 10
	}
}

// A posterior does not refer to the slices of its model.
func TestPosteriorAfterItsModelChanged(t *testing.T) {
	d := surrogate.Dataset{X: space.Halton(8, 2, random.New(1, "x", 0)), Y: []float64{1, 2, 0, 1, 3, 2, 1, 0}}
	hidden := []int{6, 5}
	l := laplace.Model{}
	l.Hidden = hidden
	for name, m := range map[string]surrogate.Model{
		"fsp-laplace": fsplaplace.Model{Network: surrogate.Network{Hidden: hidden}, Context: 20},
		"laplace":     l,
		"dkl":         dkl.Model{Hidden: hidden},
	} {
		hidden[0], hidden[1] = 6, 5
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		before, after := make([]float64, 8), make([]float64, 8)
		surrogate.Means(post, before, d.X)
		hidden[0], hidden[1] = 5, 6
		surrogate.Means(post, after, d.X)
		require.Equal(t, before, after, name)
	}
}

// The inputs of an architecture are in the units of the dataset, with the published presets too. A
// network of period 1 then has the same outputs at distance 1.
func TestPublishedPresetsKeepTheInputsOfAnArchitecture(t *testing.T) {
	d := surrogate.Dataset{X: space.Halton(20, 1, random.New(1, "x", 0)), Lo: []float64{0}, Hi: []float64{1}}
	for i := range 20 {
		d.Y = append(d.Y, math.Sin(2*math.Pi*d.X.At(i, 0)))
	}
	periodic := network.Func(func(x network.Node) network.Node {
		return x.Periodic(1).Dense(8, 0.5).Apply(network.Tanh).Dense(1, 0)
	})
	const p = surrogate.Published
	l, mf := laplace.Model{Preset: p}, mfvi.Model{Preset: p}
	l.Architecture, mf.Architecture = periodic, periodic
	l.Steps, mf.Steps = 200, 200
	fsp := fsplaplace.Model{Preset: p, Network: surrogate.Network{Architecture: periodic}, Steps: 100, Context: 20, CovarianceContext: 50}
	for name, m := range map[string]surrogate.Model{
		"laplace": l, "mfvi": mf, "fsp-laplace": fsp,
		"gwi-net": gwi.Net{Options: gwi.Options{Preset: p, Steps: 100}, Architecture: periodic},
	} {
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		mean, variance := make([]float64, 4), make([]float64, 4)
		post.Predict(mean, variance, mat.NewDense(4, 1, []float64{0.2, 1.2, 0.6, -1.4}))
		require.InDeltaSlice(t, []float64{mean[0], mean[2]}, []float64{mean[1], mean[3]}, 1e-9, name)
		require.NotEqual(t, mean[0], mean[2], name)
		if name != "gwi-net" { // its variance is the kernel's
			require.InDeltaSlice(t, []float64{variance[0], variance[2]}, []float64{variance[1], variance[3]}, 1e-9, name)
		}
	}
}

// Models that need layers report it, and so do architectures that a model cannot fit.
func TestModelsWithoutAnArchitecture(t *testing.T) {
	d := surrogate.Dataset{X: space.Halton(8, 1, random.New(1, "x", 0)), Y: []float64{1, 2, 1, 2, 1, 2, 1, 2}}
	fit := func(m surrogate.Model) error {
		_, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		return err
	}
	drop, kron := dropout.Model{}, laplace.Model{Curvature: "kron"}
	drop.Architecture, kron.Architecture = residual, residual
	require.ErrorContains(t, fit(drop), "dropout does not support Architecture: it needs the layers of a fully connected network")
	require.ErrorContains(t, fit(vip.Model{Network: surrogate.Network{Architecture: residual}}), "vip does not support Architecture")
	require.ErrorContains(t, fit(kron), "the curvature kron needs the layers of a fully connected network: choose curvature=full or diagonal")

	square := network.Func(func(x network.Node) network.Node {
		h := x.Dense(3, 1)
		return h.Mul(h).Columns(0, 1)
	})
	net := surrogate.Network{Architecture: square}
	require.ErrorContains(t, fit(tfsvi.Model{Network: net}), "the architecture is affine in no weights: set covariance=diagonal")
	require.ErrorContains(t, fit(hmc.Model{Network: net}), "the architecture is affine in no weights, want a linear output layer")
	require.NoError(t, fit(tfsvi.Model{Network: net, Covariance: "diagonal", Steps: 5}))

	broken := network.Func(func(x network.Node) network.Node { return x.Columns(0, 9).Dense(1, 0) })
	for _, m := range []surrogate.Model{fsplaplace.Model{Network: surrogate.Network{Architecture: broken}}, gwi.Net{Architecture: broken}} {
		require.ErrorContains(t, fit(m), "network: Columns 0 to 9 of 1")
	}
}

// Labels are fitted with an architecture.
func TestLabelsWithAnArchitecture(t *testing.T) {
	net := surrogate.Network{Architecture: residual}
	l := laplace.Model{Restarts: 1}
	l.Architecture = residual
	d := surrogate.Labels{X: space.Halton(20, 2, random.New(1, "x", 0)), Classes: 2}
	for i := range 20 {
		y := 0
		if d.X.At(i, 0) > 0.5 {
			y = 1
		}
		d.Y = append(d.Y, y)
	}
	for name, m := range map[string]surrogate.Classifier{
		"fsp-laplace": fsplaplace.Model{Network: net, Context: 30},
		"gfsvi":       gfsvi.Model{Network: net, Steps: 20, Context: 20, Rank: 10},
		"laplace":     l,
	} {
		p, err := m.FitLabels(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err, name)
		prob := mat.NewDense(2, 2, nil)
		p.Predict(prob, mat.NewDense(2, 2, []float64{0.1, 0.5, 0.9, 0.5}))
		require.Greater(t, prob.At(0, 0), 0.6, name)
		require.Greater(t, prob.At(1, 1), 0.6, name)
	}
}
