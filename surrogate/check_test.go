package surrogate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/dkl"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/gwi"
	"github.com/functionspace/bo/surrogate/hmc"
	"github.com/functionspace/bo/surrogate/ibnn"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/laplace"
	"github.com/functionspace/bo/surrogate/mfvi"
	"github.com/functionspace/bo/surrogate/tfsvi"
	"github.com/functionspace/bo/surrogate/vip"
)

// Check finds faults of single settings, of settings together and of Scaled, with
// the error of a fit.
func TestCheck(t *testing.T) {
	for want, m := range map[string]surrogate.Model{
		"noise is -1, want 0 or more":     gp.Model{Spec: prior.Spec{Noise: ptr(-1)}},
		"3 lengthscales for 2 inputs":     &gp.Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}},
		"steps is -1, want 1 to":          mfvi.Model{Sampled: mapnet.Sampled{Steps: -1}},
		"pretrain needs features":         dkl.Model{Pretrain: 3},
		"range is [2 1], want two":        fvi.Model{Range: []float64{2, 1}},
		"learn excludes weight and bias":  ibnn.Model{Learn: true, Bias: 1},
		"draws is 1, want 8 to":           surrogate.Scaled{Model: hmc.Model{Draws: 1}},
		`input scaling "log", want raw`:   surrogate.Scaled{Model: gp.Model{}, Inputs: "log"},
		`output scaling "unit", want raw`: surrogate.Scaled{Model: gp.Model{}, Outputs: "unit"},
	} {
		err := surrogate.Check(m, 2)
		require.ErrorContains(t, err, want)
		_, fit := m.Fit(t.Context(), userUnits(), nil)
		require.ErrorContains(t, fit, want)
	}
	require.NoError(t, surrogate.Check(surrogate.Scaled{Model: gp.Model{}}, 2))
	require.NoError(t, surrogate.Check(failer{}, 2), "a model without settings")
	require.ErrorIs(t, surrogate.Check(dkl.Model{Pretrain: 3}, 2), surrogate.ErrSetting)
}

// own is a model of another module with the setting noise.
type own struct {
	failer
	Noise *float64 `set:"noise" auto:"learned" range:"[0,inf)"`
}

// FixNoise sets the field of a model of another module, and names the field that a model lacks.
func TestFixNoiseOfAnotherModel(t *testing.T) {
	fixed, err := surrogate.FixNoise(own{}, new(0.25))
	require.NoError(t, err)
	require.Equal(t, own{Noise: new(0.25)}, fixed)
	learned, err := surrogate.FixNoise(&own{Noise: new(0.25)}, nil)
	require.NoError(t, err)
	require.Equal(t, &own{}, learned)

	for _, m := range []surrogate.Model{failer{}, &failer{}} {
		_, err = surrogate.FixNoise(m, new(0.25))
		require.ErrorContains(t, err, "failer has no setting noise, a field with the tags of prior.Spec.Noise")
	}
	_, err = surrogate.FixNoise(gp.Model{}, new(-1.))
	require.ErrorIs(t, err, surrogate.ErrSetting)
}

// A fixed number, a kernel or the preset "published" states a prior, inside Scaled too. The defaults
// and the settings of training state no prior.
func TestStatesPrior(t *testing.T) {
	network := func(set func(*laplace.Model)) surrogate.Model {
		var m laplace.Model
		set(&m)
		return m
	}
	for _, m := range []surrogate.Model{
		gp.Model{Spec: prior.Spec{Kernel: "rbf"}}, &gp.Model{Spec: prior.Spec{Noise: ptr(0.1)}},
		network(func(m *laplace.Model) { m.Noise = ptr(0.1) }), network(func(m *laplace.Model) { m.Precision = ptr(2) }),
		hmc.Model{Noise: ptr(0.1)}, vip.Model{Noise: ptr(0.1)}, tfsvi.Model{PriorScale: 0.3}, tfsvi.Model{Noise: ptr(0.1)},
		fvi.Model{Prior: "piecewise-linear"}, ibnn.Model{Noise: ptr(0.1)},
		fsplaplace.Model{Preset: surrogate.Published}, fvi.Model{Preset: surrogate.Published}, gfsvi.Model{Preset: surrogate.Published},
		gwi.Net{Options: gwi.Options{Preset: surrogate.Published}}, gwi.SVGP{Options: gwi.Options{Preset: surrogate.Published}},
		laplace.Model{Preset: surrogate.Published}, mfvi.Model{Preset: surrogate.Published}, tfsvi.Model{Preset: surrogate.Published},
		gfsvi.Model{Spec: prior.Spec{Kernel: "rbf"}}, gwi.Net{Options: gwi.Options{Spec: prior.Spec{Mean: prior.MeanZero}}},
	} {
		require.True(t, surrogate.StatesPrior(m), "%T", m)
		require.True(t, surrogate.StatesPrior(surrogate.Scaled{Model: m}), "%T", m)
		require.True(t, surrogate.StatesPrior(&surrogate.Scaled{Model: m}), "%T", m)
	}
	for _, m := range []surrogate.Model{
		gp.Model{}, gp.Model{Spec: prior.Spec{Isotropic: new(true), Mean: prior.MeanConstant, Restarts: 2}}, laplace.Model{Restarts: 3},
		mfvi.Model{Sampled: mapnet.Sampled{Steps: 10}}, hmc.Model{}, vip.Model{}, tfsvi.Model{}, fvi.Model{}, fvi.Model{Preset: "default"},
		fsplaplace.Model{}, gfsvi.Model{}, gwi.Net{}, gwi.SVGP{}, ibnn.Model{Weight: 3}, failer{},
	} {
		require.False(t, surrogate.StatesPrior(m), "%T", m)
		require.False(t, surrogate.StatesPrior(surrogate.Scaled{Model: m}), "%T", m)
	}
}

// wrapped embeds a model and replaces its fit.
type wrapped struct {
	gp.Model
	calls int
}

// NameInputs keeps the type of a model and its other fields, and leaves the original unchanged.
func TestNameInputs(t *testing.T) {
	inputs := []prior.Input{{Name: "x"}}
	for m, spec := range map[surrogate.Model]func(surrogate.Model) []prior.Input{
		&gp.Model{}:             func(m surrogate.Model) []prior.Input { return m.(*gp.Model).Inputs },
		&dkl.Model{Features: 2}: func(m surrogate.Model) []prior.Input { return m.(*dkl.Model).Inputs },
		&wrapped{calls: 3}:      func(m surrogate.Model) []prior.Input { return m.(*wrapped).Inputs },
		&surrogate.Scaled{Model: gp.Model{}}: func(m surrogate.Model) []prior.Input {
			return m.(*surrogate.Scaled).Model.(gp.Model).Inputs
		},
	} {
		named := surrogate.NameInputs(m, inputs)
		require.Equal(t, inputs, spec(named))
		require.Empty(t, spec(m))
	}
	require.Equal(t, 3, surrogate.NameInputs(wrapped{calls: 3}, inputs).(wrapped).calls)
	require.Equal(t, failer{}, surrogate.NameInputs(failer{}, inputs))
}
