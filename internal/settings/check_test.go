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
