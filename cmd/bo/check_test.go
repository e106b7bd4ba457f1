package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/surrogate"
)

// The line of a fixed hyperparameter has two values in the same unit.
func TestCheckPrintsValuesOfProfiles(t *testing.T) {
	for _, c := range []struct {
		value, best float64
		text        string
	}{
		{0.05, 0.0353553, "noise_sd 0.05, the most likely value is 0.0353553, "},
		{5e-21, 1e-20, "noise_sd 5e-21, the most likely value is 1e-20, "},
	} {
		m := checkedModel{Health: &insight.Health{Verdict: insight.Healthy, Profiles: []insight.Profile{{Name: "noise_sd", Value: c.value, Best: c.best, Gain: 1, Critical: 2}}}}
		rows := map[string]string{}
		m.print(func(name, format string, args ...any) { rows[name] = fmt.Sprintf(format, args...) })
		require.Contains(t, rows["fixed"], c.text)
	}
}

// described is a posterior with hyperparameters alone.
type described struct {
	surrogate.Describer
	hypers []surrogate.Hyper
}

func (d described) Hypers() []surrogate.Hyper { return d.hypers }

// JSON has no number for the R̂ of chains that never move.
func TestCheckLeavesOutHyperparametersThatAreNotFinite(t *testing.T) {
	hypers := hypersOf(described{hypers: []surrogate.Hyper{{Name: "noise", Value: 0.5}, {Name: "rhat", Value: math.Inf(1)}, {Name: "ess", Value: math.NaN()}}})
	require.Equal(t, map[string]float64{"noise": 0.5}, hypers)
}
