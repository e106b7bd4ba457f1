package catalog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/settings"
)

func TestMethod(t *testing.T) {
	m, err := catalog.NewMethod("gp")
	require.NoError(t, err)
	require.ErrorIs(t, m.Set("acquisition.beta=1"), settings.ErrUnknown, "nothing chooses points")
	require.ErrorIs(t, m.Choose("lbc"), catalog.ErrUnknown)
	require.NoError(t, m.Choose("lcb"))
	for _, pair := range []string{"kernel = rbf", "acquisition.beta=2", "maximizer.raw=8"} {
		require.NoError(t, m.Set(pair))
	}
	require.NoError(t, m.Check(t.Context(), 2))
	require.ErrorIs(t, m.Set("kernel"), catalog.ErrSetting)
	require.ErrorIs(t, m.Set("kernel= "), catalog.ErrSetting)
	require.EqualError(t, m.Set("beta=1"), `surrogate gp: unknown setting "beta": did you mean acquisition.beta?`)

	require.NoError(t, m.Set("acquisition.beta=-1"))
	require.ErrorContains(t, m.Check(t.Context(), 2), "acquisition lcb: ")
	require.NoError(t, m.Set("lengthscale=1,2,3"))
	require.ErrorContains(t, m.Check(t.Context(), 2), "surrogate gp: ")
}

func ExampleMethod_Set() {
	m, _ := catalog.NewMethod("gp")
	fmt.Println(m.Set("kernel=rbf*periodic"))
	fmt.Println(m.Set("kernell=rbf"))
	// Output:
	// <nil>
	// surrogate gp: unknown setting "kernell": did you mean kernel?
}
