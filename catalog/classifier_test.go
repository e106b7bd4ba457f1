package catalog_test

import (
	"fmt"

	"github.com/functionspace/bo/catalog"
)

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
