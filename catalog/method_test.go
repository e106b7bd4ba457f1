package catalog_test

import (
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
	require.True(t, m.Has("kernel") && m.Has("acquisition.beta") && m.Has("maximizer.raw"))
	require.False(t, m.Has("beta") || m.Has("acquisition.samples") || m.Has(""))
	require.ErrorIs(t, m.Set("kernel"), catalog.ErrSetting)
	require.ErrorIs(t, m.Set("kernel= "), catalog.ErrSetting)
	require.EqualError(t, m.Set("beta=1"), `surrogate gp: unknown setting "beta": did you mean acquisition.beta?`)
	many, err := catalog.NewMethod("fvi")
	require.NoError(t, err)
	require.ErrorContains(t, many.Set("zzzz=1"), `surrogate fvi: unknown setting "zzzz"; want one of `, "all of more than 20 settings")

	require.EqualError(t, m.Set("acquisition.beta=-1"), "acquisition lcb: beta is -1, want more than 0")
	require.ErrorIs(t, m.Set("maximizer.raw=1000000"), catalog.ErrSetting)
	m.Maximizer.Raw = -1
	require.EqualError(t, m.Check(2), "maximizer: raw is -1, want 1 to 100000")
	m.Maximizer.Raw = 0
	require.NoError(t, m.Set("lengthscale=1,2,3"))
	require.ErrorContains(t, m.Check(2), "surrogate gp: ")
}

func ExampleMethod_Settings() {
	m, _ := catalog.NewMethod("svgp")
	for _, s := range m.Settings() {
		if s.Key == "inducing" || s.Key == "selection" || s.Key == "steps" {
			fmt.Printf("%s: %s %s %v (default %s)\n", s.Key, s.Type, s.Range, s.Values, s.Default)
		}
	}
	// Output:
	// inducing: whole number 1 to 20000 [] (default 300 to 1000)
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

// Learned values of options that the preset fixes are errors, in any order.
func TestLearnedBesideThePreset(t *testing.T) {
	for name, pair := range map[string]string{"laplace": "precision=learned", "mfvi": "precision=learned", "tfsvi": "noise=learned"} {
		for _, pairs := range [][]string{{"preset=published", pair}, {pair, "preset=published"}} {
			m, err := catalog.NewMethod(name)
			require.NoError(t, err)
			require.NoError(t, m.Set(pairs[0]))
			err = m.Set(pairs[1])
			require.ErrorIs(t, err, catalog.ErrSetting)
			require.ErrorContains(t, err, "surrogate "+name+": "+pair+" has no effect with preset=published: set a number")
		}
	}
	m, err := catalog.NewMethod("laplace")
	require.NoError(t, err)
	for _, pair := range []string{"precision=learned", "noise=learned", "precision=2", "preset=published"} {
		require.NoError(t, m.Set(pair))
	}
}
