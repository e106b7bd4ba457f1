package settings_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/settings"
)

func TestChecks(t *testing.T) {
	trainer := ""
	require.NoError(t, settings.Choose("trainer", &trainer, "newton", "adam"))
	require.Equal(t, "newton", trainer)
	trainer = "adm"
	require.EqualError(t, settings.Choose("trainer", &trainer, "newton", "adam"), `unknown trainer "adm": did you mean adam?`)

	require.NoError(t, settings.Positive("steps", 0))
	require.NoError(t, settings.Positive("rate", 0.1))
	require.EqualError(t, settings.Positive("steps", -3), "steps is -3, must be positive")
	require.EqualError(t, settings.Positive("rate", math.NaN()), "rate is NaN, must be positive")
	require.EqualError(t, settings.Positive("rate", math.Inf(1)), "rate is +Inf, must be positive")

	mode := ""
	require.NoError(t, settings.Choose("trainer", &mode, "", "newton", "adam"))
	require.Empty(t, mode)
	mode = "nonsense"
	require.EqualError(t, settings.Choose("trainer", &mode, "", "newton", "adam"), `unknown trainer "nonsense": did you mean newton?`)

	for _, rate := range []float64{0, 1e-300, 1} {
		require.NoError(t, settings.Rate("pace", rate))
	}
	for _, rate := range []float64{-0.1, 1.1, math.NaN()} {
		require.ErrorContains(t, settings.Rate("pace", rate), "must be positive and at most 1")
	}

	require.NoError(t, settings.Networks("samples", 0))
	require.NoError(t, settings.Networks("samples", 2))
	require.EqualError(t, settings.Networks("samples", 1), "samples is 1: a variance takes two networks at least")
	require.EqualError(t, settings.Networks("samples", -1), "samples is -1, must be positive")

	require.NoError(t, settings.Fixed("noise", nil, settings.LeastFixed))
	require.NoError(t, settings.Fixed("noise", new(1e-10), settings.LeastFixed))
	for _, v := range []float64{0, -1, 9e-11, 1e101, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, settings.Fixed("noise", &v, settings.LeastFixed), "must lie between 1e-10 and 1e+100")
	}

	var bias *float64
	require.NoError(t, settings.NotNegative("bias", &bias, 0.5))
	require.Equal(t, 0.5, *bias)
	bias = new(0.)
	require.NoError(t, settings.NotNegative("bias", &bias, 0.5))
	require.Zero(t, *bias)
	bias = new(-1.)
	require.EqualError(t, settings.NotNegative("bias", &bias, 0.5), "bias is -1, must not be negative")

	var hidden []int
	require.NoError(t, settings.Layers(&hidden, 50, 50))
	require.Equal(t, []int{50, 50}, hidden)
	hidden = []int{}
	require.NoError(t, settings.Layers(&hidden, 50, 50))
	require.Empty(t, hidden)
	hidden = []int{3, 0}
	require.EqualError(t, settings.Layers(&hidden, 50, 50), "hidden: a layer of 0 units")
}
