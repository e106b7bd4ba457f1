package report_test

import (
	"fmt"

	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

func Example() {
	var records []runner.Record
	minimum := 0.0
	for seed := range uint64(3) {
		for method, regret := range map[string]runner.Numbers{"gp": {9, 1, 0.1, 0.01}, "sobol": {9, 4, 2, 2}} {
			records = append(records, runner.Record{
				Problem: "f", Method: method, Seed: seed, Budget: 4, Initial: 1,
				Minimum: &minimum, Values: regret, Regret: regret, Suggest: make(runner.Numbers, 4),
			})
		}
	}
	r, err := report.New(records, "sobol")
	if err != nil {
		fmt.Println(err)
		return
	}
	gp := r.Problems[0].Methods[0]
	fmt.Printf("%s: median regret %v, beats sobol in %d of %d seeds, p = %v\n", gp.Name, gp.At[3].Median, gp.Against.Wins, gp.Against.N(), gp.Against.P)
	// Output: gp: median regret 0.01, beats sobol in 3 of 3 seeds, p = 0.25
}
