package space_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		p    space.Parameter
		want string
	}{
		{space.Float("x", 1, 0), `parameter "x": min 1 is above max 0`},
		{space.Float("x", 2, 2), `parameter "x": min and max are both 2: use type "fixed" for a constant`},
		{space.Float("x", math.NaN(), 1), `parameter "x": min is NaN, which is not finite`},
		{space.Float("x", 0, math.Inf(1)), `parameter "x": max is +Inf, which is not finite`},
		{space.Float("x", -1e308, 1e308), `parameter "x": max - min overflows`},
		{space.LogFloat("x", 0, 1), `parameter "x": min is 0: a logarithmic scale needs min > 0`},
		{space.LogFloat("x", 5e-324, 1), `parameter "x": min is 5e-324: a logarithmic scale begins at 2^-1022, about 2.2e-308`},
		{space.LogInt("x", 0, 8), `parameter "x": min is 0: a logarithmic scale needs min > 0`},
		{space.Int("x", 3, 3), `parameter "x": min and max are both 3: use type "fixed" for a constant`},
		{space.Int("x", 0, math.MaxInt), `parameter "x": max is 9.223372036854776e+18: an int must lie within ±2^53; use a float`},
		{space.Int("x", 0, 1<<51), `parameter "x": more than 2^50 values; use a float`},
		{space.LogInt("x", 1, 1<<41), `parameter "x": max is 2.199023255552e+12: an int on a logarithmic scale ends at 2^40; use a float`},
		{space.Parameter{Name: "x", Kind: space.KindInt, Min: 0.5, Max: 2}, `parameter "x": min is 0.5, which is not an integer`},
		{space.StepFloat("x", 0, 1, 0.3), `parameter "x": max 1 is not min plus a multiple of step 0.3: use max 0.9 or 1.2`},
		{space.StepFloat("x", 0, 1, -0.5), `parameter "x": step is -0.5, want a positive number`},
		{space.StepFloat("x", 0, 1, math.NaN()), `parameter "x": step is NaN, want a positive number`},
		{space.StepFloat("x", 0, 1, 2), `parameter "x": step 2 is larger than max - min`},
		{space.StepFloat("x", 0, 1, 1e-300), `parameter "x": more than 2^50 values; leave out the step`},
		{space.StepFloat("x", 1e-30, 1, 0.25), `parameter "x": min, max and step have too many digits for exact steps: use rounder numbers`},
		{space.Parameter{Name: "x", Kind: space.KindInt, Max: 2, Step: 0.5}, `parameter "x": step is 0.5, which is not an integer`},
		{space.Parameter{Name: "x", Kind: space.KindFloat, Min: 1, Max: 8, Step: 1, Log: true}, `parameter "x": step does not belong to a logarithmic scale: leave out step or log, or list the values in an ordinal`},
		{space.Parameter{Name: "x", Kind: space.KindBool, Step: 1}, `parameter "x": step does not belong to type bool`},
		{space.Parameter{Name: "x", Kind: space.KindBool, Values: []any{true, false}}, `parameter "x": values do not belong to type bool`},
		{space.Ordinal("x"), `parameter "x": values are missing`},
		{space.Categorical("x", "a"), `parameter "x": only one value: use type "fixed" for a constant`},
		{space.Categorical("x", "a", "b", "a"), `parameter "x": value "a" occurs twice`},
		{space.Categorical("x", 1, 1.0), `parameter "x": value 1 occurs twice`},
		{space.Categorical("x", "a", nil), `parameter "x": value 2 of 2 is null, want a number, string or boolean`},
		{space.Categorical("x", "a", []int{1}), `parameter "x": value 2 of 2 is a list, want a number, string or boolean`},
		{space.Categorical("x", "a", math.NaN()), `parameter "x": value 2 of 2 is NaN, which is not finite`},
		{space.Categorical("x", "a", "\xff"), `parameter "x": value 2 of 2 is not valid UTF-8`},
		{space.Categorical("x", 1, 1<<53+2), `parameter "x": value 2 of 2 is 9007199254740994, beyond ±2^53`},
		{space.Ordinal("x", 2, 8, 4), `parameter "x": numbers of an ordinal must increase or decrease throughout`},
		{space.Fixed("x", nil), `parameter "x": value is missing`},
		{space.Parameter{Name: "x"}, `parameter "x": type is missing: one of float, int, bool, ordinal, categorical, fixed`},
		{space.Parameter{Name: "x", Kind: "catgorical"}, `parameter "x": unknown type "catgorical": did you mean categorical?`},
		{space.Float("", 0, 1), `parameter 2 of 2: name is missing`},
		{space.Float("a{b}", 0, 1), `parameter "a{b}": name must not begin or end with a space, nor hold braces or control characters`},
		{space.Float(" a", 0, 1), `parameter " a": name must not begin or end with a space, nor hold braces or control characters`},
		{space.Float("a\xff", 0, 1), `parameter "a\xff": name is not valid UTF-8`},
		{space.Float("ok", 0, 1), `parameter "ok": another parameter has the same name`},
		{space.Parameter{Name: "x", Kind: space.KindFixed, Value: 1, Min: 1}, `parameter "x": min and max do not belong to type fixed`},
		{space.Parameter{Name: "x", Kind: space.KindFixed, Value: 1, Log: true}, `parameter "x": log does not belong to type fixed`},
		{space.Parameter{Name: "x", Kind: space.KindFloat, Max: 1, Values: []any{1}}, `parameter "x": values do not belong to type float`},
		{space.Parameter{Name: "x", Kind: space.KindInt, Max: 1, Value: 1}, `parameter "x": value does not belong to type int`},
		{space.Parameter{Name: "x", Kind: space.KindFixed, Value: 1, Given: true}, `parameter "x": given does not belong to type fixed`},
		{space.Parameter{Name: "x", Kind: space.KindBool, When: space.Equal("ok", 1), Given: true}, `parameter "x": given and when are both stated: a given parameter is always active`},
	} {
		_, err := space.New(space.Float("ok", 0, 1), c.p)
		require.ErrorIs(t, err, space.ErrInvalid)
		assert.Equal(t, "invalid search space: "+c.want, err.Error())
	}
}

func TestEmptySpaces(t *testing.T) {
	_, err := space.New()
	assert.EqualError(t, err, "invalid search space: there are no parameters")
	_, err = space.New(space.Fixed("a", 1), space.Fixed("b", "x"))
	assert.EqualError(t, err, "invalid search space: every parameter is fixed, so there is nothing to search")
}

// An error reports all faults on one line and wraps each of them.
func TestEveryFaultIsReported(t *testing.T) {
	_, err := space.New(space.LogFloat("lr", 0, -1), space.Categorical("opt"), space.Int("lr", 0, 1))
	require.Error(t, err)
	assert.Equal(t, `invalid search space: parameter "lr": min 0 is above max -1; parameter "lr": min is 0: a logarithmic scale needs min > 0; `+
		`parameter "opt": values are missing; parameter "lr": another parameter has the same name`, err.Error())
	var faults space.Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 4)
}

const file = `{
  "parameters": [
    {"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true},
    {"name": "layers", "type": "int", "min": 1, "max": 8, "given": true},
    {"name": "opt", "type": "categorical", "values": ["adam", "sgd", "lion"]},
    {"name": "bits", "type": "ordinal", "values": [2, 4, 8]},
    {"name": "amp", "type": "fixed", "value": true}
  ]
}`

func TestParse(t *testing.T) {
	s, err := space.Parse([]byte(file))
	require.NoError(t, err)
	layers := space.Int("layers", 1, 8)
	layers.Given = true
	want, err := space.New(
		space.LogFloat("lr", 1e-5, 0.1), layers, space.Categorical("opt", "adam", "sgd", "lion"),
		space.Ordinal("bits", 2, 4, 8), space.Fixed("amp", true),
	)
	require.NoError(t, err)
	assert.Equal(t, want, s)

	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, `{"parameters":[{"name":"lr","type":"float","min":0.00001,"max":0.1,"log":true},{"name":"layers","type":"int","min":1,"max":8,"given":true},`+
		`{"name":"opt","type":"categorical","values":["adam","sgd","lion"]},{"name":"bits","type":"ordinal","values":[2,4,8]},`+
		`{"name":"amp","type":"fixed","value":true}]}`, string(text))
	var again space.Space
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, want, &again)
}

// A variable that holds a space takes the same space again, but no other one: the points of the first refer to it.
func TestUnmarshalIntoASpace(t *testing.T) {
	var s space.Space
	read := func(text string) error { return json.Unmarshal([]byte(text), &s) }
	const first = `{"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}]}`
	require.NoError(t, read(first))
	p := s.Decode([]float64{0.5})
	require.NoError(t, read(first))
	require.ErrorIs(t, read(`{"parameters": [{"name": "y", "type": "float", "min": 10, "max": 20}]}`), space.ErrInvalid)
	require.ErrorIs(t, read(`{"parameters": []}`), space.ErrInvalid)
	require.Equal(t, "x=0.5", p.String())
}

func TestParseFaults(t *testing.T) {
	one := func(parameter string) string { return `{"parameters": [` + parameter + `]}` }
	for _, c := range []struct{ text, want string }{
		{"", "the text is empty"},
		{" \n", "the text is empty"},
		{"[1]", "want an object {…}, not [1]"},
		{"null", "want an object {…}, not null"},
		{"{}", `key "parameters" is missing`},
		{`{"parameters": 3}`, "parameters must be a list such as [{name: …, type: …}], not 3"},
		{`{"parameters": null}`, "parameters must be a list such as [{name: …, type: …}], not null"},
		{`{"parameters": []}`, "there are no parameters"},
		{`{"paramters": []}`, `unknown key "paramters": did you mean parameters?`},
		{`{"parameters": [], "parameters": []}`, `key "parameters" occurs twice; there are no parameters`},
		{"{\n\"parameters\": [\n{]}", "line 3: invalid character ']' looking for beginning of object key string"},
		{`{"parameters": [`, "line 1: unexpected end of JSON input"},
		{`{"parameters": []} {}`, "line 1: invalid character '{' after top-level value"},
		{one(`{"name": "x", "low": 0, "high": 1, "scale": "log", "active_if": "y"}`), `parameter "x": unknown key "low": use min; parameter "x": unknown key "high": use max; ` +
			`parameter "x": unknown key "scale": use log: true for a logarithmic scale; parameter "x": unknown key "active_if": use when; ` +
			`parameter "x": type is missing: one of float, int, bool, ordinal, categorical, fixed`},
		{`{"objective": 1, "parameters": [{"name": "x", "type": "loguniform", "min": 0, "max": 1, "bogus": 1}]}`, `unknown key "objective"; want one of parameters, constraints; ` +
			`parameter "x": unknown key "bogus"; want one of name, type, min, max, log, step, values, value, when, given; parameter "x": unknown type "loguniform": use float with log: true`},
		{one(`4`), `parameter 1 of 1: want an object {…}, not 4; parameter 1 of 1: name is missing`},
		{one(`{"name": "x", "type": "float", "min": 0, "maximum": 1}`), `parameter "x": unknown key "maximum": did you mean max?; parameter "x": max is missing`},
		{one(`{"name": "x", "type": "float", "min": "0", "max": 1}`), `parameter "x": min must be a number, not "0"`},
		{one(`{"name": "x", "type": "float", "min": null, "max": 1}`), `parameter "x": min must be a number, not null`},
		{one(`{"name": "x", "type": "float", "min": 0, "max": 1e999}`), `parameter "x": max must be a number, not 1e999`},
		{one(`{"name": "x", "type": "float", "min": 0, "max": 1, "log": "yes"}`), `parameter "x": log must be true or false, not "yes"`},
		{one(`{"name": "x", "type": "float", "min": 0, "max": 1, "max": 2}`), `parameter "x": key "max" occurs twice`},
		{one(`{"name": "x", "type": "int"}`), `parameter "x": min is missing; parameter "x": max is missing`},
		{one(`{"name": "x", "type": "int", "min": 1.5, "max": 4}`), `parameter "x": min is 1.5, which is not an integer`},
		{one(`{"name": "x", "type": "ordinal", "min": 0, "values": [1, 2]}`), `parameter "x": min does not belong to type ordinal`},
		{one(`{"name": "x", "type": "categorical", "values": "a"}`), `parameter "x": values must be a list, not "a"`},
		{one(`{"name": "x", "type": "categorical", "values": ["a", null]}`), `parameter "x": value 2 of 2 is null, want a number, string or boolean`},
		{one(`{"name": "x", "type": "categorical", "values": ["a", {"b": 1}]}`), `parameter "x": value 2 of 2 is an object, want a number, string or boolean`},
		{one(`{"name": "x", "type": "categorical", "values": ["a", 12345678901234567890]}`), `parameter "x": value 2 of 2 is 12345678901234567890, beyond ±2^53`},
		{one(`{"name": "x", "type": "categorical", "values": ["a", 1e999]}`), `parameter "x": value 2 of 2 is 1e999, which is not a finite number`},
		{one(`{"name": 3, "type": "float", "min": 0, "max": 1}`), `parameter 1 of 1: name must be a string, not 3; parameter 1 of 1: name is missing`},
		{one(`{"name": "x", "type": "log_uniform_values", "min": 1, "max": 2}`), `parameter "x": unknown type "log_uniform_values": use float with log: true`},
		{one(`{"name": "x", "type": "qrandint", "min": 1, "max": 2}`), `parameter "x": unknown type "qrandint": use int with step`},
		{one(`{"name": "x", "type": "flaot", "min": 0, "max": 1}`), `parameter "x": unknown type "flaot": did you mean float?`},
	} {
		_, err := space.Parse([]byte(c.text))
		require.ErrorIs(t, err, space.ErrInvalid, c.text)
		assert.Equal(t, "invalid search space: "+c.want, err.Error(), c.text)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// A parsed space is equal after a round trip through JSON. For any other text the error
// has one line.
func FuzzParse(f *testing.F) {
	f.Add(file)
	f.Add(`{"parameters":[{"name":"x","type":"fixed","value":1e300},{"name":"k","type":"int","min":-3,"max":1099511627776,"log":false}]}`)
	f.Add(`{"parameters":[{"name":"é","type":"categorical","values":["",0,true,"a"]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := space.Parse([]byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), space.ErrInvalid.Error()) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		out, err := json.Marshal(s)
		require.NoError(t, err)
		again, err := space.Parse(out)
		require.NoError(t, err)
		require.Equal(t, s, again)
		u := make([]float64, s.Dim())
		p := s.Decode(u)
		_, err = s.PointOf(p.Map())
		require.NoError(t, err)
	})
}

// For any bounds and coordinates, the decoded value lies within the bounds and survives
// the round trip.
func FuzzRoundTrip(f *testing.F) {
	f.Add(1e-5, 0.1, 0.3, 0.7)
	f.Add(1.0, 4096.0, 1.0, 0.0)
	f.Add(-3.0, 1099511627776.0, math.NaN(), 2.0)
	f.Add(5e-324, math.MaxFloat64, 0.5, 1e-300)
	f.Fuzz(func(t *testing.T, lo, hi, u, v float64) {
		for _, kind := range []space.Kind{space.KindFloat, space.KindInt} {
			for _, log := range []bool{false, true} {
				s, err := space.New(
					space.Parameter{Name: "x", Kind: kind, Min: lo, Max: hi, Log: log},
					space.Ordinal("o", 1, 2, 3, 4, 5), space.Categorical("c", "a", "b", "d"), space.Categorical("two", 0, 1),
				)
				if err != nil {
					continue
				}
				at := []float64{u, v, u, v, u + v, u * v}
				p := s.Decode(at)
				x := p.Float("x")
				require.True(t, x >= lo && x <= hi, "%v outside [%v, %v]", x, lo, hi)
				q := s.Decode(s.Encode(p))
				for _, name := range []string{"o", "c", "two"} {
					require.Equal(t, p.Value(name), q.Value(name))
				}
				y := q.Float("x")
				switch {
				case kind == space.KindInt:
					require.Equal(t, x, y)
				case log:
					require.InDelta(t, x, y, x*4e-16*(4+math.Abs(math.Log(lo))+math.Abs(math.Log(hi)))+5e-324)
				default:
					require.InDelta(t, x, y, 4e-16*(hi-lo)+4e-16*math.Abs(x)+5e-324)
				}
				s.Project(at)
				require.Equal(t, p.Key(), s.Decode(at).Key())
			}
		}
	})
}
