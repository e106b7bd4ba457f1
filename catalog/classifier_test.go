package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
)

// Classifiers lists the surrogates whose methods have a Classifier.
func TestClassifiers(t *testing.T) {
	classifiers := catalog.Classifiers()
	for _, e := range catalog.Surrogates() {
		m, err := catalog.NewMethod(e.Name)
		require.NoError(t, err)
		c, err := m.Classifier()
		if slices.Contains(classifiers, e) {
			require.NoError(t, err, e.Name)
			require.NotNil(t, c)
		} else {
			require.ErrorIs(t, err, catalog.ErrNoClassifier, e.Name)
		}
	}
}

func ExampleMethod_Classifier() {
	for _, name := range []string{"gp", "ensemble"} {
		m, _ := catalog.NewMethod(name)
		_, err := m.Classifier()
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// surrogate ensemble cannot classify: choose one of gp, fsp-laplace, gfsvi, laplace
}
