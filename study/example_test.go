package study_test

import (
	"fmt"

	"github.com/functionspace/bo/study"
)

func ExampleParse() {
	d, err := study.Parse([]byte(`{
		"name": "resnet-lr",
		"parameters": [{"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true}],
		"objectives": [{"name": "loss"}],
		"budget": 60,
		"surrogate": {"name": "gp", "kernel": "matern32"}
	}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Name, d.Budget, d.Objective().Goal)

	_, err = study.Parse([]byte(`{"parameters": [{"name": "lr", "type": "float", "min": 1, "max": 0}], "budged": 3}`))
	fmt.Println(err)
	// Output:
	// resnet-lr 60 minimize
	// invalid study: unknown key "budged": did you mean budget?; parameter "lr": min 1 is above max 0
}
