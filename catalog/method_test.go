package catalog_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
)

func TestMethod(t *testing.T) {
	m, err := catalog.NewMethod("gp")
	require.NoError(t, err)
	require.ErrorIs(t, m.Set("acquisition.beta=1"), catalog.ErrUnknown, "nothing chooses points")
	require.ErrorIs(t, m.Choose("lbc"), catalog.ErrUnknown)
	require.NoError(t, m.Choose("lcb"))
	for _, pair := range []string{"kernel = rbf", "acquisition.beta=2", "maximizer.raw=8"} {
		require.NoError(t, m.Set(pair))
	}
	require.NoError(t, m.Check(2))
	require.ErrorIs(t, m.Set("kernel"), catalog.ErrSetting)
	require.ErrorIs(t, m.Set("kernel= "), catalog.ErrSetting)
	require.EqualError(t, m.Set("beta=1"), `surrogate gp: unknown setting "beta": did you mean acquisition.beta?`)

	require.EqualError(t, m.Set("acquisition.beta=-1"), "acquisition lcb: beta is -1, want more than 0")
	require.ErrorIs(t, m.Set("maximizer.raw=1000000"), catalog.ErrSetting)
	m.Maximizer.Raw = -1
	require.EqualError(t, m.Check(2), "maximizer: raw is -1, want 1 to 100000")
	m.Maximizer.Raw = 0
	require.NoError(t, m.Set("lengthscale=1,2,3"))
	require.ErrorContains(t, m.Check(2), "surrogate gp: ")
}

// A method survives a round trip through JSON.
func TestMethodJSON(t *testing.T) {
	m, err := catalog.NewMethod("gfsvi")
	require.NoError(t, err)
	require.NoError(t, m.Choose("qlogei"))
	for _, pair := range []string{"hidden=20,10", "kernel=rbf", "noise=0.01", "bias=0", "prior-noise=true", "acquisition.samples=64", "maximizer.raw=8"} {
		require.NoError(t, m.Set(pair))
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	require.JSONEq(t, `{"surrogate": {"name": "gfsvi", "hidden": [20, 10], "kernel": "rbf", "noise": 0.01, "bias": 0, "prior-noise": true},
		"acquisition": {"name": "qlogei", "samples": 64}, "maximizer": {"raw": 8}}`, string(text))
	var again catalog.Method
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, *m, again)

	for text, want := range map[string]string{
		`{"surrogate": {"name": "gpp"}}`:                                `unknown surrogate "gpp": did you mean gp?`,
		`{"surrogate": {"kernel": "rbf"}}`:                              "invalid setting: surrogate: name is missing or no text",
		`{"surrogate": {"name": "gp", "kernell": "rbf"}}`:               `surrogate gp: unknown setting "kernell": did you mean kernel?`,
		`{"surrogate": {"name": "gp", "noise": -1}}`:                    "surrogate gp: noise is -1, want 0 or more",
		`{"surrogate": {"name": "gp", "lengthscale": 2}}`:               "surrogate gp: lengthscale is 2, want a list of numbers",
		`{"surrogate": {"name": "gp"}, "acquisition": {"name": "lbc"}}`: `unknown acquisition "lbc": did you mean lcb?`,
		`{"surrogate": {"name": "gp"}, "maximizer": {"raw": 8}}`:        "invalid setting: maximizer without an acquisition",
		`{"surrogate": {"name": "gp"}, "aquisition": {"name": "lcb"}}`:  `invalid setting: method: json: unknown field "aquisition"`,
		`{"surrogate": {"name": "gp"}, "acquisition": {"name": 3}}`:     "invalid setting: acquisition: name is missing or no text",
	} {
		var m catalog.Method
		require.EqualError(t, m.UnmarshalJSON([]byte(text)), want)
	}
}

func ExampleMethod_MarshalJSON() {
	m, _ := catalog.NewMethod("gp")
	_ = m.Choose("lcb")
	_ = m.Set("acquisition.beta=9")
	text, err := json.Marshal(m)
	fmt.Println(string(text), err)
	// Output: {"surrogate":{"name":"gp"},"acquisition":{"beta":9,"name":"lcb"}} <nil>
}

func ExampleMethod_Settings() {
	m, _ := catalog.NewMethod("svgp")
	for _, s := range m.Settings() {
		if s.Key == "inducing" || s.Key == "selection" || s.Key == "steps" {
			fmt.Printf("%s: %s %s %v (default %s)\n", s.Key, s.Type, s.Range, s.Values, s.Default)
		}
	}
	// Output:
	// inducing: whole number 1 to 20000 [] (default 300)
	// selection: text  [kmeans pivoted] (default kmeans)
	// steps: whole number 1 to 100000000 [] (default 100 or 1000)
}

func ExampleMethod_Set() {
	m, _ := catalog.NewMethod("gp")
	fmt.Println(m.Set("kernel=rbf*periodic"))
	fmt.Println(m.Set("kernell=rbf"))
	// Output:
	// <nil>
	// surrogate gp: unknown setting "kernell": did you mean kernel?
}
