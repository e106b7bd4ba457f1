package study

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

func TestHints(t *testing.T) {
	stepped, whole := space.Int("stepped", 1, 1e6+1), space.Int("whole", 1, 1e6)
	stepped.Step, whole.Step = 10, 1
	d := &Definition{Parameters: []space.Parameter{
		space.Float("rate", 1e-5, 1), space.Int("units", 1, 20000), space.LogFloat("logarithmic", 1e-5, 1),
		space.Float("short", 1e-3, 1), space.Float("zero", 0, 1), space.Float("negative", -1, 1e5), stepped, whole,
	}}
	require.Equal(t, []string{
		"parameter rate has a linear scale, and 99 % of its range is above 0.01: set log to true if ratios matter",
		"parameter units has a linear scale, and 99 % of its range is above 200: set log to true if ratios matter",
		"parameter whole has a linear scale, and 99 % of its range is above 10000: set log to true if ratios matter",
	}, d.Hints())
	require.Empty(t, (&Definition{}).Hints())
}
