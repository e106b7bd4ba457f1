package runner_test

import (
	"context"
	"fmt"

	"github.com/functionspace/bo/benchmarks/runner"
)

func Example() {
	suite, err := runner.Lookup("smoke")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := suite.Plan(runner.Selection{Problems: []string{"branin"}, Methods: []string{"gp", "sobol"}, Seeds: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	least := map[string]float64{}
	err = runner.Execute(context.Background(), plan, 1, func(r runner.Record) error {
		least[r.Method] = r.Regret[r.Budget-1]
		return nil
	})
	fmt.Println(err, len(least), least["gp"] < least["sobol"])
	// Output: <nil> 2 true
}
