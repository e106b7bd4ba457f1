package study

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

func TestParseRequirement(t *testing.T) {
	for text, want := range map[string]loop.Requirement{
		"latency <= 20":       {Name: "latency", Bound: 20},
		"peak memory>=-1e3":   {Name: "peak memory", AtLeast: true, Bound: -1000},
		"  accuracy  >=  0.9": {Name: "accuracy", AtLeast: true, Bound: 0.9},
	} {
		r, err := ParseRequirement(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, r)
		again, err := ParseRequirement(r.String())
		require.NoError(t, err, "the text of a requirement")
		assert.Equal(t, r, again)
	}
	for text, want := range map[string]string{
		"latency":          "want NAME <= NUMBER",
		"latency = 3":      "want NAME <= NUMBER",
		"<= 3":             "want NAME <= NUMBER",
		"latency <= fast":  "want NAME <= NUMBER",
		"latency < 3":      "write <=",
		"latency <= NaN":   "want a finite number",
		"latency <= 1e999": "want a finite number",
		"late\x1bncy <= 3": "the name must not hold control characters",
	} {
		_, err := ParseRequirement(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// A requirement needs an acquisition function that weighs feasibility.
func TestRequirementsOfAcquisitions(t *testing.T) {
	d := Definition{Version: Version, Parameters: []space.Parameter{space.Float("x", 0, 1)}, Require: []string{"latency <= 20"}}
	for _, e := range catalog.Acquisitions() {
		d.Acquisition.Name, d.Objectives = e.Name, nil
		if strings.HasPrefix(e.Name, "logneh") || strings.HasPrefix(e.Name, "lognp") {
			d.Objectives = []Objective{{Name: "a"}, {Name: "b"}}
		}
		if err := d.Validate(); slices.Contains([]string{"lcb", "ei", "mes", "ts", "qei"}, e.Name) {
			require.ErrorContains(t, err, "acquisition: "+e.Name+" takes no outcome constraints: use auto, logei, lognei, qlogei or pi")
		} else {
			require.NoError(t, err, e.Name)
		}
	}
}

func TestDeclaredNumbers(t *testing.T) {
	ten := 10.0
	d := Definition{
		Objectives: []Objective{{Name: "loss"}, {Name: "speed", Goal: Maximize, NoiseFree: true, Reference: &ten}},
		Require:    []string{"memory <= 8", "speed >= 1"},
	}
	require.True(t, d.Several())
	require.Equal(t, []string{"loss", "speed", "memory"}, d.Declared())
	require.Equal(t, Minimize, d.Goals()[0].Goal)
	goals, requirements := d.Outcomes()
	require.Equal(t, []loop.Goal{{Name: "loss"}, {Name: "speed", Maximize: true, NoiseFree: true, Reference: &ten}}, goals)
	require.Equal(t, d.Requirements(), requirements)

	numbers := map[string]float64{"loss": 1, "speed": 1}
	require.EqualError(t, d.Missing(map[string]float64{"los": 1}), `no number named "loss" was reported: rename los to loss`)
	require.EqualError(t, d.Missing(numbers), `no number named "memory" was reported, only loss, speed`)
	require.EqualError(t, d.Missing(nil), `no number named "loss" was reported`)
	require.False(t, d.Feasible(numbers), "a missing number")
	for memory, want := range map[float64]bool{7: true, 8: true, 9: false} {
		numbers["memory"] = memory
		require.NoError(t, d.Missing(numbers))
		require.Equal(t, want, d.Feasible(numbers))
	}

	one := Definition{}
	require.False(t, one.Several())
	require.Equal(t, []string{"value"}, one.Declared())
	goals, _ = one.Outcomes()
	require.Nil(t, goals)
}
