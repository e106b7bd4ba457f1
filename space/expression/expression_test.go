package expression_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

var params = []space.Parameter{
	space.Float("x", -10, 10), space.Int("n", 0, 100), space.Bool("amp"), space.Categorical("opt", "adam", "sgd"),
	space.Ordinal("width", 16.0, 32.0, 64.0), space.Categorical("mixed", 1.0, "one", true), space.Fixed("k", 3.0), space.Float("learning rate", 0, 1),
}

func at(t *testing.T, values map[string]any) space.Point {
	all := map[string]any{"x": 0.5, "n": 7, "amp": true, "opt": "sgd", "width": 32, "mixed": "one", "learning rate": 0.25}
	for name, v := range values {
		all[name] = v
	}
	s, err := space.New(params...)
	require.NoError(t, err)
	p, err := s.PointOf(all)
	require.NoError(t, err)
	return p
}

func TestConditions(t *testing.T) {
	p := at(t, nil)
	for text, want := range map[string]bool{
		"opt == 'sgd'": true, `opt != "sgd"`: false, "opt in ['adam']": false, "opt not in ['adam']": true, "amp": true, "not amp": false,
		"amp == true": true, "width == 32": true, "width * n <= 224": true, "width * n < 224": false, "n % 2 == 1 and x > 0": true,
		"n - 1 == 6 || amp": true, "n == 2 ^ 3 - 1": true, "-x < 0": true, "n / 2 == 3.5": true,
		"log2(width) == 5": true, "max(n, width, k) == 32": true, "min(x) == x": true, "abs(-x) == 0.5": true, "sqrt(x * 0.5) == 0.5": true,
		"round(x) == 1 and floor(x) == 0 and ceil(x) == 1": true, "exp(log(n)) > 6.9": true, "log10(1000) == k": true,
		"mixed == 'one'": true, "mixed == 1": false, "mixed in [true, 'one']": true, "mixed + 1 > 0": false,
		"param['learning rate'] < x": true, "(amp ? n : x) == 7": true, "amp ? opt == 'sgd' : false": true, "1 / (n - 7) > 1e300": true,
		"0 / (n - 7) == 0": false, "n in [1, 7]": true, "1 < n": true, "not (n > 3 and amp)": false, "k == 3": true, "opt == (amp ? 'sgd' : 'adam')": true,
	} {
		c, err := expression.Compile(text, params)
		require.NoError(t, err, text)
		assert.Equal(t, want, c.Holds(p), text)
		if c.Excess != nil {
			assert.Equal(t, want, c.Excess(p) == 0, "excess of %s", text)
		}
		assert.Equal(t, text, c.Text)
		assert.NotEmpty(t, c.On)
	}
}

// All mixtures of four parts in steps of 0.05 that add up to 1 satisfy the constraint, although their floats may add up to
// 1.0000000000000002. A part more or less is seen.
func TestSumsOfDecimals(t *testing.T) {
	var parts []space.Parameter
	for _, name := range []string{"a", "b", "c", "d"} {
		parts = append(parts, space.StepFloat(name, 0, 1, 0.05))
	}
	s, err := space.New(parts...)
	require.NoError(t, err)
	conditions := map[string]space.Condition{}
	for _, text := range []string{"a + b + c + d == 1", "a + b + c + d <= 1", "1 - a - b - c >= d", "a + b + c + d - 1 == 0", "a + b + c + d < 1", "-(a + b) > c + d - 1", "a + b + c + d != 1"} {
		conditions[text], err = expression.Compile(text, parts)
		require.NoError(t, err)
	}
	for i := range 21 {
		for j := range 21 - i {
			for k := range 21 - i - j {
				for _, more := range []int{-1, 0, 1} {
					l := 20 - i - j - k + more
					if l < 0 || l > 20 {
						continue
					}
					p, err := s.PointOf(map[string]any{"a": float64(i) / 20, "b": float64(j) / 20, "c": float64(k) / 20, "d": float64(l) / 20})
					require.NoError(t, err)
					for text, want := range map[string]bool{
						"a + b + c + d == 1": more == 0, "a + b + c + d <= 1": more <= 0, "1 - a - b - c >= d": more <= 0, "a + b + c + d - 1 == 0": more == 0,
						"a + b + c + d < 1": more < 0, "-(a + b) > c + d - 1": more < 0, "a + b + c + d != 1": more != 0,
					} {
						if conditions[text].Holds(p) != want {
							t.Fatalf("%s is %v at %v", text, !want, p)
						}
					}
				}
			}
		}
	}
}

// Whole numbers and tiny numbers are compared exactly.
func TestSmallDifferences(t *testing.T) {
	params := []space.Parameter{space.Int("n", 0, 1<<50-1), space.Float("x", 0, 1e-14)}
	s, err := space.New(params...)
	require.NoError(t, err)
	p, err := s.PointOf(map[string]any{"n": 1<<50 - 2, "x": 2e-15})
	require.NoError(t, err)
	for text, want := range map[string]bool{"n == 1125899906842623": false, "n < 1125899906842623": true, "n + 1 > n": true, "x <= 1e-15": false, "x > 1.999e-15": true} {
		c, err := expression.Compile(text, params)
		require.NoError(t, err)
		assert.Equal(t, want, c.Holds(p), text)
	}
}

func TestExcess(t *testing.T) {
	for text, want := range map[string]float64{
		"width * n <= 200": 24, "width * n >= 300": 76, "n == 3": 4, "n < 7 or x > 1.5": 1e-9, "n <= 3 and x >= 2": 5.5, "opt == 'adam' and n <= 6": 2, "n > 5": 0,
	} {
		c, err := expression.Compile(text, params)
		require.NoError(t, err)
		assert.InDelta(t, want, c.Excess(at(t, nil)), 1e-12, text)
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `"": character 1: the text ends too early`,
		"n >":                    `"n >": character 3: the text ends too early`,
		"n <= 3 mol":             `"n <= 3 mol": character 8: unexpected "mol"`,
		"n = 3":                  `"n = 3": character 3: unexpected "=": write == for a comparison`,
		"0,5 <= n":               `"0,5 <= n": character 2: unexpected ","`,
		"n":                      `"n": character 1: want a condition that is true or false, not a number`,
		"nn > 1":                 `"nn > 1": character 1: unknown parameter "nn": did you mean n?`,
		"opt == sgd":             `"opt == sgd": character 8: no parameter has the name "sgd", which is a value of opt: write a value in quotes, 'sgd'`,
		"opt in [adam, 'sgd']":   `"opt in [adam, 'sgd']": character 9: no parameter has the name "adam", which is a value of opt: write a value in quotes, 'adam'`,
		"opt == 'sdg'":           `"opt == 'sdg'": character 8: sdg is not a value of opt: one of adam, sgd`,
		"opt == 3":               `"opt == 3": character 8: 3 is not a value of opt: one of adam, sgd`,
		"opt in ['sgd', 'x']":    `"opt in ['sgd', 'x']": character 16: x is not a value of opt: one of adam, sgd`,
		"opt == n":               `"opt == n": character 8: text never equals a number`,
		"opt + 1 > 0":            `"opt + 1 > 0": character 1: want a number beside +, not text`,
		"n > 1 and x":            `"n > 1 and x": character 11: want true or false beside and, not a number`,
		"width == 17":            `"width == 17": character 10: 17 is not a value of width: one of 16, 32, 64`,
		"sin(n) > 0":             `"sin(n) > 0": character 1: unknown function sin: did you mean min?`,
		"log > 0":                `"log > 0": character 1: log is a function: want log(…)`,
		"log(n, 2) > 0":          `"log(n, 2) > 0": character 1: log has 2 arguments, want one`,
		"n matches 'a'":          `"n matches 'a'": character 3: the operator matches is not available`,
		"len('a') > n":           `"len('a') > n": character 1: unknown function len; want one of abs, ceil, exp, floor, log, log10, log2, max, min, round, sqrt`,
		"all([1], {# > 0})":      ``,
		"n in 1..3":              `"n in 1..3": character 7: want a list such as [1, 2] after in`,
		"let a = n; a > 1":       `"let a = n; a > 1": character 5: this form of expression is not available: use parameters, numbers, text, comparisons, and, or, not`,
		"1 < 2":                  `"1 < 2": character 3: names no parameter`,
		"n.x > 1":                `"n.x > 1": character 3: only param['name'] has brackets or dots`,
		strings.Repeat("n", 1e4): "the expression has 10000 bytes, at most 1000",
	} {
		_, err := expression.Compile(text, params)
		require.Error(t, err, text)
		if want != "" {
			assert.Equal(t, want, err.Error())
		}
	}
	_, err := expression.Compile("n > 0"+strings.Repeat("+1", 300), params)
	require.ErrorContains(t, err, "exceeds maximum allowed nodes")
}

// Columns of a laboratory have units in their names, which are no words.
func TestNamesThatAreNoWords(t *testing.T) {
	heat := []space.Parameter{space.Float("heat (°C)", 0, 1), space.Float("x's", 0, 1), space.Float("Härte", 0, 1), space.Float(`a\b`, 0, 1)}
	for text, want := range map[string]string{
		"heat (°C) <= 0.5":       `: write param['heat (°C)'] for the parameter heat (°C)`,
		"'heat (°C)' <= 0.5":     `: write param['heat (°C)'] for the parameter heat (°C)`,
		"x's <= 0.5":             `: write param["x's"] for the parameter x's`,
		"param['heat (°C)'] + 1": `want a condition that is true or false, not a number`,
		"param['heat'] < 1":      `unknown parameter "heat"`,
	} {
		_, err := expression.Compile(text, heat)
		require.ErrorContains(t, err, want, text)
	}
	for _, p := range heat {
		c, err := expression.Compile(expression.Reference(p.Name)+" <= 0.5", heat)
		require.NoError(t, err)
		require.Equal(t, []string{p.Name}, c.On)
	}
	require.Equal(t, "Härte", expression.Reference("Härte"))
}

func TestSpace(t *testing.T) {
	s, err := expression.Space([]space.Parameter{
		space.Categorical("opt", "adam", "sgd"),
		{Name: "m", Kind: space.KindFloat, Max: 1, When: space.Condition{Text: "opt == 'sgd'"}},
	}, "m <= 0.5")
	require.NoError(t, err)
	p, err := s.PointOf(map[string]any{"opt": "adam"})
	require.NoError(t, err)
	assert.False(t, p.Active("m"))
	_, err = s.PointOf(map[string]any{"opt": "sgd", "m": 0.75})
	assert.EqualError(t, err, `invalid point: constraint "m <= 0.5" does not hold at m=0.75`)
	text, err := s.MarshalJSON()
	require.NoError(t, err)
	again, err := expression.Parse(text)
	require.NoError(t, err)
	assert.NotPanics(t, func() { again.Encode(p) }, "an equal space is the same space")

	// Equal writes a condition that this package reads.
	for _, c := range []space.Condition{space.Equal("opt", "adam", "sgd"), space.Equal("odd name", `it's \`, "b")} {
		q, err := expression.Compile(c.Text, []space.Parameter{space.Categorical("opt", "adam", "sgd"), space.Categorical("odd name", `it's \`, "b", "c")})
		require.NoError(t, err, c.Text)
		assert.Equal(t, c.On, q.On)
	}
}

// With the bound of a cost, meeting the sum again violated the bound: a slice had no values but at its ends.
func TestBalanceMixtureOfBoundedCost(t *testing.T) {
	for _, step := range []float64{0.5, 0.01} {
		part := func(name string, lo, hi float64) space.Parameter {
			p := space.Float(name, lo, hi)
			p.Step = step
			return p
		}
		s, err := expression.Space([]space.Parameter{part("resin", 20, 70), part("hardener", 5, 30), part("water", 0, 40), part("pigment", 0, 20)},
			"resin + hardener + water + pigment == 100", "0.08 * resin + 0.15 * hardener + 0.2 * pigment <= 9")
		require.NoError(t, err)
		p, err := s.PointOf(map[string]any{"resin": 52.0, "hardener": 29.5, "water": 16.5, "pigment": 2.0})
		require.NoError(t, err)
		u := s.Encode(p)
		for pigment := 0.0; pigment <= 20; pigment += 0.5 {
			q, ok, err := s.Balance(map[string]any{"pigment": pigment}, u)
			require.NoError(t, err)
			require.True(t, ok, "%v at step %v", pigment, step)
			require.Equal(t, pigment, q.Float("pigment"))
			cost := 0.08*q.Float("resin") + 0.15*q.Float("hardener") + 0.2*pigment
			require.LessOrEqual(t, cost, 9+1e-9)
			if pigment > 2 && pigment < 13 { // then the hardener is not at its least value
				require.Greater(t, cost, 8.8)
			}
		}
	}
}

// No text causes a panic, a compiled condition is total, and its excess is 0 exactly where it
// holds, unless a side of a comparison is no number.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"opt == 'sgd' and n > 3", "x ** n <= log(width)", "mixed in [1, 'one']", "param['learning rate'] < 1 ? amp : not amp"} {
		f.Add(text, 0.5)
	}
	s, err := space.New(params...)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string, u float64) {
		c, err := expression.Compile(text, params)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		v := make([]float64, s.Dim())
		for i := range v {
			v[i] = math.Mod(math.Abs(u)*float64(i+1), 1)
		}
		p := s.Decode(v)
		holds := c.Holds(p)
		if c.Excess != nil {
			if e := c.Excess(p); !math.IsNaN(e) && !math.IsInf(e, 0) {
				require.Equal(t, holds, e == 0, "%s: excess %v", text, e)
			}
		}
	})
}
