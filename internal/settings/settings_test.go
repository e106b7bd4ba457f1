package settings_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/settings"
)

type base struct {
	Kernel string   `set:"kernel" default:"matern52" help:"covariance"`
	Noise  *float64 `set:"noise" auto:"learned" range:"[0,inf)" help:"variance of the noise"`
	Scale  *float64 `set:"scale" auto:"learned" range:"(0,inf)"`
	Custom any
}

type options struct {
	Noise  *float64 `set:"noise" auto:"learned" range:"(0,inf)" help:"the outer one"`
	base   `range:"scale=[1,2]"`
	Length []float64 `set:"lengthscale" auto:"learned" range:"(0,inf)"`
	Width  []int     `set:"hidden" default:"50,50" range:"[1,1000]"`
	Steps  int       `set:"steps" default:"1000" range:"[1,1000000]"`
	Extra  int       `set:"extra" default:"0" range:"[0,9]"`
	Limit  int       `set:"limit" auto:"100 or 5000" range:"[1,inf)"`
	Seed   uint64    `set:"seed" default:"0"`
	Tol    float64   `set:"tol" default:"0.5" range:"(0,1]"`
	Bias   *float64  `set:"bias" default:"0.25" range:"[0,inf)"`
	Exact  bool      `set:"exact" default:"false"`
	Names  []string  `set:"names" auto:"none"`
	By     method    `set:"method" default:"adam" oneof:"adam,newton"`
	Way    string    `set:"way" auto:"by size" oneof:"up,down"`
}

type method string

func TestSetAndGet(t *testing.T) {
	var o options
	for _, c := range []struct{ key, text, want string }{
		{"kernel", "rbf*periodic+linear", ""},
		{"noise", "1e-4", "0.0001"},
		{"noise", "learned", ""},
		{"lengthscale", "0.5", ""},
		{"lengthscale", "0.5, 2", "0.5,2"},
		{"lengthscale", "learned", ""},
		{"hidden", "64,64,8", ""},
		{"steps", "3", ""},
		{"extra", "0", ""},
		{"seed", "18446744073709551615", ""},
		{"tol", " 0.25 ", "0.25"},
		{"exact", "true", ""},
		{"names", "a,b", ""},
		{"method", "newton", ""},
	} {
		require.NoError(t, settings.Set(&o, c.key, c.text), c.key)
		got, err := settings.Get(&o, c.key)
		require.NoError(t, err)
		if c.want == "" {
			c.want = c.text
		}
		require.Equal(t, c.want, got, c.key)
	}
	require.Nil(t, o.Noise)
	require.NoError(t, settings.Set(&o, "noise", "0.5"))
	require.Equal(t, 0.5, *o.Noise)
	require.Nil(t, o.base.Noise, "the outer field wins")
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"lenghtscale", "1", `unknown setting "lenghtscale": did you mean lengthscale?`},
		{"noise", "loud", `noise is "loud", want a number or learned`},
		{"noise", "NaN", `noise is "NaN", want a number or learned`},
		{"noise", "0", "noise is 0, want more than 0"},
		{"scale", "3", "scale is 3, want 1 to 2"},
		{"tol", "Inf", `tol is "Inf", want a number`},
		{"tol", "1.5", "tol is 1.5, want more than 0 and at most 1"},
		{"tol", "0", "tol is 0, want more than 0 and at most 1"},
		{"bias", "learned", `bias is "learned", want a number`},
		{"bias", "-1", "bias is -1, want 0 or more"},
		{"lengthscale", "1,,2", `lengthscale is "1,,2", want numbers separated by commas or learned`},
		{"lengthscale", "1,-2", "lengthscale is -2, want more than 0"},
		{"hidden", "", `hidden is "", want whole numbers separated by commas`},
		{"hidden", "50,x", `hidden is "50,x", want whole numbers separated by commas`},
		{"hidden", "50,1001", "hidden is 1001, want 1 to 1000"},
		{"steps", "1.5", `steps is "1.5", want a whole number`},
		{"steps", "99999999999999999999", "steps is 99999999999999999999, want 1 to 1000000"},
		{"steps", "0", "steps is 0, want 1 to 1000000"},
		{"limit", "0", "limit is 0, want 1 or more"},
		{"exact", "maybe", `exact is "maybe", want true or false`},
		{"method", "newtn", `method is "newtn", want adam or newton`},
		{"way", "", `way is "", want up or down`},
	} {
		o := options{Length: []float64{7}}
		require.EqualError(t, settings.Set(&o, c.key, c.text), c.want)
		require.Equal(t, options{Length: []float64{7}}, o, "a failed Set leaves the options as they were")
	}
	require.ErrorIs(t, settings.Set(&options{}, "nope", "1"), settings.ErrUnknown)
	require.ErrorIs(t, settings.Set(&options{}, "steps", "x"), settings.ErrValue)
	require.ErrorIs(t, settings.Set(&options{}, "steps", "-1"), settings.ErrValue)
	require.EqualError(t, settings.Set(&struct{}{}, "beta", "1"), `unknown setting "beta": there is nothing to set`)
	_, err := settings.Get(&options{}, "nope")
	require.ErrorIs(t, err, settings.ErrUnknown)
}

// Zero values stand for the declared defaults; Resolve changes nothing else.
func TestResolve(t *testing.T) {
	o, err := settings.Resolve("m", options{})
	require.NoError(t, err)
	require.Equal(t, options{
		base: base{Kernel: "matern52"}, Width: []int{50, 50}, Steps: 1000, Tol: 0.5, Bias: new(0.25), By: "adam",
	}, o)

	given := options{
		base: base{Kernel: "rbf", Scale: new(1.5), Custom: 3}, Noise: new(2.), Length: []float64{1}, Width: []int{}, Steps: 5,
		Extra: 2, Limit: 7, Seed: 1, Tol: 1, Bias: new(0.), Exact: true, Names: []string{"a"}, By: "newton", Way: "up",
	}
	o, err = settings.Resolve("m", given)
	require.NoError(t, err)
	require.Equal(t, given, o)

	for want, o := range map[string]options{
		"m: steps is -1, want 1 to 1000000":                           {Steps: -1},
		"m: extra is 10, want 0 to 9":                                 {Extra: 10},
		"m: tol is NaN, want more than 0 and at most 1":               {Tol: math.NaN()},
		"m: bias is +Inf, want 0 or more":                             {Bias: new(math.Inf(1))},
		"m: scale is 0.5, want 1 to 2":                                {base: base{Scale: new(0.5)}},
		"m: hidden is 0, want 1 to 1000":                              {Width: []int{3, 0}},
		`m: method is "sgd", want adam or newton`:                     {By: "sgd"},
		"m: steps is -1, want 1 to 1000000; extra is 10, want 0 to 9": {Steps: -1, Extra: 10},
	} {
		_, err := settings.Resolve("m", o)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, settings.ErrValue)
		require.EqualError(t, settings.Check(o), want[3:])
		require.EqualError(t, settings.Check(&o), want[3:])
	}
	require.NoError(t, settings.Check(func() {}), "no struct")
	o = options{}
	require.NoError(t, settings.Check(&o))
	require.Equal(t, options{}, o, "Check changes nothing")
}

func TestRanges(t *testing.T) {
	list := settings.List(&struct {
		A float64 `set:"a" default:"1" range:"(0,1)"`
		B float64 `set:"b" default:"0" range:"[0,1)"`
		C float64 `set:"c" default:"0" range:"(-inf,inf)"`
		D float64 `set:"d" default:"0" range:"(-inf,2]"`
		E float64 `set:"e" default:"0" range:"[-1e-3,1e100]"`
	}{})
	var words []string
	for _, s := range list {
		words = append(words, s.Range)
	}
	require.Equal(t, []string{"more than 0 and less than 1", "0 or more and less than 1", "finite", "at most 2", "-0.001 to 1e+100"}, words)
}

func TestList(t *testing.T) {
	list := settings.List(&options{})
	var keys []string
	for _, s := range list {
		keys = append(keys, s.Key)
	}
	require.Equal(t, []string{"noise", "kernel", "scale", "lengthscale", "hidden", "steps", "extra", "limit", "seed", "tol", "bias", "exact", "names", "method", "way"}, keys)
	require.Equal(t, settings.Setting{Key: "noise", Type: "number", Default: "learned", Range: "more than 0", Help: "the outer one"}, list[0])
	require.Equal(t, settings.Setting{Key: "limit", Type: "whole number", Default: "100 or 5000", Range: "1 or more"}, list[7])
	require.Equal(t, []string{"adam", "newton"}, list[13].Values)
}

// The tags of an embedded field replace the tags of its options.
func TestOverrides(t *testing.T) {
	o := struct {
		base `default:"kernel=rbf" range:"noise=[1,2];scale=[3,4]" help:"kernel=an expression;scale=variance, as published"`
	}{}
	require.Equal(t, []settings.Setting{
		{Key: "kernel", Type: "text", Default: "rbf", Help: "an expression"},
		{Key: "noise", Type: "number", Default: "learned", Range: "1 to 2", Help: "variance of the noise"},
		{Key: "scale", Type: "number", Default: "learned", Range: "3 to 4", Help: "variance, as published"},
	}, settings.List(&o))
	got, err := settings.Resolve("m", o)
	require.NoError(t, err)
	require.Equal(t, "rbf", got.Kernel)
}

// With the preset, Resolve fills in published values instead of defaults. A value that is set
// remains, in any order.
func TestPublished(t *testing.T) {
	type inner struct {
		base  `published:"kernel=rbf" help:"kernel=covariance function"`
		Width []int `set:"hidden" default:"50,50" published:"30,30" range:"[1,1000]" help:"widths"`
	}
	type outer struct {
		Preset string `set:"preset" default:"default" oneof:"default,published"`
		inner  `published:"kernel=linear;noise=0.5"`
		Bias   *float64 `set:"bias" default:"0.25" published:"0" range:"[0,inf)" help:"initial biases"`
		Shared *bool    `set:"shared" default:"false" published:"true"`
		Steps  int      `set:"steps" auto:"by size" published:"7" range:"[1,100]"`
		Rate   float64  `set:"rate" default:"0.1" range:"(0,1]"`
	}
	plain, err := settings.Resolve("m", outer{})
	require.NoError(t, err)
	require.Equal(t, outer{Preset: "default", inner: inner{base{Kernel: "matern52"}, []int{50, 50}}, Bias: new(0.25), Shared: new(false), Rate: 0.1}, plain)

	published, err := settings.Resolve("m", outer{Preset: settings.Published})
	require.NoError(t, err)
	require.Equal(t, outer{Preset: "published", inner: inner{base{Kernel: "linear", Noise: new(0.5)}, []int{30, 30}}, Bias: new(0.), Shared: new(true), Steps: 7, Rate: 0.1}, published)

	for _, order := range [][]string{{"preset", "bias", "shared", "hidden"}, {"hidden", "shared", "bias", "preset"}} {
		var o outer
		for _, key := range order {
			text := map[string]string{"preset": "published", "bias": "0.25", "shared": "false", "hidden": "50,50"}[key]
			require.NoError(t, settings.Set(&o, key, text))
		}
		got, err := settings.Resolve("m", o)
		require.NoError(t, err)
		require.Equal(t, []any{0.25, false, []int{50, 50}, 7}, []any{*got.Bias, *got.Shared, got.Width, got.Steps})
	}
	_, err = settings.Resolve("m", outer{Preset: "publishd"})
	require.EqualError(t, err, `m: preset is "publishd", want default or published`)

	o := outer{Preset: settings.Published, inner: inner{base: base{Noise: new(2.)}}}
	require.EqualError(t, settings.Set(&o, "noise", "learned"), "noise=learned has no effect with preset=published: set a number, or leave out noise for the published value 0.5")
	require.Equal(t, 2., *o.Noise)
	require.NoError(t, settings.Set(&o, "scale", "learned"), "the preset has no value")
	require.NoError(t, settings.Set(&outer{}, "noise", "learned"))

	help := map[string]string{}
	for _, s := range settings.List(&outer{}) {
		help[s.Key] = s.Help
	}
	require.Equal(t, "covariance function (published: linear)", help["kernel"])
	require.Equal(t, "initial biases (published: 0)", help["bias"])
	require.Equal(t, "variance of the noise (published: 0.5)", help["noise"])
	require.Empty(t, help["rate"])
}

// Malformed declarations panic.
func TestDeclarations(t *testing.T) {
	require.Panics(t, func() { settings.List(options{}) })
	for _, o := range []any{
		&struct {
			C complex128 `set:"c" default:"0"`
		}{},
		&struct {
			N int `set:"n" default:"1"`
		}{},
		&struct {
			N int `set:"n" range:"[1,2]"`
		}{},
		&struct {
			N int `set:"n" default:"1" auto:"by size" range:"[1,2]"`
		}{},
		&struct {
			N int `set:"n" default:"1" range:"[0,2]"` // 0 cannot be set
		}{},
		&struct {
			N float64 `set:"n" default:"1" range:"2,1"`
		}{},
		&struct {
			N int `set:"n" default:"0" published:"1" range:"[0,2]"` // 0 cannot be set
		}{},
		&struct {
			B bool `set:"b" default:"false" published:"true"`
		}{},
		&struct {
			S string `set:"s" default:"a" range:"[1,2]"`
		}{},
	} {
		require.Panics(t, func() { settings.List(o) }, "%T", o)
	}
	require.Panics(t, func() {
		_, _ = settings.Resolve("m", struct {
			N int `set:"n" default:"3" range:"[1,2]"`
		}{})
	}, "a default out of range")
}

func Example() {
	var o struct {
		Beta float64 `set:"beta" default:"2" range:"(0,100]" help:"weight of the standard deviation"`
	}
	fmt.Println(settings.Set(&o, "beta", "3"), o.Beta)
	fmt.Println(settings.Set(&o, "betta", "3"))
	fmt.Println(settings.Set(&o, "beta", "-3"))
	for _, s := range settings.List(&o) {
		fmt.Printf("%s (%s, %s, default %s): %s\n", s.Key, s.Type, s.Range, s.Default, s.Help)
	}
	// Output:
	// <nil> 3
	// unknown setting "betta": did you mean beta?
	// beta is -3, want more than 0 and at most 100
	// beta (number, more than 0 and at most 100, default 2): weight of the standard deviation
}

// The number of weights between layers is bounded.
func TestWeights(t *testing.T) {
	var o struct {
		Widths []int `set:"widths" default:"5" range:"[1,100]" weights:"1000"`
	}
	require.NoError(t, settings.Set(&o, "widths", "100"))
	require.NoError(t, settings.Set(&o, "widths", "5,100,5"))
	require.EqualError(t, settings.Set(&o, "widths", "100,10,1"), "widths is 100,10,1: 1010 weights between hidden layers, want at most 1000")
	o.Widths = []int{100, 100}
	require.Error(t, settings.Check(o))
}
