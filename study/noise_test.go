package study_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/study"
)

func TestNoiseSD(t *testing.T) {
	const text = `{"version": 1, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "objectives": [%s]%s}`
	d, err := study.Parse(fmt.Appendf(nil, text, `{"name": "a", "noise_sd": 0.5}`, ""))
	require.NoError(t, err)
	o, err := d.Method()
	require.NoError(t, err)
	require.Equal(t, 0.5, o.NoiseSD)
	d, err = study.Parse(fmt.Appendf(nil, text, `{"name": "a", "noise_sd": 0.5}, {"name": "b"}`, ""))
	require.NoError(t, err)
	o, err = d.Method()
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 0}, []float64{o.Objectives[0].NoiseSD, o.Objectives[1].NoiseSD})

	for _, c := range []struct{ objective, rest, fault string }{
		{`"noise_sd": 0`, "", `objectives: noise_sd of "a" is 0, want a positive number; for an exact objective use noise_free: true`},
		{`"noise_sd": -2`, "", `is -2, want a positive number`},
		{`"noise_sd": "low"`, "", `objectives: noise_sd must be a number, not "low"`},
		{`"noise_sd": 1, "noise_free": true`, "", "it is declared exact: use one of noise_sd and noise_free"},
		{`"noise_sd": 1`, `, "surrogate": {"noise": 0.1}`, `noise_sd of "a" and noise of surrogate state the same: use one of them`},
		{`"standard_error": "a"`, "", `standard_error of "a" is "a", an objective: name another number that trials report`},
		{`"standard_error": 1`, "", `objectives: standard_error must be text, not 1`},
		{`"standard_error": "e", "noise_free": true`, "", "it is declared exact: use one of standard_error and noise_free"},
		{`"standard_error": "e"`, `, "surrogate": {"noise": 0.1}`, `standard_error of "a" and noise of surrogate state the same: use one of them`},
		{`"standard_error": "e"`, `, "surrogate": "fsp-laplace"`, `surrogate fsp-laplace takes one noise for all values: use gp, or noise_sd`},
		{`"standard_error": "e"`, `, "earlier": [{"params": {"x": 0.5}, "numbers": {"a": 1, "e": -1}}]`, `earlier: evaluation 1: the standard error e is -1, want a number of at least 0`},
		{`"sem": 1`, "", `unknown key "sem": use noise_sd`},
	} {
		_, err := study.Parse(fmt.Appendf(nil, text, `{"name": "a", `+c.objective+"}", c.rest))
		require.ErrorIs(t, err, study.ErrInvalid)
		require.ErrorContains(t, err, c.fault)
	}
}
