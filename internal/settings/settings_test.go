package settings_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/settings"
)

type base struct {
	Kernel string   `set:"kernel" help:"covariance" default:"matern52"`
	Noise  *float64 `set:"noise" help:"variance of the noise" default:"learned"`
	Custom any
}

type options struct {
	Noise *float64 `set:"noise" help:"the outer one" default:"learned"`
	base
	Scale []float64 `set:"lengthscale" default:"learned"`
	Width []int     `set:"hidden" default:"50,50"`
	Steps int       `set:"steps" default:"1000"`
	Seed  uint64    `set:"seed"`
	Tol   float64   `set:"tol"`
	Exact bool      `set:"exact"`
	Names []string  `set:"names"`
	By    method    `set:"method" values:"adam,newton" default:"adam"`
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
		{"steps", "-3", ""},
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
		{"Custom", "1", `unknown setting "Custom": did you mean tol?`},
		{"noise", "loud", `bad value noise="loud": want a number, or learned`},
		{"noise", "NaN", `bad value noise="NaN": want a number, or learned`},
		{"tol", "Inf", `bad value tol="Inf": want a number`},
		{"lengthscale", "1,,2", `bad value lengthscale="1,,2": want numbers separated by commas`},
		{"lengthscale", "", `bad value lengthscale="": want numbers separated by commas`},
		{"hidden", "50,x", `bad value hidden="50,x": want whole numbers separated by commas`},
		{"steps", "1.5", `bad value steps="1.5": want a whole number`},
		{"exact", "maybe", `bad value exact="maybe": want true or false`},
		{"method", "newtn", `bad value method="newtn": want one of adam, newton; did you mean newton?`},
	} {
		o := options{Scale: []float64{7}}
		err := settings.Set(&o, c.key, c.text)
		require.EqualError(t, err, c.want)
		require.Equal(t, options{Scale: []float64{7}}, o, "a failed Set leaves the options as they were")
	}
	require.ErrorIs(t, settings.Set(&options{}, "nope", "1"), settings.ErrUnknown)
	require.ErrorIs(t, settings.Set(&options{}, "steps", "x"), settings.ErrValue)
	require.EqualError(t, settings.Set(&options{}, "steps", "0"), `bad value steps="0": 0 would stand for the default, 1000`)
	require.EqualError(t, settings.Set(&struct{}{}, "beta", "1"), `unknown setting "beta": there is nothing to set`)
}

func TestList(t *testing.T) {
	list := settings.List(&options{})
	require.Equal(t, []string{"noise", "kernel", "lengthscale", "hidden", "steps", "seed", "tol", "exact", "names", "method"}, keys(list))
	require.Equal(t, settings.Setting{Key: "noise", Type: "number", Default: "learned", Help: "the outer one"}, list[0])
	require.Equal(t, "adam | newton", list[9].Type)
	require.Panics(t, func() {
		settings.List(&struct {
			C complex128 `set:"c"`
		}{})
	})
	require.Panics(t, func() { settings.List(options{}) })
}

func keys(list []settings.Setting) []string {
	var keys []string
	for _, s := range list {
		keys = append(keys, s.Key)
	}
	return keys
}

func Example() {
	var o struct {
		Beta float64 `set:"beta" help:"weight of the standard deviation" default:"2"`
	}
	fmt.Println(settings.Set(&o, "beta", "3"), o.Beta)
	fmt.Println(settings.Set(&o, "betta", "3"))
	for _, s := range settings.List(&o) {
		fmt.Printf("%s (%s, default %s): %s\n", s.Key, s.Type, s.Default, s.Help)
	}
	// Output:
	// <nil> 3
	// unknown setting "betta": did you mean beta?
	// beta (number, default 2): weight of the standard deviation
}
