package runner

import (
	"fmt"

	"github.com/functionspace/bo/benchmarks"
)

// peersCore compares with other programs, which perform the same runs through Task
// and Evaluator. Ten initial points are the default of most of them. The noise on
// Hartmann-6 equals the noise of BoTorch's tutorial "Closed-loop batch,
// constrained BO".
func peersCore() Suite {
	s := Suite{
		Name:    "peers/core",
		Summary: "100 evaluations, the first 10 a design, to compare with other programs",
		Methods: []string{"gp", "fsp-laplace", "sobol"},
		Seeds:   10,
	}
	for _, name := range []string{
		"branin", "hartmann6", "ackley4", "ackley10", "levy4", "levy10", "rosenbrock4",
		"styblinski-tang4", "styblinski-tang10", "brusselator", "polynomial",
	} {
		p := Problem{Objective: name, Budget: 100, Initial: 10}
		if name == "brusselator" {
			p.Objective, p.Make = "", benchmarks.Brusselator
		}
		s.Problems = append(s.Problems, p)
	}
	s.Problems = append(s.Problems, Problem{Objective: "hartmann6", Noise: 0.25, Budget: 100, Initial: 10})
	return s
}

// peersTime measures three suggestions after designs of several sizes.
func peersTime() Suite {
	s := Suite{
		Name:    "peers/time",
		Summary: "seconds of a suggestion after 10, 50, 100 and 200 observations; run it with one worker",
		Methods: []string{"gp", "fsp-laplace"},
		Seeds:   5,
	}
	for _, n := range []int{10, 50, 100, 200} {
		s.Problems = append(s.Problems, Problem{
			Make: func(uint64) benchmarks.Objective {
				o := benchmarks.Hartmann6()
				o.Name = fmt.Sprintf("hartmann6-after-%d", n)
				return o
			},
			Budget: n + 3, Initial: n,
		})
	}
	return s
}
