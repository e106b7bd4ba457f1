package runner

import "github.com/functionspace/bo/benchmarks"

// outcomesSuite compares methods on problems of several objectives. The regret is the largest
// hypervolume minus the hypervolume so far. The noise on Branin-Currin is 5 % of the ranges of
// the objectives, as in the tutorial of BoTorch.
func outcomesSuite() Suite {
	problem := func(o benchmarks.Objective, budget int) Problem {
		return Problem{Make: func(uint64) benchmarks.Objective { return o }, Budget: budget}
	}
	return Suite{
		Name:    "outcomes",
		Summary: "two and three objectives, with constraints and noise: regret of the hypervolume",
		Problems: []Problem{
			problem(benchmarks.BraninCurrin(), 40),
			{
				Make: func(seed uint64) benchmarks.Objective {
					return benchmarks.NoisyOutcomes(benchmarks.BraninCurrin(), []float64{15.19, 0.63}, seed)
				},
				Budget: 60,
			},
			problem(benchmarks.ZDT1(6), 40),
			problem(benchmarks.DTLZ2(6, 2), 40),
			problem(benchmarks.DTLZ2(6, 3), 40),
			problem(benchmarks.ConstrainedBraninCurrin(), 40),
			problem(benchmarks.C2DTLZ2(6), 60),
		},
		Methods: []string{"gp", "gp:acquisition=logei", "sobol"},
		Seeds:   10,
	}
}
