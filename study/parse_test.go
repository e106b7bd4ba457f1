package study

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

func TestMaxCount(t *testing.T) {
	require.NoError(t, optionFault("budget", fmt.Sprint(MaxCount)))
	require.Error(t, optionFault("budget", fmt.Sprint(MaxCount+1)))
}

// A parameter that is no finite number has no place outside the space.
func TestEarlierOfNoFiniteNumber(t *testing.T) {
	one := 1.0
	d := Definition{Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		d.Earlier.Trials = []Told{{Params: map[string]any{"x": x}, Value: &one}}
		require.ErrorContains(t, d.Validate(), "earlier: evaluation 1: invalid point: parameter \"x\": "+fmt.Sprint(x)+" is not a finite number")
	}
}

// Rows of a table in place of evaluations have one fault, however many there are.
func TestEarlierReportsTheForm(t *testing.T) {
	const form = "earlier must be the name of a table, or a list such as [{params: {rate: 0.1}, value: 3}], not "
	for text, want := range map[string]string{
		strings.Repeat(`{"x": 0.5, "k": 2, "value": 1}, `, 30) + `{"x": 1, "value": 2}`: form + `{"x": 0.5, "k": 2, "value": 1}`,
		`{"value": 1}`:                                       form + `{"value": 1}`,
		`3, {"params": {"x": 1}}`:                            form + `3`,
		`{"param": {"x": 0.5}, "value": 1}`:                  `earlier: unknown key "param": did you mean params?`,
		`{"params": {"x": 0.5}, "valued": 1}`:                `earlier: unknown key "valued": did you mean value?`,
		`{"params": {"x": 0.5}, "value": "a"}`:               `earlier: evaluation 1: `,
		`{"params": {"x": 0.5}, "numbers": {"value": null}}`: `earlier: evaluation 1: value is null, want a number`,
	} {
		_, err := Parse([]byte(`{"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "earlier": [` + text + `]}`))
		require.ErrorContains(t, err, want)
		require.LessOrEqual(t, strings.Count(err.Error(), "earlier"), 2, err.Error())
	}
}
